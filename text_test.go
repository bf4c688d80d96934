package annotator_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"annotator"

	"pgregory.net/rapid"
)

// TestCountWords: words are what strings.Fields returns, but for scripts without spaces.
func TestCountWords(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringOf(rapid.SampledFrom([]rune("ab.- \t\n\u00a0\u3000é"))).Draw(t, "text")
		if got, want := annotator.CountWords(text), len(strings.Fields(text)); got != want {
			t.Errorf("%q has %d words, not %d", text, got, want)
		}
	})
	for text, want := range map[string]int{
		"灯": 1, "灯火": 1, "话说天下大势，分久必合。": 5, "カードは3枚だ。": 4, "one 灯火 two": 3, "비가 오는 날": 3, "ฉันรัก": 3,
	} {
		if got := annotator.CountWords(text); got != want {
			t.Errorf("%q has %d words, not %d", text, got, want)
		}
	}
}

// TestClippedTextIsMarked tests that a clipped text is a beginning of the text with at most the maximum of characters.
// It has the mark if anything is missing.
func TestClippedTextIsMarked(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		text, most := rapid.String().Draw(t, "text"), rapid.IntRange(0, 10).Draw(t, "characters")
		got := annotator.Clip(text, most, "…")
		if utf8.RuneCountInString(text) <= most {
			if got != text {
				t.Fatalf("%q became %q", text, got)
			}
		} else if head, marked := strings.CutSuffix(got, "…"); !marked || !strings.HasPrefix(text, head) ||
			utf8.RuneCountInString(head) != most {
			t.Fatalf("%q became %q", text, got)
		}
	})
}
