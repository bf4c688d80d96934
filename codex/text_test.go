package codex_test

import (
	"strings"
	"testing"
	"unicode"

	"golang.org/x/text/unicode/norm"
	"pgregory.net/rapid"
)

// scripts holds letters with and without case, combining marks, sentence-ending marks, white space, and characters with
// a plain and a typographic form.
const scripts = "aAbBeEiIzZ09 éÅİıßſΣςσϒΐ \u0301\u0308\u0323\u0327 дЙй ابجד 中文字。！？」 ひカガ가각ᄀ\u1161\u11a8 กำเ " +
	"हि\u094d\u0958 \u2126\u212a\u212b ﬁ𝒜😀\u200d" +
	" \t\n\u00a0\u2003.!?…'’‘\"“”«»()[]-—–,;"

// text generates text in many scripts, of at most n characters.
func text(n int) *rapid.Generator[string] {
	return rapid.StringOfN(rapid.SampledFrom([]rune(scripts)), 0, n, -1)
}

// unspaced removes all white space from a text.
func unspaced(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) {
			return -1
		}
		return r
	}, text)
}

// seeds are unusual texts for the fuzz targets.
func seeds(f *testing.F) {
	f.Helper()
	for _, s := range []string{
		"", " ", ".", "Dawn (character)", "(only)", "a ( b )", "x (a (b)", "Mr. Smith left. He came back.", "甲。乙！丙",
		"e\u0301",
		"\xff\xfe", "a\x00b", "\u200d", "“Well…” she said.", norm.NFD.String("Ǻngström ẛ̣"), "각각", "\u0f73\u0f75",
		"… … .",
	} {
		f.Add(s)
	}
}
