package codex_test

import (
	"slices"
	"strings"
	"testing"

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
