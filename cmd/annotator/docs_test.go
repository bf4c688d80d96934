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

var update = flag.Bool("update", false, "write the generated documents anew")

// TestDocuments holds the generated documents against the code that they are drawn from.
func TestDocuments(t *testing.T) {
	t.Parallel()
	registry, err := tools.New(tools.WithPolicy(policy.Default(), tools.All())...)
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		"states.md": "# The machine\n\nDrawn from `machine.go` by `annotator states --format mermaid`. What is not in the table is illegal; a handler\n" +
			"returns an event, and only the table names the state that follows.\n\n```mermaid\n" + mermaid() + "```\n\n" +
			"## State, event, next state\n\n```\n" + transitionList() + "```\n",
		"tools.md": tools.Markdown(registry),
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
			t.Errorf("docs/%s is not what the code says; write it anew with `go test ./cmd/annotator -run Documents -update` (-want +got):\n%s", name, diff)
		}
	}
}
