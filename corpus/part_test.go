package corpus_test

import (
	"slices"
	"testing"

	"annotator/corpus"

	"pgregory.net/rapid"
)

// TestCut demands that parts are contiguous, and none is empty. Each ends where another chapter would take it further
// from its share of the words, unless the parts after it need the chapters.
func TestCut(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		words := rapid.SliceOfN(rapid.IntRange(0, 9000), 1, 40).Draw(t, "words")
		parts := rapid.IntRange(1, len(words)).Draw(t, "parts")
		cut := corpus.Cut(words, parts)
		all := 0
		for _, n := range cut {
			all += n
		}
		if len(cut) != parts || slices.Min(cut) < 1 || all != len(words) {
			t.Fatalf("%d chapters in %d parts: %v", len(words), parts, cut)
		}
	})
	if cut := corpus.Cut([]int{100, 100, 400, 100, 100, 100, 100}, 2); !slices.Equal(cut, []int{3, 4}) {
		t.Errorf("1,000 words in two parts: %v", cut)
	}
	if cut := corpus.Cut(slices.Repeat([]int{50}, 16), 4); !slices.Equal(cut, []int{4, 4, 4, 4}) {
		t.Errorf("chapters of one size: %v", cut)
	}
}
