package codex

import (
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// Normalize gives the form in which names compare: white space collapsed and trimmed, lower case, NFD. It decomposes before
// it lowers, so that a composed letter and its parts meet where only one of them has a lower case.
func Normalize(name string) string {
	return norm.NFD.String(strings.ToLower(norm.NFD.String(strings.Join(strings.Fields(name), " "))))
}

// SplitName takes a disambiguator off a name: "Dawn (character)" is the term "Dawn" with the disambiguator "character".
// White space is collapsed. A name that is nothing but parentheses stays whole.
func SplitName(name string) (term, disambiguator string) {
	name = strings.Join(strings.Fields(name), " ")
	open := strings.LastIndex(name, " (")
	if open <= 0 || !strings.HasSuffix(name, ")") {
		return name, ""
	}
	inner := strings.TrimSpace(name[open+2 : len(name)-1])
	if inner == "" {
		return name, ""
	}
	return name[:open], inner
}

// Clean makes text from outside fit to be stored: valid UTF-8, without control characters other than line feed and tab,
// white space trimmed at both ends.
func Clean(text string) string {
	text = strings.ToValidUTF8(text, "\uFFFD")
	text = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) && r != '\n' && r != '\t' {
			return -1
		}
		return r
	}, text)
	return strings.TrimSpace(text)
}

// HasWord reports whether a text holds a letter or a digit in any script.
func HasWord(text string) bool {
	return strings.ContainsFunc(text, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsNumber(r) })
}

// words returns the normalised words of a text.
func words(text string) []string {
	return strings.FieldsFunc(Normalize(text), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsNumber(r) && !unicode.IsMark(r)
	})
}
