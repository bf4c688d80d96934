package main

import (
	"fmt"
	"io"
	"slices"
	"strings"

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

// gap is how many blanks stand between the columns of a table.
const gap = 2

// leastRoom is how many columns a last cell takes to be broken beside the others.
const leastRoom = 20

// table prints rows in columns. Empty cells at the end of a row leave nothing behind. On a terminal that a row is too long for, its
// last cell goes on below where it began; where next to no room is left beside the others, all last cells stand below them.
func table(w io.Writer, rows [][]string) error {
	var widths []int // of the columns, but for what stands last in a row
	for _, row := range rows {
		for c := range len(row) - 1 {
			if c == len(widths) {
				widths = append(widths, 0)
			}
			widths[c] = max(widths[c], columns(row[c]))
		}
	}
	var b strings.Builder
	terminal := terminalWidth(w)
	below := crowded(rows, widths, terminal)
	for _, row := range rows {
		head, last := "", row[len(row)-1]
		for c := range len(row) - 1 {
			head += padded(row[c], widths[c]+gap)
		}
		if below && len(row) > len(widths) {
			b.WriteString(strings.TrimRight(head, " ") + "\n")
			head = strings.Repeat(" ", 2*gap)
		}
		b.WriteString(strings.TrimRight(head+hanging(last, columns(head), terminal), " ") + "\n")
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// crowded reports whether lines of so many columns, 0 meaning any, leave next to no room for a last cell that needs more.
func crowded(rows [][]string, widths []int, line int) bool {
	room := line
	for _, width := range widths {
		room -= width + gap
	}
	return line > 0 && room < leastRoom && slices.ContainsFunc(rows, func(row []string) bool {
		return len(row) > len(widths) && columns(row[len(row)-1]) > room
	})
}

// hanging breaks a text that begins in a column so that it stays in it, if lines have a number of columns, 0 meaning any, and there
// is room for more than a word.
func hanging(text string, column, line int) string {
	if line == 0 || column+columns(text) <= line || line-column < leastRoom {
		return text
	}
	return strings.Join(broken(text, line-column), "\n"+strings.Repeat(" ", column))
}

// fitted prints a table in lines that the terminal has room for, where it goes to one.
func fitted(w io.Writer, rows [][]string) error {
	if width := terminalWidth(w); width > 0 && len(rows) > 0 {
		fit(rows, width)
	}
	return table(w, rows)
}

// fit shortens the columns of a table until it is no wider than so many columns: the last first, and one of which next to
// nothing would be left is left out. The first stays, and so does the beginning of the second.
func fit(rows [][]string, width int) {
	const least = 8
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
		width = max(width, columns(row[column]))
	}
	return width
}
