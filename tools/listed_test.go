package tools_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"annotator/policy"
	"annotator/tools"
)

// TestEveryToolIsListed fails where a tool has a text and is in no list, or is not in docs/tools.md.
func TestEveryToolIsListed(t *testing.T) {
	t.Parallel()
	registry, err := tools.New(tools.WithPolicy(policy.Default(), tools.All())...)
	if err != nil {
		t.Fatal(err)
	}
	texts, err := filepath.Glob("*.md")
	if err != nil {
		t.Fatal(err)
	}
	document, err := os.ReadFile("../docs/tools.md")
	if err != nil {
		t.Fatal(err)
	}
	var listed []string
	for _, d := range registry.Definitions() {
		listed = append(listed, d.Name+".md")
		if !strings.Contains(string(document), d.Name) {
			t.Errorf("docs/tools.md has no %s", d.Name)
		}
	}
	slices.Sort(listed)
	if diff := cmp.Diff(texts, listed); diff != "" {
		t.Errorf("the lists of tools are not what the folder holds (-folder +lists):\n%s", diff)
	}
}
