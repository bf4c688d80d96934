package annotator

import (
	"encoding/json"
	"html"
	"strconv"
	"strings"
	"unicode"
)

// CountWords counts the words of a text, separated by white space. In scripts without spaces between words, two
// characters count as one word, and the punctuation between them is not counted.
func CountWords(text string) int {
	n, unspaced, inWord := 0, 0, false
	for _, r := range text {
		if Unspaced(r) {
			unspaced++
			inWord = false
			continue
		}
		word := !unicode.IsSpace(r) && (inWord || unspaced == 0 || !unicode.IsPunct(r))
		if word && !inWord {
			n++
		}
		inWord = word
	}
	return n + (unspaced+1)/2
}

// Unspaced reports whether a character is of a script that writes no spaces between words.
func Unspaced(r rune) bool {
	const first = '\u0e00'                                  // the first of them is Thai
	const lengthMark, narrowLengthMark = '\u30fc', '\uff70' // of Katakana, though not of its script
	return r >= first && (r == lengthMark || r == narrowLengthMark ||
		unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana,
			unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar))
}

// Percent returns a part of a whole in percent, rounded down, so that only the whole is 100. A part of nothing is 0.
func Percent(part, whole int) int {
	if whole == 0 {
		return 0
	}
	return 100 * part / whole
}

// Clip returns the first characters of a text, and the mark after them if the text is longer.
func Clip(text string, characters int, mark string) string {
	for at := range text {
		if characters--; characters < 0 {
			return text[:at] + mark
		}
	}
	return text
}

// Plural returns a noun as it is written after a number.
func Plural(n int, noun string) string {
	if n == 1 {
		return noun
	}
	if stem, found := strings.CutSuffix(noun, "y"); found {
		return stem + "ies"
	}
	return noun + "s"
}

// Quantity returns a number with its noun: "1 scene", "2 entries".
func Quantity(n int, noun string) string { return strconv.Itoa(n) + " " + Plural(n, noun) }

// Unescape reverses the escaping of the story in prompts (package prompt). What a model copies from a prompt may be
// escaped.
func Unescape(text string) string { return html.UnescapeString(text) }

// EncodeJSON returns a value as compact JSON without a final line feed. It does not escape <, > and &, which would
// lengthen prompts and stored text. It panics for a value that JSON cannot represent.
func EncodeJSON(value any) string {
	var b strings.Builder
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value); err != nil {
		panic(err)
	}
	return strings.TrimSuffix(b.String(), "\n")
}
