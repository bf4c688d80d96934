package exporters_test

import (
	"os"
	"strings"
	"testing"

	"annotator/exporters"
)

// TestEveryExporterIsDescribed fails where docs/formats.md has no row for a format.
func TestEveryExporterIsDescribed(t *testing.T) {
	t.Parallel()
	document, err := os.ReadFile("../docs/formats.md")
	if err != nil {
		t.Fatal(err)
	}
	rows := ""
	for line := range strings.Lines(string(document)) {
		if strings.HasPrefix(line, "| `") {
			rows += strings.Split(line, " | ")[0]
		}
	}
	for _, format := range exporters.All() {
		if !strings.Contains(rows, "`"+format.Name+"`") {
			t.Errorf("the tables of docs/formats.md have no %s", format.Name)
		}
	}
}
