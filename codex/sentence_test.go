package codex_test

import (
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"annotator/codex"
)

func TestSentences(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		text string
		want []string
	}{
		{"Dawn is a ship. She sails.", []string{"Dawn is a ship.", "She sails."}},
		{"Dawn\nis a\n\nship.", []string{"Dawn is a ship."}},
		{"Mr. Smith met J. Doe at St. Anne. They left.", []string{"Mr. Smith met J. Doe at St. Anne.", "They left."}},
		{"“Stop!” she cried. “No…” He ran.", []string{"“Stop!” she cried.", "“No…”", "He ran."}},
		{"He waits... and waits. 3 days.", []string{"He waits... and waits.", "3 days."}},
		{"It costs 1.5 marks. Yes.", []string{"It costs 1.5 marks.", "Yes."}},
		{"曙光是船。她航行！", []string{"曙光是船。", "她航行！"}},
		{" \n", nil},
	} {
		if diff := cmp.Diff(test.want, codex.Sentences(test.text)); diff != "" {
			t.Errorf("Sentences(%q): %s", test.text, diff)
		}
	}
}

func TestSentencesLoseNothing(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) { checkSentences(t, text(80).Draw(t, "text")) })
}

// TestSentenceAt: the sentence at each character of a text has that character, and is one of its line's sentences.
func TestSentenceAt(t *testing.T) {
	t.Parallel()
	const body = "Mr. Dantès  came. “Where?” asked\nHaydée. 曙光是船。她航行！"
	for at, want := range map[int]string{
		0: "Mr. Dantès came.", 5: "Mr. Dantès came.", 18: "“Where?” asked", 33: "Haydée.", 41: "曙光是船。", 46: "她航行！",
		99: "",
	} {
		if got := codex.SentenceAt(body, at); got != want {
			t.Errorf("at %d: %q, want %q", at, got, want)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		body := text(80).Draw(t, "text")
		runes := []rune(body)
		at := rapid.IntRange(0, max(0, len(runes)-1)).Draw(t, "at")
		if len(runes) == 0 || unicode.IsSpace(runes[at]) {
			return
		}
		if got := codex.SentenceAt(body, at); !strings.ContainsRune(got, runes[at]) {
			t.Fatalf("at %d of %q: %q", at, body, got)
		}
	})
}

func FuzzSentences(f *testing.F) {
	seeds(f)
	f.Fuzz(func(t *testing.T, text string) { checkSentences(t, text) })
}

func checkSentences(t interface{ Fatalf(string, ...any) }, text string) {
	sentences := codex.Sentences(text)
	joined := strings.Join(sentences, " ")
	if unspaced(joined) != unspaced(text) {
		t.Fatalf("%q falls into %q", text, sentences)
	}
	if again := codex.Sentences(joined); !slices.Equal(again, sentences) {
		t.Fatalf("%q falls into %q; joined, into %q", text, sentences, again)
	}
	if slices.Contains(sentences, "") {
		t.Fatalf("%q has an empty sentence: %q", text, sentences)
	}
}

// TestRunsOfStops: a looping model writes thousands of them.
func TestRunsOfStops(t *testing.T) {
	t.Parallel()
	if got := codex.Sentences(strings.Repeat(".", 200_000) + "a"); len(got) != 1 {
		t.Errorf("%d sentences", len(got))
	}
	if got := codex.Sentences("Hm...。然后"); len(got) != 2 {
		t.Errorf("%q", got)
	}
}

func TestClosest(t *testing.T) {
	t.Parallel()
	texts := []string{"Dawn is a ship.", "She sails at night.", "She sails."}
	for quote, want := range map[string]int{"sails every night": 1, "“A ship!”": 0, "she SAILS": 2, "nothing": 2} {
		if got := codex.Closest(texts, quote); got != want {
			t.Errorf("%q is closest to text %d, want %d", quote, got, want)
		}
	}
}
