package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"

	"annotator"
	"annotator/storage"

	"github.com/spf13/cobra"
	"golang.org/x/term"
)

// output is a writer that stores its first error, so that functions that print need not return it.
type output struct {
	io.Writer
	err error
}

// Write writes unless an earlier write failed.
func (o *output) Write(text []byte) (n int, err error) {
	if o.err == nil {
		n, o.err = o.Writer.Write(text)
	}
	return n, o.err
}

// fileOf returns the file behind w; nil if there is none.
func fileOf(w io.Writer) *os.File {
	if o, ok := w.(*output); ok {
		w = o.Writer
	}
	file, _ := w.(*os.File)
	return file
}

// isTerminal reports whether w is a terminal that supports escape sequences.
func (a *app) isTerminal(w io.Writer) bool {
	file := fileOf(w)
	return file != nil && a.getenv("TERM") != "dumb" && term.IsTerminal(int(file.Fd())) && supportsEscapes(file)
}

// terminalWidth returns the number of columns of the terminal behind w; 0 if w is no terminal.
func terminalWidth(w io.Writer) int {
	width, _ := terminalSize(w)
	return width
}

// terminalSize returns the size of the terminal behind w; 0 if w is no terminal.
func terminalSize(w io.Writer) (width, height int) {
	file := fileOf(w)
	if file == nil {
		return 0, 0
	}
	width, height, _ = term.GetSize(int(file.Fd())) // 0 after an error
	return width, height
}

// A result is the answer of a command. With --json its JSON is printed, else text for people.
type result interface{ print(w io.Writer) }

// prints makes a command print the result of find, and declares --json.
func (a *app) prints(cmd *cobra.Command, find func(ctx context.Context, args []string) (result, error)) *cobra.Command {
	var asJSON bool
	jsonFlag(cmd.Flags(), &asJSON)
	return untilSignalled(cmd, func(ctx context.Context, args []string) error {
		found, err := find(ctx, args)
		if err != nil {
			return err
		}
		return a.printResult(found, asJSON)
	})
}

// answers makes a command print the result of find in the database of a run. See onRun.
func (a *app) answers(cmd *cobra.Command, find func(ctx context.Context, db *storage.DB,
	args []string) (result, error),
) *cobra.Command {
	var asJSON bool
	jsonFlag(cmd.Flags(), &asJSON)
	return onRun(cmd, func(ctx context.Context, path string, args []string) error {
		var found result
		err := withDatabase(ctx, path, func(db *storage.DB) (err error) {
			found, err = find(ctx, db, args)
			return err
		})
		if err != nil {
			return err
		}
		return a.printResult(found, asJSON)
	})
}

// message is a result with a text for people, and values for JSON.
type message struct {
	text   string
	values any
}

func (m message) MarshalJSON() ([]byte, error) { return []byte(annotator.EncodeJSON(m.values)), nil }

func (m message) print(w io.Writer) { fmt.Fprintln(w, clean(m.text)) }

func (a *app) printResult(found result, asJSON bool) error {
	if asJSON {
		return a.printJSON(found)
	}
	found.print(a.out)
	return nil
}

// printJSON prints a value as indented JSON.
func (a *app) printJSON(value any) error { return writeJSON(a.out, value, "  ") }

// writeJSON writes a value as JSON and a line feed.
func writeJSON(w io.Writer, value any, indent string) error {
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", indent)
	if err := encoder.Encode(value); err != nil {
		return err
	}
	_, err := io.WriteString(w, escapeJSON(text.String()))
	return err
}
