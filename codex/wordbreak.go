package codex

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"annotator"

	"golang.org/x/text/unicode/norm"
)

// wordBreak reports whether a word may begin or end at a byte offset of a text. A word is a run of letters, digits and
// marks, with the apostrophes between its letters and the points between its digits. In scripts without spaces each
// character is one.
func wordBreak(text string, at int) bool {
	before, width := utf8.DecodeLastRuneInString(text[:at])
	after, next := utf8.DecodeRuneInString(text[at:])
	switch {
	case inWord(before) && inWord(after):
		return !unicode.IsMark(after) && (annotator.Unspaced(before) || annotator.Unspaced(after))
	case inWord(before):
		following, _ := utf8.DecodeRuneInString(text[at+next:])
		return !joins(before, after, following)
	case inWord(after):
		former, _ := utf8.DecodeLastRuneInString(text[:at-width])
		return !joins(former, before, after) || elides(before, after)
	}
	return true
}

func inWord(r rune) bool { return unicode.IsLetter(r) || unicode.IsNumber(r) || unicode.IsMark(r) }

// joins reports whether a character between two others makes them one word.
func joins(before, between, after rune) bool {
	switch {
	case isApostrophe(between):
		return !unicode.IsNumber(before) && inWord(before) && unicode.IsLetter(after)
	case between == '.' || between == ',':
		return unicode.IsNumber(before) && unicode.IsNumber(after)
	case Invisible(between) && between != '\u200b': // the space without a width
		return inWord(before) && inWord(after) && !annotator.Unspaced(before) && !annotator.Unspaced(after)
	}
	return false
}

func isApostrophe(r rune) bool { return r == '\'' || r == '’' }

// elides reports whether the letters before an apostrophe are a separate word, as in "l'homme" and "qu'il". Its vowel
// is omitted before another one.
func elides(apostrophe, after rune) bool {
	letter, _ := utf8.DecodeRuneInString(norm.NFD.String(string(unicode.ToLower(after))))
	return isApostrophe(apostrophe) && strings.ContainsRune("aeiouhy", letter)
}

// indexWords returns the first offset from a given one on at which a text holds some words as whole words; -1 if there
// is none.
func indexWords(text, words string, from int) int {
	for from <= len(text) {
		at := strings.Index(text[from:], words)
		if at < 0 {
			break
		}
		if at += from; wordBreak(text, at) && wordBreak(text, at+len(words)) {
			return at
		}
		from = at + 1
	}
	return -1
}

// severalWords reports whether a text has more than one word.
func severalWords(text string) bool {
	n := 0
	for at, r := range text {
		if inWord(r) && wordBreak(text, at) {
			n++
		}
	}
	return n > 1
}

// Marks that end a sentence or a line, and that begin or end an utterance.
const (
	unitMarks = "!?…。！？\n\"“”„«»「」『』"
	dashes    = "—–―"
)

// isWhole reports whether a range of a text is a whole sentence, line or utterance.
func isWhole(text string, from, to int) bool {
	begin, end := from+strings.IndexFunc(text[from:to], inWord), wordsEnd(text[:to])
	former, next := wordsEnd(text[:begin]), strings.IndexFunc(text[end:], inWord)
	if next < 0 {
		next = len(text) - end
	}
	before, after := text[former:begin], text[end:end+next]
	if opened := strings.HasSuffix(before, "‘") || strings.HasSuffix(before, "'"); opened &&
		strings.ContainsAny(after, "’'") {
		return true // in single quotation marks
	}
	marks, line := unitMarks, former == 0 || strings.Contains(before, "\n")
	if line && strings.ContainsAny(before, dashes) {
		marks += dashes // the line is a dialogue's
	}
	return (line || endsUnit(text[:former], before, marks)) &&
		(end+next == len(text) || endsUnit(text[:end], after, marks))
}

// wordsEnd returns where the last word of a text ends; 0 if it has none.
func wordsEnd(text string) int {
	last := strings.LastIndexFunc(text, inWord)
	if last < 0 {
		return 0
	}
	_, width := utf8.DecodeRuneInString(text[last:])
	return last + width
}

// endsUnit reports whether a sentence, line or utterance ends or begins between two words.
func endsUnit(before, gap, marks string) bool {
	point := strings.IndexByte(gap, '.')
	return strings.ContainsAny(gap, marks) || point >= 0 && !abbreviated(before+gap[:point])
}
