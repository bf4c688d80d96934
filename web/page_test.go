package web

import (
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

// TestShorten: a shortened text is a prefix within the maximum. It ends with a word if one ends in its second half.
func TestShorten(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringMatching(`[a-zé]{1,12}( [a-zé]{1,12}){0,12}`).Draw(t, "text")
		limit := rapid.IntRange(2, 60).Draw(t, "limit")
		got := shorten(text, limit)
		if utf8.RuneCountInString(text) <= limit {
			if got != text {
				t.Fatalf("%q was changed into %q", text, got)
			}
			return
		}
		kept, cut := strings.CutSuffix(got, "…")
		if !cut || utf8.RuneCountInString(got) > limit || !strings.HasPrefix(text, kept) {
			t.Fatalf("%q is %q within %d", text, got, limit)
		}
		rest := strings.TrimPrefix(text, kept)
		if i := strings.LastIndexByte(kept, ' '); rest[0] != ' ' && i > len(kept)/2 {
			t.Fatalf("%q ends within a word after %q", got, kept[:i])
		}
	})
}
