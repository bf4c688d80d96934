package main

import (
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

// TestHelpFitsTheTerminal: the lines of a command's help fit the terminal, and have the same words as without wrapping.
func TestHelpFitsTheTerminal(t *testing.T) {
	t.Parallel()
	const width = 60
	a, _ := newTestApp(nil)
	wide, narrow := newRoot(a), newRoot(a)
	wrapHelp(narrow, width)
	var compare func(wide, narrow *cobra.Command)
	compare = func(wide, narrow *cobra.Command) {
		if !slices.Equal(strings.Fields(wide.Long), strings.Fields(narrow.Long)) {
			t.Errorf("the help of %s says\n%s\nnot\n%s", wide.CommandPath(), narrow.Long, wide.Long)
		}
		for line := range strings.Lines(narrow.Long) {
			if columns(strings.TrimSuffix(line, "\n")) > width {
				t.Errorf("the help of %s has a line that is too long:\n%s", wide.CommandPath(), line)
			}
		}
		_, flags, _ := strings.Cut(narrow.UsageString(), "\nFlags:\n")
		for line := range strings.Lines(flags) {
			if strings.HasPrefix(line, "  ") && columns(line) > width+1 {
				t.Errorf("the flags of %s have a line that is too long:\n%s", wide.CommandPath(), line)
			}
		}
		for i, command := range wide.Commands() {
			compare(command, narrow.Commands()[i])
		}
	}
	compare(wide, narrow)
}
