package ingest_test

import (
	"path/filepath"
	"strings"
	"testing"

	"annotator/corpus/ingest"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"
)

// TestRulesOfTestdataHold reads the texts of testdata/rules. Each shows a rule: what the source's chapters are, with
// the first words of each paragraph, and what is left out. The comment of a file says the rule; its first word that
// ends in a colon may name a part to keep.
func TestRulesOfTestdataHold(t *testing.T) {
	t.Parallel()
	paths, err := filepath.Glob("testdata/rules/*.txtar")
	if err != nil || len(paths) == 0 {
		t.Fatal("no rules", err)
	}
	for _, path := range paths {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".txtar"), func(t *testing.T) {
			t.Parallel()
			archive, err := txtar.ParseFile(path)
			if err != nil || len(archive.Files) != 2 {
				t.Fatalf("%d files, %v", len(archive.Files), err)
			}
			source, want := archive.Files[0], string(archive.Files[1].Data)
			format := map[string]string{
				".txt": "text", ".md": "markdown", ".html": "html", ".fb2": "fb2",
				".aozora": "aozora", ".xml": "tei",
			}[filepath.Ext(source.Name)]
			var keep []string
			if part, ok := strings.CutPrefix(string(archive.Comment), "keep "); ok {
				keep = strings.Fields(part)[:1]
			}
			chapters, account, err := ingest.Read(format, string(source.Data), keep...)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, summary(chapters, account)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// summary renders chapters with the first words of their paragraphs, and the parts that were left out.
func summary(chapters []ingest.Chapter, account ingest.Account) string {
	var b strings.Builder
	for _, c := range chapters {
		b.WriteString("= " + c.Title + "\n")
		for _, p := range c.Paragraphs {
			words := strings.Fields(p)
			b.WriteString(strings.Join(words[:min(len(words), 5)], " ") + "\n")
		}
	}
	for _, p := range account.Parts {
		b.WriteString("- " + p.Name + ": " + p.Begins + "\n")
	}
	return b.String()
}
