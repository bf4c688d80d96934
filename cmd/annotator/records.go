package main

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"iter"

	"annotator/exporters"
	"annotator/storage"
	"annotator/view"
)

// record is an item of a long output, printed as a line of JSON or as a row of a table.
type record struct {
	value any
	cells []string
}

// records converts rows to records.
func records[T any](rows iter.Seq2[*T, error], convert func(*T) record) iter.Seq2[record, error] {
	return func(yield func(record, error) bool) {
		for row, err := range rows {
			if err != nil {
				yield(record{}, err)
				return
			}
			if !yield(convert(row), nil) {
				return
			}
		}
	}
}

// newest returns the last n records of a list; all if n is 0.
func newest(list iter.Seq2[record, error], n int) iter.Seq2[record, error] {
	if n == 0 {
		return list
	}
	return func(yield func(record, error) bool) {
		var kept []record // a ring buffer; its oldest record is at next
		next := 0
		for r, err := range list {
			switch {
			case err != nil:
				yield(record{}, err)
				return
			case len(kept) < n:
				kept = append(kept, r)
			default:
				kept[next] = r
				next = (next + 1) % n
			}
		}
		for i := range kept {
			if !yield(kept[(next+i)%len(kept)], nil) {
				return
			}
		}
	}
}

// printRecords prints records to a file or to standard output: as JSON lines, or as a table.
func (a *app) printRecords(out string, asTable bool, list iter.Seq2[record, error]) error {
	write := writeJSONLines
	if asTable {
		write = writeRows
	}
	if isStdout(out) {
		return write(a.out, list)
	}
	return exporters.WriteFile(out, func(w io.Writer) error {
		file := &output{Writer: w}
		return cmp.Or(write(file, list), file.err)
	})
}

func writeJSONLines(w io.Writer, list iter.Seq2[record, error]) error {
	for r, err := range list {
		if err != nil {
			return err
		}
		if err := writeJSON(w, r.value, ""); err != nil {
			return err
		}
	}
	return nil
}

// writeRows aligns 200 rows at a time, so that a long output is not held in memory.
func writeRows(w io.Writer, list iter.Seq2[record, error]) error {
	var rows [][]string
	for r, err := range list {
		if err != nil {
			return err
		}
		if rows = append(rows, r.cells); len(rows) == 200 {
			printShortened(w, rows)
			rows = nil
		}
	}
	printShortened(w, rows)
	return nil
}

// sceneLabels names scenes by their numbers: "Chapter XVIII, scene 60". It reads a scene once for consecutive records.
type sceneLabels struct {
	db   *storage.DB
	last int
	text string
	err  error // the first
}

// label returns the name of a scene; "-" for number 0.
func (l *sceneLabels) label(ctx context.Context, n int) string {
	switch n {
	case 0:
		return "-"
	case l.last:
		return l.text
	}
	scene, err := l.db.Scenes.Get(ctx, n)
	if err != nil {
		l.err = cmp.Or(l.err, err)
		return fmt.Sprintf("scene %d", n)
	}
	l.last, l.text = n, oneLine(view.SceneLabel(&scene.Thread, n))
	return l.text
}

func unixSeconds(millis int64) float64 { return float64(millis) / 1000 }

// rawJSON returns a text of a model: unchanged if it is JSON, else as a JSON string.
func rawJSON(text string) json.RawMessage {
	if text == "" {
		return nil
	}
	if json.Valid([]byte(text)) {
		return json.RawMessage(text)
	}
	encoded, _ := json.Marshal(text) // a string can always be encoded
	return encoded
}
