package longstory_test

import (
	"path/filepath"
	"strings"
	"testing"

	"annotator"
	"annotator/corpus"
	"annotator/internal/longstory"
)

// TestStoryNamesEarlierEntries makes sure that the story is what the document says: without names of entries there
// would be nothing to find and to show.
func TestStoryNamesEarlierEntries(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "story.corpus.db")
	const scenes = 2*longstory.Chapter + 3
	if err := longstory.Write(t.Context(), path, scenes); err != nil {
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
		if told := strings.Count(text, "It was "); len(text) < longstory.ScenePosts*longstory.PostBytes ||
			told < longstory.Mentions ||
			s.N > 1 && !strings.Contains(text, "a who said so") {
			t.Fatalf("scene %d has %d bytes and %d mentions", s.N, len(text), told)
		}
		if s.Opens != ((s.N-1)%longstory.Chapter == 0) {
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
		name := longstory.ProperName(n)
		if former, twice := seen[name]; twice || len(name) < 8 || annotator.CountWords(name) != 1 {
			t.Fatalf("%d is called %q, as %d is", n, name, former)
		}
		seen[name] = n
	}
}
