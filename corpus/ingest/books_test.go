package ingest_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"annotator"
	"annotator/corpus"
	"annotator/corpus/ingest"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// storyOf returns the posts of a corpus in its order, each as "thread title: id body".
func storyOf(t *rapid.T, path string) (lines []string, series corpus.Series) {
	db, err := corpus.Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	threads, err := db.Threads(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, thread := range threads {
		posts, err := db.Range(t.Context(), thread.ID, 0, 0, annotator.TagStory, 0)
		if err != nil {
			t.Fatal(err)
		}
		for i := range posts {
			lines = append(lines, fmt.Sprintf("%d %s: %d %v %s", thread.ID, thread.Title, posts[i].ID, posts[i].Former,
				posts[i].Body))
		}
	}
	if series, err = db.Series(t.Context()); err != nil {
		t.Fatal(err)
	}
	return lines, series
}

// TestSeriesKeepsTheBooksBefore: a series of books, the newest of which changes, has the posts of those before as they
// were, with their ids, before its own. The corpus of a book before is not written.
func TestSeriesKeepsTheBooksBefore(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		folder, err := os.MkdirTemp("", "series")
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = os.RemoveAll(folder) }()
		before := []string{}
		var after string
		last := rapid.IntRange(2, 3).Draw(t, "books")
		for book := 1; book <= last; book++ {
			path := filepath.Join(folder, fmt.Sprintf("%d.txt", book))
			o := ingest.Options{Sources: []string{path}, Corpus: path + ".corpus.db", After: after}
			chapters := []string{}
			for range rapid.IntRange(1, 3).Draw(t, "chapters") {
				chapters = append(chapters, drawChapter(t))
			}
			for range rapid.IntRange(1, 2).Draw(t, "imports") {
				text := ""
				for i, chapter := range chapters {
					text += fmt.Sprintf("CHAPTER %d\n\n%s\n\n", i+1, chapter)
				}
				if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
				if _, err := ingest.Import(t.Context(), o, nil); err != nil {
					t.Fatal(err)
				}
				lines, series := storyOf(t, o.Corpus)
				kept := len(before)
				if diff := cmp.Diff(before, lines[:kept]); diff != "" {
					t.Fatalf("book %d changes those before (-before +after):\n%s", book, diff)
				}
				begins := fmt.Sprintf(" Book %d, CHAPTER", book)
				if book > 1 && (series.Book != book || !strings.Contains(lines[kept], begins)) {
					t.Fatalf("book %d begins with %q in %+v", book, lines[kept], series)
				}
				chapters = append(chapters, drawChapter(t)) // of the next import
			}
			if before, _ = storyOf(t, o.Corpus); book == 1 {
				for i := range before {
					before[i] = strings.Replace(before[i], " CHAPTER", " Book 1, CHAPTER", 1)
				}
			}
			after = o.Corpus
		}
	})
}

func drawChapter(t *rapid.T) string {
	return fmt.Sprintf("It was told in the %dth year that %d lanterns were lit on the quay.",
		rapid.IntRange(1, 30).Draw(t, "year"), rapid.IntRange(1, 1000).Draw(t, "lanterns"))
}
