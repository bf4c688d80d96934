package main

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"annotator"
)

// listEntries prints entries, each in a line that the terminal has room for.
func (a *app) listEntries(entries []annotator.Entry) error {
	rows := make([][]string, len(entries))
	for i := range entries {
		e := &entries[i]
		rows[i] = []string{
			fmt.Sprintf("#%d", e.ID), shortened(e.Name(), 32), shortened(strings.Join(e.Tags, ", "), 20), shortened(e.Definition(), 72),
		}
	}
	return fitted(a.out, rows)
}

// fitted prints a table in lines that the terminal has room for, where it goes to one.
func fitted(w io.Writer, rows [][]string) error {
	if width := terminalWidth(w); width > 0 && len(rows) > 0 {
		fit(rows, width)
	}
	return table(w, rows)
}

// fit shortens the columns of a table until it is no wider than so many characters: the last first, and one of which next to
// nothing would be left is left out. The first stays, and so does the beginning of the second.
func fit(rows [][]string, width int) {
	const least, gap = 8, 2
	for column := len(rows[0]) - 1; column > 0; column-- {
		over := -width - gap
		for c := range column + 1 {
			over += widest(rows, c) + gap
		}
		if over <= 0 {
			return
		}
		room := widest(rows, column) - over
		if room < least && column > 1 {
			room = 0
		}
		for _, row := range rows {
			row[column] = cut(row[column], room)
		}
	}
}

// cut is shortened to what may be nothing.
func cut(text string, room int) string {
	if room == 0 {
		return ""
	}
	return shortened(text, max(room, len("...")))
}

func widest(rows [][]string, column int) (width int) {
	for _, row := range rows {
		width = max(width, utf8.RuneCountInString(row[column]))
	}
	return width
}
