package codex

import (
	"cmp"
	"strings"
	"sync"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// lookalikes are, for each Latin letter, the characters of other scripts that look like its small or capital form. They
// are from the confusables of Unicode Technical Standard 39. Accented characters and variants of width and font are not
// listed, because they have decompositions.
func lookalikes() map[rune]string {
	return map[rune]string{
		'a': "АаΑαɑᎪ", 'b': "ВвЬΒβᏴ", 'c': "СсϹϲᏟ", 'd': "ԀԁᎠ", 'e': "ЕеΕεᎬ", 'g': "ԌԍցɡᏀ", 'h': "НнҺһΗհᎻ",
		'i': "ІіΙιıɩᎥ", 'j': "ЈјϳȷᎫ", 'k': "КкΚκᏦ", 'l': "ӀӏԼᏞ", 'm': "МмΜᎷ", 'n': "Νηո", 'o': "ОоΟοσՕօ",
		'p': "РрΡρᏢ", 'q': "Ԛԛ", 'r': "гᏒ", 's': "ЅѕᏚ", 't': "ТтΤτᎢ", 'u': "υՍսʋ", 'v': "ѴѵνᏙ", 'w': "ԜԝᎳ",
		'x': "ХхΧχ", 'y': "УуҮүΥγ", 'z': "ΖᏃ",
	}
}

// latinOf maps each character that looks like a Latin letter to that letter.
var latinOf = sync.OnceValue(func() map[rune]rune {
	table := map[rune]rune{}
	for latin, others := range lookalikes() {
		for _, r := range others {
			table[r] = latin
		}
	}
	return table
})

// Skeleton returns a form that is the same for names that look the same, after the skeleton of Unicode Technical
// Standard 39. It has no invisible characters, no variants of width and font, and no capitals. A character that looks
// like a Latin letter becomes that letter. It is for comparison only.
func Skeleton(name string) string {
	latin := latinOf()
	name = strings.Map(func(r rune) rune {
		if Invisible(r) {
			return -1
		}
		lower := unicode.ToLower(r)
		return cmp.Or(latin[r], latin[lower], lower)
	}, norm.NFKD.String(name))
	return norm.NFKD.String(strings.Join(strings.Fields(name), " "))
}

// LookAlikes returns a function that reports whether a name looks the same as one of the names and is spelled
// otherwise. An example is "Аlice" with a Cyrillic letter for "Alice".
func LookAlikes(names []string) func(name string) bool {
	looks, spelled := map[string]bool{}, map[string]bool{}
	for _, name := range names {
		looks[Skeleton(name)], spelled[Normalize(name)] = true, true
	}
	return func(name string) bool { return looks[Skeleton(name)] && !spelled[Normalize(name)] }
}
