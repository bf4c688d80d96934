package codex_test

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
	"pgregory.net/rapid"

	"annotator"
	"annotator/codex"
)

func TestNormalizeJoinsSpellings(t *testing.T) {
	t.Parallel()
	for _, same := range [][]string{
		{"Dawn", "dawn", " DAWN\n"},
		{"New  Dawn", "new\u00a0dawn"},
		{"É", "é", "e\u0301", "E\u0301"},
		{"İ", "I\u0307", "i\u0307"},
	} {
		for _, name := range same[1:] {
			if got, want := codex.Normalize(name), codex.Normalize(same[0]); got != want {
				t.Errorf("Normalize(%q) = %q, but Normalize(%q) = %q", name, got, same[0], want)
			}
		}
	}
}

func TestNormalizeIsStable(t *testing.T) {
	t.Parallel()
	for r := rune(0); r <= unicode.MaxRune; r++ {
		if !unicode.IsLetter(r) && !unicode.IsMark(r) {
			continue
		}
		once := codex.Normalize(string(r))
		if twice := codex.Normalize(once); twice != once {
			t.Errorf("Normalize(%U) = %q, and of that %q", r, once, twice)
		}
	}
}

func TestNormalizeIgnoresComposition(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		name := text(20).Draw(t, "name")
		if c, d := codex.Normalize(norm.NFC.String(name)), codex.Normalize(norm.NFD.String(name)); c != d {
			t.Fatalf("composed %q, decomposed %q", c, d)
		}
	})
}

func TestSplitName(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ name, term, disambiguator string }{
		{"Dawn (character)", "Dawn", "character"},
		{"  Dawn\t( the  ship ) ", "Dawn", "the ship"},
		{"Dawn", "Dawn", ""},
		{"Dawn(character)", "Dawn(character)", ""},
		{"(character)", "(character)", ""},
		{"Dawn ()", "Dawn ()", ""},
		{"Dawn (of) time", "Dawn (of) time", ""},
		{"Dawn (ship) (second)", "Dawn (ship)", "second"},
		{"", "", ""},
	} {
		term, disambiguator := codex.SplitName(test.name)
		if term != test.term || disambiguator != test.disambiguator {
			t.Errorf("SplitName(%q) = %q, %q; want %q, %q", test.name, term, disambiguator, test.term,
				test.disambiguator)
		}
	}
}

// A name that is split and joined splits the same way again: a term is stored as the text of a revision.
func FuzzSplitName(f *testing.F) {
	seeds(f)
	f.Fuzz(func(t *testing.T, name string) {
		term, disambiguator := codex.SplitName(name)
		whole := (&annotator.Entry{Term: term, Disambiguator: disambiguator}).Name()
		term2, disambiguator2 := codex.SplitName(whole)
		if term2 != term || disambiguator2 != disambiguator {
			t.Fatalf("%q: %q, %q; put together %q: %q, %q", name, term, disambiguator, whole, term2, disambiguator2)
		}
		if disambiguator != "" && term == "" {
			t.Fatalf("%q: a disambiguator %q without a term", name, disambiguator)
		}
	})
}

func FuzzClean(f *testing.F) {
	seeds(f)
	f.Fuzz(func(t *testing.T, text string) {
		clean := codex.Clean(text)
		if !utf8.ValidString(clean) || strings.ContainsRune(clean, 0) {
			t.Fatalf("Clean(%q) = %q", text, clean)
		}
		if again := codex.Clean(clean); again != clean {
			t.Fatalf("Clean(%q) = %q, and of that %q", text, clean, again)
		}
	})
}
