package ingest_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"annotator/corpus/ingest"
)

// fuzzTargets are the tests that feed each importer with made-up sources.
var fuzzTargets = map[ingest.Format]string{
	ingest.EPUB:  "FuzzEPUB",
	ingest.Text:  "FuzzText",
	ingest.HTML:  "FuzzPage",
	ingest.FB2:   "FuzzFB2",
	ingest.TEI:   "FuzzTEI",
	ingest.DOCX:  "FuzzDOCX",
	ingest.ODT:   "FuzzODT",
	ingest.RTF:   "FuzzRTF",
	ingest.MOBI:  "FuzzKindle",
	ingest.PDF:   "FuzzPDF",
	ingest.JSONL: "FuzzLine",
	ingest.Board: "FuzzBoard",
}

// TestEveryFormatIsListed fails where a format is missing from Formats, has no row in the table of docs/sources.md,
// or its importer has no fuzz target.
func TestEveryFormatIsListed(t *testing.T) {
	t.Parallel()
	source, tests := contents(t)
	for _, match := range regexp.MustCompile(`(?m)^\t\w+ +Format = "(\w+)"`).FindAllStringSubmatch(source, -1) {
		if !slices.Contains(ingest.Formats(), ingest.Format(match[1])) {
			t.Errorf("Formats does not list %s", match[1])
		}
	}
	document, err := os.ReadFile("../../docs/sources.md")
	if err != nil {
		t.Fatal(err)
	}
	table := strings.ToLower(strings.Join(regexp.MustCompile(`(?m)^\|.*$`).FindAllString(string(document), -1), "\n"))
	for _, format := range ingest.Formats() {
		if format == ingest.Auto {
			continue
		}
		if !strings.Contains(table, string(format)) {
			t.Errorf("the table of docs/sources.md has no %s", format)
		}
		if format == ingest.SQLite { // it needs no import
			continue
		}
		if target := fuzzTargets[format]; target == "" || !strings.Contains(tests, "\nfunc "+target+"(") {
			t.Errorf("the importer of %s has no fuzz target", format)
		}
	}
}

// contents returns the Go files of this folder, those of the tests apart.
func contents(t *testing.T) (source, tests string) {
	t.Helper()
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if strings.HasSuffix(file, "_test.go") {
			tests += string(text)
		} else {
			source += string(text)
		}
	}
	return source, tests
}
