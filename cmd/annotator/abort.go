package main

import (
	"os"
	"runtime/debug"
)

// abortOnFatalErrors makes fatal errors end the process by SIGABRT. They are: out of memory, a fault of Go's runtime, a
// panic of a goroutine, SIGQUIT and SIGABRT. A program cannot catch them. By default Go exits with 2, which is the
// status of wrong use. No core file is written, since it would contain keys. The variable GOTRACEBACK takes precedence.
func abortOnFatalErrors() {
	if os.Getenv("GOTRACEBACK") != "" {
		return
	}
	debug.SetTraceback("crash")
	disableCoreDump()
}
