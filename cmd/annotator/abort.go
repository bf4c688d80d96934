package main

import (
	"os"
	"runtime/debug"
)

// abortOnFatalErrors has the process end by SIGABRT where it cannot go on: no memory is left, Go's runtime finds a fault, a
// goroutine panics, or SIGQUIT or SIGABRT asks for a dump of all stacks. By default Go exits with 2 then, which is the status
// of wrong use. A program cannot catch these errors itself. There is no file with the memory, since keys would be in it. The
// variable GOTRACEBACK takes precedence.
func abortOnFatalErrors() {
	if os.Getenv("GOTRACEBACK") != "" {
		return
	}
	debug.SetTraceback("crash")
	leaveNoCore()
}
