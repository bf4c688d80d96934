package main

import (
	"fmt"
	"io"
	"strings"

	"annotator"
	"annotator/codex"
)

const (
	gap             = 2  // spaces between the columns of a table
	minWrapColumns  = 20 // a narrower column is not wrapped
	entryTextLength = 72 // columns of an entry's text in a list
)

// printEntries prints a line for each entry with a text of it, shortened to the terminal.
func printEntries(w io.Writer, entries []annotator.Entry, text func(*annotator.Entry) string) {
	rows := make([][]string, len(entries))
	for i := range entries {
		e := &entries[i]
		rows[i] = []string{
			fmt.Sprintf("#%d", e.ID), shorten(e.Name(), 32), shorten(strings.Join(e.Tags, ", "), 20),
			shorten(codex.WithoutLinks(text(e)), entryTextLength),
		}
	}
	printShortened(w, rows)
}

// printTable prints rows in aligned columns. If the terminal is too narrow, the last cell of a row is wrapped. See
// hangingIndent.
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
		b.WriteString(strings.TrimRight(hangingIndent(head, row[len(row)-1], terminal), " ") + "\n")
	}
	_, _ = io.WriteString(w, b.String())
}

// hangingIndent appends a text to a head and wraps it within its column. If less than minWrapColumns are left, the text
// begins on the next line. A width of 0 is unlimited.
func hangingIndent(head, text string, width int) string {
	if column := columns(head); text == "" || width == 0 || column+columns(text) <= width ||
		width-column >= minWrapColumns {
		return head + wrapFrom(text, column, width)
	}
	return wrapFrom(strings.TrimRight(head, " "), 0, width) + "\n" + strings.Repeat(" ", 2*gap) + wrapFrom(text,
		2*gap, width)
}

// printIndented prints a text with a hanging indent, within the terminal.
func printIndented(w io.Writer, head, text string) {
	fmt.Fprintln(w, hangingIndent(head, text, terminalWidth(w)))
}

// wrapFrom wraps a text that begins in a column so that all its lines begin there. A width of 0 is unlimited.
func wrapFrom(text string, column, width int) string {
	if width == 0 || column+columns(text) <= width || width-column < minWrapColumns {
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
		fitColumns(rows, width)
	}
	printTable(w, rows)
}

// printMore prints a hint if a list has more items than --limit.
func printMore(w io.Writer, more bool) {
	if more {
		fmt.Fprintln(w, "there are more; --limit 0 lists all")
	}
}

// fitColumns shortens columns to a total width, from the last to the second. A column with less than minColumns is left
// empty, except the second.
func fitColumns(rows [][]string, width int) {
	const minColumns = 8
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
			if room < minColumns && column > 1 {
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
