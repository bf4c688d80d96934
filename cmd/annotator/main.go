// Command annotator reads a long story scene by scene, has a model maintain a glossary of it, and exports the codex.
//
// Each command has a file with its flags and the function that runs it. The other files are shared:
//   - root.go: helpers of commands
//   - flags.go: types of flags
//   - config.go, settings.go: the settings of a run
//   - database.go: access to databases
//   - output.go, table.go, text.go: output
//   - exit.go: exit statuses
package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"os"
	"runtime/debug"
	"time"

	"annotator"

	"github.com/spf13/cobra"
)

// memoryLimit is the soft memory limit of Go's runtime, in bytes. The process needs a little more.
const memoryLimit = 208 << 20

func main() {
	if os.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(memoryLimit)
	}
	os.Exit(newApp().run(context.Background(), os.Args[1:]))
}

// newApp returns the app of this process. It silences the standard logger, to which net/http logs unsolicited
// responses.
func newApp() *app {
	abortOnFatalErrors()
	log.SetOutput(io.Discard)
	return &app{
		in: os.Stdin, out: os.Stdout, err: os.Stderr, lookup: os.LookupEnv, configDir: os.UserConfigDir,
		cacheDir: os.UserCacheDir,
		servers:  findLocalServers,
		now:      time.Now, exit: os.Exit,
	}
}

// app is the process that the commands run in.
type app struct {
	in        io.Reader
	out       io.Writer // answers
	err       io.Writer // progress and errors
	lookup    func(name string) (value string, set bool)
	configDir func() (string, error)              // of the user
	cacheDir  func() (string, error)              // of the user
	servers   func(context.Context) []localServer // on this machine
	now       func() time.Time
	transport http.RoundTripper // to servers; nil: the network
	exit      func(status int)  // ends the process immediately
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
