package main

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/width"
)

// A terminal has columns, and a character takes up one of them, two, or none. What is aligned, cut or wrapped is measured here.

// columns is how many columns of a terminal a text takes up.
func columns(text string) (sum int) {
	for _, r := range text {
		sum += columnsOf(r)
	}
	return sum
}

// columnsOf takes marks that are drawn over the character before them to have no column, and Chinese, Japanese and Korean
// characters and most emoji to have two.
func columnsOf(r rune) int {
	switch {
	case r <= unicode.MaxLatin1: // the soft hyphen, too, which terminals draw
		return 1
	case unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf):
		return 0
	}
	switch width.LookupRune(r).Kind() {
	case width.EastAsianWide, width.EastAsianFullwidth:
		return 2
	}
	return 1
}

// beginning is the longest beginning of a text that takes up no more than so many columns.
func beginning(text string, most int) string {
	for i, r := range text {
		if most -= columnsOf(r); most < 0 {
			return text[:i]
		}
	}
	return text
}

// padded is a text with as many blanks behind it as it takes for it to have so many columns.
func padded(text string, wide int) string {
	return text + strings.Repeat(" ", max(wide-columns(text), 0))
}

// broken cuts a text between words into lines of at most so many columns. A longer word has a line of its own, for it may be a path;
// but wide characters, which are written without blanks, are cut where the line is full.
func broken(text string, most int) (lines []string) {
	line := ""
	for _, word := range strings.Fields(text) {
		if line != "" && columns(line)+1+columns(word) > most {
			lines = append(lines, line)
			line = ""
		}
		if line != "" {
			line += " "
		}
		line += word
		for columns(line) > most && columns(line) > utf8.RuneCountInString(line) {
			full := beginning(line, max(most, 2)) // which has room for any character
			lines = append(lines, full)
			line = line[len(full):]
		}
	}
	return append(lines, line)
}
