package codex_test

import (
	"slices"
	"strings"
	"testing"
	"unicode"

	"annotator"
	"annotator/codex"

	"pgregory.net/rapid"
)

func TestWordsIn(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		words, text, want string
		different         int
	}{
		{"lamp", "The Lamp, lamps and the LAMP.", "Lamp|LAMP", 1},
		{"zoe cafe", "Zoë's cafe\u0301 is a CAFÉ.", "Zoë|cafe\u0301|CAFÉ", 2},
		{"half-moon", "Half moon, half the moon, half-moon.", "Half moon|half-moon", 1},
		{"moon half-moon", "The half-moon", "half-moon", 2},
		{"o'brien the", "O’Brien there", "O’Brien", 1},
		{"Ἀχιλλεύς 42", "ἀχιλλευς has 42 or 420.", "ἀχιλλευς|42", 2},
		{"... lamp", "...", "", 0},
		{"", "lamp", "", 0},
		{"lamp", "", "", 0},
	} {
		spans, different := codex.NewWords(strings.Fields(test.words)).In(test.text)
		var found []string
		for _, s := range spans {
			found = append(found, string([]rune(test.text)[s.Start:s.End]))
		}
		if got := strings.Join(found, "|"); got != test.want || different != test.different {
			t.Errorf("%q in %q: %q (%d), want %q (%d)", test.words, test.text, got, different, test.want,
				test.different)
		}
	}
}

// TestWordsAreFound takes words from a text: each is found, the spans are in order, and without them the text has none.
func TestWordsAreFound(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringOf(rapid.RuneFrom([]rune("aAbBéÉ e\u0301ßſ1 -'’,한ｱ\u0300"))).Draw(t, "text")
		all := strings.FieldsFunc(text, func(r rune) bool { return unicode.IsSpace(r) })
		words := codex.NewWords(slices.DeleteFunc(all, func(string) bool { return rapid.Bool().Draw(t, "left out") }))
		spans, different := words.In(text)
		body, last := []rune(text), 0
		for _, s := range spans {
			if s.Start < last || s.End <= s.Start || s.End > len(body) {
				t.Fatalf("%v are no spans of %d code points in order", spans, len(body))
			}
			if !codex.HasWord(string(body[s.Start:s.End])) {
				t.Fatalf("%q has no letter", string(body[s.Start:s.End]))
			}
			last = s.End
		}
		for _, word := range all {
			if _, n := words.In(word); codex.HasWord(word) && n == 0 {
				t.Fatalf("%q does not have its own word", word)
			}
		}
		if different > len(all) || (different == 0) != (len(spans) == 0) {
			t.Fatalf("%d words have %d spans", different, len(spans))
		}
		for i := len(spans) - 1; i >= 0; i-- {
			body = slices.Replace(body, spans[i].Start, spans[i].End, '|', '|')
		}
		if left, _ := words.In(string(body)); len(left) > 0 {
			t.Fatalf("%q still has %v", string(body), left)
		}
	})
}

// TestExcerptsShowTheirWord cuts texts: the excerpt begins at a word, and has the first of those that were looked for.
func TestExcerptsShowTheirWord(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		text := []rune(rapid.StringMatching(`([a-z]{1,12} ){0,20}LAMP( [a-z]{1,12}){0,20}`).Draw(t, "text"))
		size := rapid.IntRange(40, 80).Draw(t, "size")
		spans, _ := codex.NewWords([]string{"lamp"}).In(string(text))
		start := codex.ExcerptStart(text, spans, size)
		if spans[0].Start < start || spans[0].End > start+size || start > 0 && text[start-1] != ' ' {
			t.Fatalf("the excerpt begins at %d, the word is at %v", start, spans[0])
		}
		if start > 0 && len(text) <= size {
			t.Fatalf("a text of %d is cut", len(text))
		}
	})
	if start := codex.ExcerptStart([]rune(strings.Repeat("x", 500)), []codex.Span{{300, 310}}, 90); start != 270 {
		t.Errorf("a text without spaces begins at %d", start)
	}
}

func TestBestClaim(t *testing.T) {
	t.Parallel()
	claims := []annotator.Claim{
		{ID: 1, From: 90, Text: "A lamp burns."},
		{ID: 2, From: 10, Text: "The lamp of the harbour.", Until: 20},
		{ID: 3, From: 30, Text: "The harbour has a lamp."},
		{ID: 4, From: 25, Text: "Harbour and lamp."},
		{ID: 5, From: 25, Ord: -1, Text: "Nothing here.", Speaker: "Hob the cook"},
		{ID: 6, From: 5, Text: "A harbour."},
	}
	for words, want := range map[string]int64{
		"lamp harbour": 4, "lamp": 4, "harbour": 6, "burns": 1, "cook": 5,
		"lamp cook burns": 1, "whale": 0, "": 0,
	} {
		var got int64
		if c := codex.NewWords(strings.Fields(words)).Best(claims); c != nil {
			got = c.ID
		}
		if got != want {
			t.Errorf("%q: claim %d, want %d", words, got, want)
		}
	}
}
