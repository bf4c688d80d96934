package ingest

import (
	"strings"
	"unicode/utf8"
)

// TitlePart is a part of the title of a chapter, as a reader names it: "BOOK ONE: 1805, CHAPTER I" has two.
type TitlePart struct {
	Text   string // its label and number: "CHAPTER I", "XVIII", "Prologue"; of a part that has neither, all of it
	Kind   string // the label in English: "chapter", "letter", "part"; "number" without a label; empty for neither
	Level  int    // 0: it holds chapters; 1: a chapter; 2: a section of one
	Number int    // 0: it has none
	Title  string // what follows label and number
}

// ReadTitle reads the title of a chapter as the importers make it: the headings of its parts first, the chapter's own
// last. An empty title has none.
func ReadTitle(title string) []TitlePart {
	line := oneLine(strings.Map(plainSign, title))
	if line == "" {
		return nil
	}
	if len(line) > maxHeading*utf8.UTFMax {
		return []TitlePart{newTitlePart(line, wording{})}
	}
	h := newTitlePart(line, readHeading(line))
	if part, rest, ok := splitPart(line, h); ok {
		above := newTitlePart(part, readHeading(part))
		if above.Number == 0 {
			above.Level = 0
		}
		return append([]TitlePart{above}, ReadTitle(rest)...)
	}
	return []TitlePart{h}
}

func newTitlePart(line string, w wording) TitlePart {
	h := TitlePart{Text: line, Kind: string(w.kind), Level: 1, Number: w.number, Title: w.title}
	switch {
	case w.rank == container:
		h.Level = 0
	case w.rank == sectional:
		h.Level = 2
	case w.kind != namedHeading && w.number == 0:
		return TitlePart{Text: line, Level: 1, Title: line}
	}
	text := strings.TrimRight(strings.TrimSuffix(line, w.title), " .:,;)]–—-―|*_")
	if text = strings.TrimLeft(text, "*_=#[【 "); text != "" {
		h.Text = text
	}
	return h
}

// splitPart splits a title into the heading of a part and the heading that follows it behind a comma. Behind a part
// without a label only a labelled heading is one.
func splitPart(line string, h TitlePart) (part, rest string, ok bool) {
	for at := 1; at < len(line); at++ {
		if !strings.HasPrefix(line[at:], ", ") {
			continue
		}
		rest := line[at+len(", "):]
		w := readHeading(rest)
		level := newTitlePart(rest, w).Level
		labelled := w.labelled() || h.Number != 0 && w.kind != noHeading && (w.number != 0 || w.kind == namedHeading)
		if labelled && (h.Number == 0 || level > h.Level || level == 0 && h.Level == 0) {
			return line[:at], rest, true
		}
	}
	return "", "", false
}

// ReadNumber reads a number as the headings of chapters have it: in digits, Roman numerals or words. It returns 0 for
// anything else.
func ReadNumber(text string) int {
	text = oneLine(strings.Map(plainSign, text))
	tokens := tokenize(text)
	if len(tokens) == 0 || tokens[0].start != 0 || tokens[len(tokens)-1].end != len(text) {
		return 0
	}
	v := words()
	if runes := []rune(text); isWide(runes[0]) {
		if n, used := v.cjkNumber(runes, true); used == len(runes) {
			return n
		}
	}
	if n, used := v.number(text, tokens, "chapter"); used == len(tokens) {
		return n
	}
	return 0
}
