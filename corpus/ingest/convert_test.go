package ingest_test

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"annotator"
	"annotator/corpus/ingest"
)

// standIn puts a script in place of the converters. Its last argument is $last: where pandoc reads from, and
// ebook-convert writes to. A book of each format is in the folder of the script.
func standIn(t *testing.T, script string) {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("the stand-in is a shell script")
	}
	folder := t.TempDir()
	const first, second = "<h1>Chapter 1</h1><p>It begins.</p>", "<h1>Chapter 2</h1><p>It ends.</p>"
	for name, book := range map[string]string{
		"made.epub": makeEPUB(t, entry{"a.xhtml", first}, entry{"b.xhtml", second}),
		"made.html": "<html><body>" + first + second + "</body></html>",
	} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(book), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	script = "#!/bin/sh\nfor last; do :; done\n" + script
	for _, name := range ingest.Converters() {
		err := os.WriteFile(filepath.Join(folder, name), []byte(script), 0o700) //nolint:gosec // it is run
		if err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("PATH", folder+string(os.PathListSeparator)+os.Getenv("PATH"))
	t.Setenv("MADE_KEY", "secret")
	t.Setenv("TMPDIR", t.TempDir())
}

// wantNoRemains fails if a conversion has left a file.
func wantNoRemains(t *testing.T) {
	t.Helper()
	remains, err := filepath.Glob(filepath.Join(os.Getenv("TMPDIR"), "annotator-convert-*"))
	if err != nil || len(remains) > 0 {
		t.Errorf("left behind: %v, %v", remains, err)
	}
}

// writes is a stand-in that writes the book to where pandoc or ebook-convert is asked to, unless it sees a key.
const writes = `test -z "$MADE_KEY" || exit 9
to=$last
while [ $# -gt 1 ]; do [ "$1" != -o ] || to=$2; shift; done
cp "$(dirname "$0")/made.${to##*.}" "$to"
`

func TestConvert(t *testing.T) {
	standIn(t, writes)
	for _, program := range ingest.Converters() {
		o := ingest.Options{
			Sources: files(t, map[string]string{"-book.org": "* One\n"}), Convert: program,
			Corpus: filepath.Join(t.TempDir(), "made.corpus.db"),
		}
		m := mustImport(t, o)
		wantScenes(t, m, "= Chapter 1", "It begins.", "= Chapter 2", "It ends.")
		if said := m.report.String(); !strings.Contains(said, program+" converted ") {
			t.Errorf("the report does not say who converted: %s", said)
		}
		if again := mustImport(t, o); !again.report.Existing {
			t.Error("a source that is as before was imported again")
		}
		o.Convert = ""
		_, err := tryImport(t, o)
		wantRefused(t, err, annotator.Misused, "Org document")
	}
	wantNoRemains(t)
}

func TestConvertFails(t *testing.T) {
	for script, says := range map[string]string{
		"echo 'Unknown input format' >&2\nexit 21\n": "Unknown input format",
		"exit 0\n": "it has made no book",
		"to=$7\ndd of=\"$to\" bs=1 seek=536870913 </dev/null\n": "too large",
		"to=$7\necho >\"$to\"\n":                                "found no story",
	} {
		standIn(t, script)
		_, err := tryImport(t, ingest.Options{Sources: files(t, map[string]string{"a.org": "x"}), Convert: "pandoc"})
		wantRefused(t, err, annotator.Misused, says)
		wantNoRemains(t)
	}
}

// TestConvertEnds ends a conversion with the import.
func TestConvertEnds(t *testing.T) {
	standIn(t, "sleep 60\n")
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	o := ingest.Options{
		Sources: files(t, map[string]string{"a.org": "x"}), Convert: "pandoc",
		Corpus: filepath.Join(t.TempDir(), "a.corpus.db"),
	}
	start := time.Now()
	if _, err := ingest.Import(ctx, o, nil); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v", err)
	}
	if took := time.Since(start); took > 30*time.Second {
		t.Errorf("it took %s to end", took)
	}
	wantNoRemains(t)
}

func TestConvertRefused(t *testing.T) {
	file := files(t, map[string]string{"a.org": "x"})
	for says, o := range map[string]ingest.Options{
		"only files are converted":   {Sources: []string{filepath.Dir(file[0])}, Convert: "pandoc"},
		`there is no converter "sh"`: {Sources: file, Convert: "sh"},
		"is not in the format rtf":   {Sources: file, Convert: "pandoc", Format: ingest.RTF},
	} {
		_, err := tryImport(t, o)
		wantRefused(t, err, annotator.Misused, says)
	}
	t.Setenv("PATH", t.TempDir())
	_, err := tryImport(t, ingest.Options{Sources: file, Convert: "pandoc"})
	wantRefused(t, err, annotator.Misused, "pandoc is not installed")
}

// TestConvertersInstalled converts with the programs themselves, where they are there.
func TestConvertersInstalled(t *testing.T) {
	t.Parallel()
	for program, source := range map[string]string{"pandoc": "a.org", "ebook-convert": "a.txt"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Logf("%s is not installed", program)
			continue
		}
		m := mustImport(t, ingest.Options{Convert: program, Sources: files(t, map[string]string{
			source: "* Chapter 1\n\nIt begins.\n\n* Chapter 2\n\nIt ends.\n",
		})})
		for _, words := range []string{"It begins.", "It ends."} {
			if got := strings.Join(m.scenes(t), "\n"); !strings.Contains(got, words) {
				t.Errorf("%s gave %s", program, got)
			}
		}
	}
}
