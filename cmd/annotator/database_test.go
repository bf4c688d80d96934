package main

import (
	"os"
	"path/filepath"
	"testing"

	"annotator/storage"
)

// TestCorpusPathOfAnotherSystem finds the corpus of a database that was created on another system, in the folder of the
// database.
func TestCorpusPathOfAnotherSystem(t *testing.T) {
	t.Parallel()
	for recorded, name := range map[string]string{
		`C:\Büche r\the book.corpus.db`: "the book.corpus.db", "d:/books/book.corpus.db": "book.corpus.db",
		`\\server\share\x.corpus.db`: "x.corpus.db", "/no/such/folder/book.corpus.db": "book.corpus.db",
	} {
		folder := t.TempDir()
		want := filepath.Join(folder, name)
		if err := os.WriteFile(want, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		run := &storage.RunStatus{}
		run.Corpus.Path = recorded
		if got := corpusOfRun(run, filepath.Join(folder, "book.annotator.db")); got != want {
			t.Errorf("the corpus that was %s is at %q, want %s", recorded, got, want)
		}
	}
}
