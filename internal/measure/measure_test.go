package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"annotator"
	"annotator/corpus"

	"pgregory.net/rapid"
)

// TestRecordedRequestIsRestored: a request is put together again from what is new in it and the one before.
func TestRecordedRequestIsRestored(t *testing.T) {
	t.Parallel()
	body := rapid.SliceOf(rapid.SampledFrom([]byte("ab")))
	rapid.Check(t, func(t *rapid.T) {
		var former, last, spare []byte
		for range rapid.IntRange(1, 5).Draw(t, "requests") {
			next := body.Draw(t, "body")
			q := requestBehind(former, next)
			former = next
			last, spare = q.body(last, spare), last
			if !bytes.Equal(last, next) {
				t.Fatalf("%q came back as %q (%+v)", next, last, q)
			}
		}
	})
}

// TestStoryNamesEarlierEntries makes sure that the story is what the document says: without names of entries there
// would be nothing to find and to show.
func TestStoryNamesEarlierEntries(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "story.corpus.db")
	const scenes = 2*threadScenes + 3
	if err := writeStory(t.Context(), path, scenes); err != nil {
		t.Fatal(err)
	}
	db, err := corpus.Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	n := 0
	for s, err := range db.Scenes(t.Context(), 0) {
		if err != nil {
			t.Fatal(err)
		}
		n++
		var text string
		for i := range s.Posts {
			text += s.Posts[i].Body
		}
		if told := strings.Count(text, "It was "); len(text) < scenePosts*postBytes || told < mentions ||
			s.N > 1 && !strings.Contains(text, "a who said so") {
			t.Fatalf("scene %d has %d bytes and %d mentions", s.N, len(text), told)
		}
		if s.Opens != ((s.N-1)%threadScenes == 0) {
			t.Errorf("scene %d opens its thread: %v", s.N, s.Opens)
		}
	}
	if n != scenes {
		t.Errorf("%d scenes", n)
	}
}

// TestProperNamesDiffer, and are longer than the other words, so that the scripted model takes them for its terms.
func TestProperNamesDiffer(t *testing.T) {
	t.Parallel()
	seen := map[string]int{}
	for n := range 200_000 {
		name := properName(n)
		if former, twice := seen[name]; twice || len(name) < 8 || annotator.CountWords(name) != 1 {
			t.Fatalf("%d is called %q, as %d is", n, name, former)
		}
		seen[name] = n
	}
}

func TestDocumentKeepsItsProse(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "figures.md")
	if err := os.WriteFile(path, []byte("Before.\n<!-- a -->\nold\n<!-- end -->\nAfter.\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := writeDocument(path, map[string]string{"a": "new\n"}); err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(path)
	if want := "Before.\n<!-- a -->\n\nnew\n\n<!-- end -->\nAfter.\n"; err != nil || string(got) != want {
		t.Errorf("%q, %v", got, err)
	}
	if err := writeDocument(path, map[string]string{"b": "new\n"}); err == nil {
		t.Error("a table without a place is taken for written")
	}
}
