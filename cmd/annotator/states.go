package main

import (
	"fmt"
	"io"
	"strings"

	"annotator"

	"github.com/spf13/cobra"
)

func newStates(a *app) *cobra.Command {
	var format string
	cmd := &cobra.Command{
		Use:   "states",
		Short: "Draw the machine that reads a story",
		Long:  described("Draw the states of the machine that reads a story, and the events that lead from one to the next.", exitMisused),
		Example: `  annotator states
  annotator states --format dot | dot -Tsvg > states.svg`,
		Args: arguments(0, 0),
		RunE: func(*cobra.Command, []string) error { return drawStates(a.out, format) },
	}
	cmd.Flags().StringVar(&format, "format", "text", "the `FORMAT`: mermaid, dot or text")
	return cmd
}

// stateFormats are those in which the machine is drawn.
var stateFormats = [...]string{"mermaid", "dot", "text"}

func drawStates(w io.Writer, format string) error {
	var drawing string
	switch format {
	case "mermaid":
		drawing = mermaid()
	case "dot":
		drawing = dot()
	case "text":
		drawing = transitionList()
	default:
		return annotator.Errorf(annotator.Misused, "draw the states as %q: no such format", format).WithAdvice("choose one of: %s", strings.Join(stateFormats[:], ", "))
	}
	_, err := io.WriteString(w, drawing)
	return err
}

func mermaid() string {
	var b strings.Builder
	fmt.Fprintf(&b, "stateDiagram-v2\n  [*] --> %s\n", annotator.StateInit)
	for _, t := range annotator.Transitions {
		fmt.Fprintf(&b, "  %s --> %s: %s\n", t.State, t.Next, t.Event)
	}
	fmt.Fprintf(&b, "  %s --> [*]\n", annotator.StateExit)
	return b.String()
}

func dot() string {
	var b strings.Builder
	b.WriteString("digraph annotator {\n  node [shape=box, style=rounded];\n")
	for _, t := range annotator.Transitions {
		fmt.Fprintf(&b, "  %s -> %s [label=%q];\n", t.State, t.Next, t.Event)
	}
	b.WriteString("}\n")
	return b.String()
}

func transitionList() string {
	var b strings.Builder
	for _, t := range annotator.Transitions {
		fmt.Fprintf(&b, "%-12s %-16s %s\n", t.State, t.Event, t.Next)
	}
	return b.String()
}
