package main

import (
	"fmt"
	"io"
	"strings"

	"annotator"
	"annotator/codex"
)

const (
	gap       = 2  // spaces between the columns of a table
	leastRoom = 20 // columns below which a last cell is not wrapped beside the others
	// textColumns is what a line has of an entry's text.
	textColumns = 72
)

// printEntries prints a line for each entry with a text of it, shortened to the terminal.
func printEntries(w io.Writer, entries []annotator.Entry, text func(*annotator.Entry) string) {
	rows := make([][]string, len(entries))
	for i := range entries {
		e := &entries[i]
		rows[i] = []string{fmt.Sprintf("#%d", e.ID), shorten(e.Name(), 32), shorten(strings.Join(e.Tags, ", "), 20), shorten(codex.WithoutLinks(text(e)), textColumns)}
	}
	printShortened(w, rows)
}

// printTable prints rows in aligned columns. On a terminal that is too narrow, the last cell of a row is wrapped within
// its column, or stands under the others where hardly any room is left beside them.
func printTable(w io.Writer, rows [][]string) {
	var widths []int // of all columns but the last of each row
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
	for _, row := range rows {
		head := ""
		for c := range len(row) - 1 {
			head += pad(row[c], widths[c]+gap)
		}
		b.WriteString(strings.TrimRight(beside(head, row[len(row)-1], terminal), " ") + "\n")
	}
	_, _ = io.WriteString(w, b.String())
}

// beside wraps a text beside a head, or under it where hardly any room is left. A width of 0 is unlimited.
func beside(head, text string, width int) string {
	if column := columns(head); text == "" || width == 0 || column+columns(text) <= width || width-column >= leastRoom {
		return head + wrapFrom(text, column, width)
	}
	return wrapFrom(strings.TrimRight(head, " "), 0, width) + "\n" + strings.Repeat(" ", 2*gap) + wrapFrom(text, 2*gap, width)
}

// printBeside prints a text beside a head, within the terminal.
func printBeside(w io.Writer, head, text string) {
	fmt.Fprintln(w, beside(head, text, terminalWidth(w)))
}

// wrapFrom wraps a text that begins in a column so that all its lines begin there. A width of 0 is unlimited.
func wrapFrom(text string, column, width int) string {
	if width == 0 || column+columns(text) <= width || width-column < leastRoom {
		return text
	}
	return strings.Join(wrap(text, width-column), "\n"+strings.Repeat(" ", column))
}

// wrapLines wraps each line of a text within its indentation. A width of 0 is unlimited.
func wrapLines(text string, width int) string {
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		words := strings.TrimLeft(line, " ")
		indent := len(line) - len(words)
		lines[i] = line[:indent] + wrapFrom(words, indent, width)
	}
	return strings.Join(lines, "\n")
}

// printShortened prints a table with cells shortened to the terminal, a line for each row.
func printShortened(w io.Writer, rows [][]string) {
	if width := terminalWidth(w); width > 0 && len(rows) > 0 {
		fit(rows, width)
	}
	printTable(w, rows)
}

// printMore says that a list has more than --limit lets it show.
func printMore(w io.Writer, more bool) {
	if more {
		fmt.Fprintln(w, "there are more; --limit 0 lists all")
	}
}

// fit shortens columns to a total width, the last first and to nothing at need; the first and some of the second stay.
func fit(rows [][]string, width int) {
	const least = 8
	for column := len(rows[0]) - 1; column > 0; column-- {
		excess := -width - gap
		for c := range column + 1 {
			excess += columnWidth(rows, c) + gap
		}
		if excess <= 0 {
			return
		}
		room := columnWidth(rows, column) - excess
		for _, row := range rows {
			if room < least && column > 1 {
				row[column] = ""
			} else {
				row[column] = shorten(row[column], max(room, len("...")))
			}
		}
	}
}

func columnWidth(rows [][]string, column int) (width int) {
	for _, row := range rows {
		width = max(width, columns(row[column]))
	}
	return width
}
