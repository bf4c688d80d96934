// Command annotator reads a long story scene by scene, has a model keep a glossary of it, and exports the codex.
//
// Each command has a file of its own: its flags, an options struct that holds them, and a function that runs it. What all
// share is beside them: configuration (config.go), where databases are looked for (database.go), text for a terminal
// (term.go), and the one switch that gives an error its exit status (exit.go).
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"runtime/debug"
	"time"

	"annotator"

	"github.com/spf13/cobra"
	"golang.org/x/term"
)

func main() {
	a := &app{in: os.Stdin, out: os.Stdout, err: os.Stderr, lookup: os.LookupEnv, now: time.Now, exit: os.Exit}
	os.Exit(a.run(context.Background(), os.Args[1:]))
}

// app is what the commands have of the process they run in.
type app struct {
	in     io.Reader // questions
	out    io.Writer // the answer
	err    io.Writer // progress and errors
	lookup func(name string) (value string, set bool)
	now    func() time.Time
	exit   func(status int) // ends the process at once
}

// run executes a command line and returns its exit status.
func (a *app) run(ctx context.Context, args []string) int {
	root := newRoot(a)
	root.SetArgs(args)
	root.SetOut(a.out)
	root.SetErr(a.err)
	err := heard(a.execute(ctx, root))
	if err != nil {
		a.complain(err)
	}
	return exitStatus(err)
}

// heard names an answer that could not be written for what it is: nothing went wrong but that.
func heard(err error) error {
	if e := (*fs.PathError)(nil); errors.As(err, &e) && e.Path == os.Stdout.Name() {
		return annotator.Errorf(annotator.Storage, "write the answer: %w", e.Err).WithAdvice("see where standard output goes, and ask again")
	}
	return err
}

// execute makes a panic an error like others: Go's own way to end would have the exit status of wrong use.
func (a *app) execute(ctx context.Context, root *cobra.Command) (err error) {
	defer func() {
		if fault := recover(); fault != nil {
			err = fmt.Errorf("internal error: %v; with ANNOTATOR_DEBUG=1 it is told where", fault)
			if a.getenv("ANNOTATOR_DEBUG") != "" {
				fmt.Fprintf(a.err, "%s\n", debug.Stack())
			}
		}
	}()
	return root.ExecuteContext(ctx)
}

// getenv returns a variable of the environment; an empty one is as good as none.
func (a *app) getenv(name string) string {
	value, _ := a.lookup(name)
	return value
}

// isTerminal reports whether what is written there is seen at once, on a screen that understands more than lines.
func (a *app) isTerminal(w io.Writer) bool {
	file, ok := w.(*os.File)
	return ok && a.getenv("TERM") != "dumb" && term.IsTerminal(int(file.Fd()))
}

// terminalWidth is how many characters a line of the terminal has that is written to; 0 where it is none.
func terminalWidth(w io.Writer) int {
	if file, ok := w.(*os.File); ok {
		if width, _, err := term.GetSize(int(file.Fd())); err == nil {
			return width
		}
	}
	return 0
}
