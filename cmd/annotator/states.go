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
		Short: "Print the state machine of a run",
		Long:  longHelp("Print the states of the machine that reads a story, and the events that lead from one to the next.", exitMisused),
		Example: `  annotator states
  annotator states --format dot | dot -Tsvg > states.svg`,
		RunE: func(*cobra.Command, []string) error {
			print := map[string]func() string{"mermaid": mermaid, "dot": dot, "text": transitionList}[format]
			_, err := io.WriteString(a.out, print())
			return err
		},
	}
	wordFlag(cmd.Flags(), &format, "format", []string{"mermaid", "dot", "text"}, "text", "`FORMAT`: mermaid, dot or text")
	return cmd
}

func mermaid() string {
	return fmt.Sprintf("stateDiagram-v2\n  [*] --> %s\n%s  %s --> [*]\n", annotator.StateInit, eachTransition(func(t *annotator.Transition) string {
		return fmt.Sprintf("  %s --> %s: %s\n", t.State, t.Next, t.Event)
	}), annotator.StateExit)
}

func dot() string {
	return "digraph annotator {\n  node [shape=box, style=rounded];\n" + eachTransition(func(t *annotator.Transition) string {
		return fmt.Sprintf("  %s -> %s [label=%q];\n", t.State, t.Next, t.Event)
	}) + "}\n"
}

func transitionList() string {
	return eachTransition(func(t *annotator.Transition) string { return fmt.Sprintf("%-12s %-16s %s\n", t.State, t.Event, t.Next) })
}

func eachTransition(line func(*annotator.Transition) string) string {
	var b strings.Builder
	for i := range annotator.Transitions {
		b.WriteString(line(&annotator.Transitions[i]))
	}
	return b.String()
}
