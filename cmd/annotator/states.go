package main

import (
	"text/template"

	"annotator"

	"github.com/spf13/cobra"
)

// stateFormats are templates of the list of transitions.
var stateFormats = map[string]string{
	"text": `{{range .}}{{printf "%-12s %-16s %s" .State .Event .Next}}
{{end}}`,
	"mermaid": `stateDiagram-v2
  [*] --> INIT
{{range .}}  {{.State}} --> {{.Next}}: {{.Event}}
{{end}}  EXIT --> [*]
`,
	"dot": `digraph annotator {
  node [shape=box, style=rounded];
{{range .}}  {{.State}} -> {{.Next}} [label={{printf "%q" .Event}}];
{{end}}}
`,
}

func newStates(a *app) *cobra.Command {
	var format string
	cmd := &cobra.Command{
		Use:   "states",
		Short: "Print the state machine of a run",
		Long:  longHelp("Print the states of the machine that reads a story, and the events that lead from one to the next.", exitMisused),
		Example: `  annotator states
  annotator states --format dot | dot -Tsvg > states.svg`,
		RunE: func(*cobra.Command, []string) error {
			return template.Must(template.New(format).Parse(stateFormats[format])).Execute(a.out, annotator.Transitions)
		},
	}
	wordFlag(cmd.Flags(), &format, "format", []string{"mermaid", "dot", "text"}, "text", "`FORMAT`: mermaid, dot or text")
	return cmd
}
