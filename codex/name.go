package codex

import (
	"slices"
	"strings"
	"unicode"

	"annotator"

	"golang.org/x/text/unicode/norm"
)

// Normalize returns the form in which names compare: white space collapsed and trimmed, lower case, NFD. It decomposes
// before lowering, because some composed letters have no lower case while their parts have one.
func Normalize(name string) string {
	return norm.NFD.String(strings.ToLower(norm.NFD.String(strings.Join(strings.Fields(name), " "))))
}

// OtherNames returns the names that differ from those known. It never returns nil, so an empty list is written as a
// list.
func OtherNames(names []string, known ...string) []string {
	others := []string{}
	for _, name := range names {
		if !slices.ContainsFunc(known, func(k string) bool { return Normalize(k) == Normalize(name) }) {
			others = append(others, name)
		}
	}
	return others
}

// SplitName splits a name into term and disambiguator: "Dawn (character)" into "Dawn" and "character". White space is
// collapsed. A name that consists of parentheses only is not split.
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

// Clean prepares external text for storage: valid UTF-8, no control characters except line feed and tab, white space
// trimmed at both ends.
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

// HasWord reports whether a text contains a letter or a digit of any script.
func HasWord(text string) bool {
	return strings.ContainsFunc(text, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsNumber(r) })
}

// words returns the normalised words of a text.
func words(text string) []string {
	return strings.FieldsFunc(Normalize(text), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsNumber(r) && !unicode.IsMark(r)
	})
}

// AliasName returns the name of an alias, as a revision has it; empty for none.
func AliasName(value string) (string, error) {
	if value == "" {
		return "", nil
	}
	alias, err := decode[annotator.Alias](value)
	return alias.Name, err
}
