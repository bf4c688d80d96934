package main

import (
	"flag"
	"os"
	"path/filepath"
	"testing"

	"annotator/policy"
	"annotator/tools"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "regenerate the documents")

// TestDocuments compares the generated documents with the code.
func TestDocuments(t *testing.T) {
	t.Parallel()
	registry, err := tools.New(tools.WithPolicy(policy.Default(), tools.All())...)
	if err != nil {
		t.Fatal(err)
	}
	states := func(format string) string {
		a, out := newTestApp(nil)
		if status := a.run(t.Context(), []string{"states", "--format", format}); status != exitDone {
			t.Fatal(out)
		}
		return out.String()
	}
	for name, want := range map[string]string{
		"states.md": "# The state machine\n\nGenerated from `machine.go`; `annotator states --format mermaid` prints " +
			"the diagram. The handler of a state returns\nan event, and only this table determines the next state. A " +
			"pair of state and event that is not listed is illegal.\n\n```mermaid\n" + states("mermaid") +
			"```\n\n## State, event, next state\n\n```\n" + states("text") + "```\n",
		"metrics.md": metricsReference(),
		"tools.md":   tools.Markdown(registry),
		"cli.md":     commandReference(),
	} {
		path := filepath.Join("..", "..", "docs", name)
		if *update {
			if err := os.WriteFile(path, []byte(want), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		got, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, string(got)); diff != "" {
			t.Errorf("docs/%s differs from the code; regenerate it with `go test ./cmd/annotator -run Documents "+
				"-update` (-want +got):\n%s", name, diff)
		}
	}
}
