// Command annotator reads a long story scene by scene, lets a model keep a glossary of it, and exports the codex.
//
// Each command has a file: its flags, an options struct, and a function that runs it. The commands share the frame of a
// command (root.go), the types of flags (flags.go), the settings of a run (config.go, settings.go), access to databases
// (database.go), output (output.go, table.go, text.go), and the mapping of errors to exit statuses (exit.go).
package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"os"
	"runtime/debug"
	"time"

	"annotator"

	"github.com/spf13/cobra"
)

// memoryLimit is where Go collects garbage more often, in bytes: the process needs a little more.
const memoryLimit = 208 << 20

func main() {
	if os.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(memoryLimit)
	}
	os.Exit(newApp().run(context.Background(), os.Args[1:]))
}

// newApp returns the app of this process, and silences the standard logger: net/http logs what a server sends unasked.
func newApp() *app {
	abortOnFatalErrors()
	log.SetOutput(io.Discard)
	return &app{
		in: os.Stdin, out: os.Stdout, err: os.Stderr, lookup: os.LookupEnv, configDir: os.UserConfigDir, servers: findLocalServers,
		now: time.Now, exit: os.Exit,
	}
}

// app is the process that the commands run in.
type app struct {
	in        io.Reader
	out       io.Writer // answers
	err       io.Writer // progress and errors
	lookup    func(name string) (value string, set bool)
	configDir func() (string, error)              // of the user
	servers   func(context.Context) []localServer // on this machine
	now       func() time.Time
	exit      func(status int) // ends the process at once
}

// run executes a command line and returns its exit status.
func (a *app) run(ctx context.Context, args []string) int {
	out := &output{Writer: a.out}
	a.out = out
	defer func() { a.out = out.Writer }()
	root := newRoot(a)
	root.SetArgs(args)
	root.SetOut(a.out)
	root.SetErr(a.err)
	err := systemFailure(advise(a.execute(ctx, root)))
	if out.err != nil {
		err = annotator.Errorf(annotator.Storage, "write the answer: %w", cmp.Or(errors.Unwrap(out.err), out.err)).
			WithAdvice("check where standard output goes, then run the command again")
	}
	if err != nil {
		a.printError(err)
	}
	return exitStatus(err)
}

// execute turns a panic into an error: Go's exit status for a panic is that of wrong use.
func (a *app) execute(ctx context.Context, root *cobra.Command) (err error) {
	defer func() {
		if fault := recover(); fault != nil {
			err = fmt.Errorf("internal error: %v; set ANNOTATOR_DEBUG=1 for a stack trace", fault)
			if a.getenv("ANNOTATOR_DEBUG") != "" {
				fmt.Fprintf(a.err, "%s\n", debug.Stack())
			}
		}
	}()
	return root.ExecuteContext(ctx)
}

// getenv returns an environment variable, or "".
func (a *app) getenv(name string) string {
	value, _ := a.lookup(name)
	return value
}
