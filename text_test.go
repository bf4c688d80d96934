package annotator_test

import (
	"strings"
	"testing"

	"annotator"

	"pgregory.net/rapid"
)

// TestCountWords: words are what strings.Fields returns.
func TestCountWords(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringOf(rapid.SampledFrom([]rune("ab \t\n\u00a0\u3000灯"))).Draw(t, "text")
		if got, want := annotator.CountWords(text), len(strings.Fields(text)); got != want {
			t.Errorf("%q has %d words, not %d", text, got, want)
		}
	})
}
