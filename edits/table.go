package edits

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"annotator"
	"annotator/exporters"
)

// readTable reads a table with a line for each entry, as the formats names and csv write it. The columns may be in any
// order, and any but the required one may be missing.
func readTable(text []byte, required string) (*File, error) {
	text = bytes.TrimPrefix(text, []byte("\uFEFF"))
	if !utf8.Valid(text) {
		return nil, annotator.Errorf(annotator.Misused, "the table is not in UTF-8; save it as CSV in UTF-8")
	}
	table := csv.NewReader(bytes.NewReader(text))
	table.Comma = separatorOf(text)
	table.ReuseRecord = true
	header, err := table.Read()
	if err != nil {
		return nil, misread(1, "this is no table: %v", err)
	}
	header = slices.Clone(header)
	for i, name := range header {
		if err := checkColumn(header[:i], name); err != nil {
			return nil, err
		}
	}
	if !slices.Contains(header, required) {
		return nil, misread(1, `there is no column %q: this reads the tables of the format names and entries.csv `+
			`of the format csv; facts are changed in JSON or YAML`, required)
	}
	f := &File{}
	for {
		row, err := table.Read()
		if errors.Is(err, io.EOF) {
			return f, f.checkIDs()
		}
		if parse := (*csv.ParseError)(nil); errors.As(err, &parse) {
			return nil, misread(parse.Line, "%v", parse.Err)
		}
		if err != nil {
			return nil, err
		}
		line, _ := table.FieldPos(0)
		e, err := newRow(header, row, line)
		if err != nil {
			return nil, err
		}
		f.entries = append(f.entries, *e)
	}
}

// separatorOf returns the character between the columns: programs of some languages write semicolons.
func separatorOf(text []byte) rune {
	header, _, _ := bytes.Cut(text, []byte("\n"))
	for _, separator := range ";\t" {
		if bytes.ContainsRune(header, separator) && !bytes.ContainsRune(header, ',') {
			return separator
		}
	}
	return ','
}

// computedColumns are those that are there to be read.
var computedColumns = []string{
	"mentions", "present", "definition", "first_scene", "first_post", "last_scene", "last_post",
}

func checkColumn(before []string, name string) error {
	known := append([]string{
		"id", "revisions", "term", "disambiguator", "status", "tags", "names", "merged_into", "locked",
	}, computedColumns...)
	switch {
	case !slices.Contains(known, name):
		return misread(1, "there is no column %.40q", name)
	case slices.Contains(before, name):
		return misread(1, "the column %q comes twice", name)
	}
	return nil
}

// newRow returns the entry of a row.
func newRow(header, row []string, line int) (*fileEntry, error) {
	e := &fileEntry{lines: lines{"": line}, isTable: true}
	for i, name := range header {
		text, err := exporters.Unguarded(row[i]), error(nil)
		path := name
		switch name {
		case "id":
			e.ID, err = cellNumber(text)
		case "revisions":
			var n int64
			n, err = cellNumber(text)
			e.Revisions = int(n)
		case "merged_into":
			e.MergedInto, err = cellNumber(text)
		case "term":
			e.Term = text
		case "definition":
			e.Definition = text // which is computed, so that its line does not count
			continue
		case "disambiguator":
			e.Disambiguator = text
		case "status":
			e.Status = annotator.Status(text)
		case "tags":
			e.Tags = cellLines(text)
		case "names":
			path = "aliases"
			for n, name := range cellLines(text) {
				e.Aliases = append(e.Aliases, exporters.Alias{Name: name})
				e.lines[pathOf("aliases", n, "name")] = line
			}
		case "locked":
			text = strings.ToLower(text) // spreadsheets write it in capitals
			if e.Locked = text == "true"; text != "true" && text != "false" {
				err = fmt.Errorf("it is true or false, and not %.40q", text)
			}
		default:
			continue
		}
		if err != nil {
			return nil, misread(line, "%s: %v", name, err)
		}
		e.lines[path] = line
	}
	if e.Revisions == 0 {
		delete(e.lines, "revisions")
	}
	return e, nil
}

// cellNumber reads a number; an empty cell is 0.
func cellNumber(text string) (int64, error) {
	if strings.TrimSpace(text) == "" {
		return 0, nil
	}
	n, err := strconv.ParseInt(strings.TrimSpace(text), 10, 64)
	if err != nil || n < 0 {
		return 0, fmt.Errorf("%.40q is no number", text)
	}
	return n, nil
}

// cellLines returns the items of a list in a cell.
func cellLines(text string) (items []string) {
	for line := range strings.Lines(text) {
		if item := strings.TrimSpace(line); item != "" {
			items = append(items, item)
		}
	}
	return items
}
