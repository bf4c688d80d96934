package ingest_test

import (
	"strings"
	"testing"

	"annotator"
	"annotator/corpus/ingest"
)

// Millions of empty lines are refused or passed over in linear time.
func TestEmptyLinesTakeLinearTime(t *testing.T) {
	t.Parallel()
	blank := strings.Repeat("\n", 10_000_000)
	for name, text := range map[string]string{
		"a.md": "# A\n\n" + blank, "a.json": `{"posts":[` + blank + `]}`,
		"a.txt": blank, "a.jsonl": blank,
	} {
		_, err := tryImport(t, ingest.Options{Sources: files(t, map[string]string{name: text})})
		wantRefused(t, err, annotator.Misused, "")
	}
}
