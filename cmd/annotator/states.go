package main

import (
	"context"
	"encoding/json"
	"io"
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
		Long: longHelp("Print the states of the machine that reads a story, and the events that lead from one "+
			"to the next.", exitMisused),
		Example: `  annotator states
  annotator states --format dot | dot -Tsvg > states.svg`,
	}
	wordFlag(cmd.Flags(), &format, "format", []string{"mermaid", "dot", "text"}, "text",
		"`FORMAT`: mermaid, dot or text")
	return a.prints(cmd, func(context.Context, []string) (result, error) { return stateMachine(format), nil })
}

// stateMachine is what `states` prints in a format.
type stateMachine string

func (format stateMachine) MarshalJSON() ([]byte, error) {
	var list []map[string]string
	for _, t := range annotator.Transitions {
		list = append(list, map[string]string{
			"state": string(t.State), "event": string(t.Event),
			"next": string(t.Next),
		})
	}
	return json.Marshal(list)
}

func (format stateMachine) print(w io.Writer) {
	text := template.Must(template.New("").Parse(stateFormats[string(format)]))
	_ = text.Execute(w, annotator.Transitions) // w keeps the error
}
