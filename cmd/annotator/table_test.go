package main

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestFitColumns(t *testing.T) {
	t.Parallel()
	for width, want := range map[int]string{
		80: "#15|Brother Caul|person|Says the ledger was full.\n#1234|Wren|person, lost|A wick.",
		44: "#15|Brother Caul|person|Says...\n#1234|Wren|person, lost|A wick.",
		35: "#15|Brother Caul|person|\n#1234|Wren|person, lost|",
		27: "#15|Brother Caul||\n#1234|Wren||",
		16: "#15|Brothe...||\n#1234|Wren||",
		3:  "#15|...||\n#1234|...||",
	} {
		rows := [][]string{
			{"#15", "Brother Caul", "person", "Says the ledger was full."},
			{"#1234", "Wren", "person, lost", "A wick."},
		}
		fitColumns(rows, width)
		var lines []string
		for _, row := range rows {
			lines = append(lines, strings.Join(row, "|"))
		}
		if got := strings.Join(lines, "\n"); got != want {
			t.Errorf("in %d characters the table is\n%s, want\n%s", width, got, want)
		}
	}
}

// TestTableOfWideCharacters: columns are aligned, also after characters of width two and zero.
func TestTableOfWideCharacters(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	printTable(&b, [][]string{
		{"#1", "黒田官兵衛", "person"},
		{"#23", "Zoe\u0301", "place"},
		{"#4", "मोहन", ""},
		{"and more"},
	})
	if got, want := b.String(), "#1   黒田官兵衛  person\n#23  Zoe\u0301         place\n#4   मोहन\nand more\n"; got != want {
		t.Errorf("the table is\n%swant\n%s", got, want)
	}
}

// TestLastCellIsWrapped within its column.
func TestLastCellIsWrapped(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		text         string
		column, line int
		want         string
	}{
		{"the index agrees with the entries", 10, 0, "the index agrees with the entries"},
		{"the index agrees with the entries", 10, 43, "the index agrees with the entries"},
		{"the index agrees with the entries", 10, 42, "the index agrees with the\n          entries"},
		{"the index agrees with the entries", 10, 29, "the index agrees with the entries"},
		{"/a/path/that/is/longer/than/that.db", 10, 30, "/a/path/that/is/longer/than/that.db"},
		{"王小明は東京へ行った。王小明は強い。", 4, 25, "王小明は東京へ行った\n    。王小明は強い。"},
	} {
		if got := wrapFrom(c.text, c.column, c.line); got != c.want {
			t.Errorf("from column %d of %d it is %q, want %q", c.column, c.line, got, c.want)
		}
	}
}

// TestLinesAreWrapped one by one: paragraphs stay separate.
func TestLinesAreWrapped(t *testing.T) {
	t.Parallel()
	const text = "The index agrees with the entries of the book.\n\n  It ends with the last of its entries."
	if got, want := wrapLines(text, 34),
		"The index agrees with the entries\nof the book.\n\n  It ends with the last of its\n  entries."; got != want {
		t.Errorf("the text is %q, want %q", got, want)
	}
	if got := wrapLines(text, 0); got != text {
		t.Errorf("without a width the text is %q", got)
	}
}

func TestNarrowCellIsBelowTheOthers(t *testing.T) {
	t.Parallel()
	const head, text = "2026-11-22  scene 25  ", "+ Captain Ysolde Marrow"
	beneath := strings.TrimRight(head, " ") + "\n    "
	for line, want := range map[int]string{
		0: head + text, 22: beneath + text, 41: beneath + text, 42: head + "+ Captain Ysolde\n" + strings.Repeat(" ",
			len(head)) + "Marrow",
		45: head + text, 80: head + text,
	} {
		if got := hangingIndent(head, text, line); got != want {
			t.Errorf("in %d columns: %q", line, got)
		}
	}
	if got, want := hangingIndent("2026-11-22 23:00:12 UTC  scene 25  ", text, 30),
		"2026-11-22 23:00:12 UTC scene\n25\n    "+text; got != want {
		t.Errorf("beside a head that is too wide: %q, want %q", got, want)
	}
	if got := hangingIndent(head, "+ Marrow", 30); got != head+"+ Marrow" {
		t.Errorf("a cell that has room enough goes below: %q", got)
	}
}

// TestFittedTableIsNoWiderThanTheTerminal: this holds if the terminal is wide enough for the ids and the start of the
// names. A table that fits is not changed.
func TestFittedTableIsNoWiderThanTheTerminal(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		cell := rapid.StringMatching(`[a-z漢é\x{301} ]{0,40}`)
		var rows [][]string
		for range rapid.IntRange(1, 5).Draw(t, "rows") {
			rows = append(rows, []string{
				"#1", shorten(cell.Draw(t, "name"), 40), shorten(cell.Draw(t, "tags"), 40),
				shorten(cell.Draw(t, "text"), 40),
			})
		}
		before := make([][]string, len(rows))
		for i := range rows {
			before[i] = slices.Clone(rows[i])
		}
		width := rapid.IntRange(7, 140).Draw(t, "width")
		fitColumns(rows, width)
		fits := printedWidth(t, before) <= width
		if got := printedWidth(t, rows); got > width {
			t.Errorf("%q is %d wide in %d characters", rows, got, width)
		}
		for i := range rows {
			if fits && !slices.Equal(rows[i], before[i]) {
				t.Errorf("%q fits in %d characters, and becomes %q", before[i], width, rows[i])
			}
		}
	})
}

func printedWidth(t *rapid.T, rows [][]string) (width int) {
	var b strings.Builder
	printTable(&b, rows)
	for line := range strings.Lines(b.String()) {
		width = max(width, columns(strings.TrimSuffix(line, "\n")))
	}
	return width
}
