package exporters

import (
	"cmp"
	"context"
	"encoding/csv"
	"fmt"
	"io"
	"regexp"
	"strings"
)

// writeCSV writes tables as CSV (RFC 4180) in UTF-8, each with a header. Lists in a cell are separated by line feeds.
func writeCSV(_ context.Context, files Files, c *Codex) error {
	for _, table := range []struct {
		name   string
		header string
		rows   func(row func(cells ...any), e *Entry)
	}{
		{
			"entries.csv",
			"id,term,disambiguator,status,tags,present,definition,first_scene,first_post,last_scene,last_post," +
				"revisions,locked", entryRow,
		},
		{"names.csv", "entry,name,from_scene,from_post", nameRows},
		{
			"claims.csv",
			"entry,claim,text,kind,speaker,document,state,identity,earlier,as,from_scene,from_post," +
				"until_scene,until_post,ended,replaced_by",
			claimRows,
		},
		{"evidence.csv", "entry,claim,post,start,end,quote", evidenceRows},
	} {
		w, err := files.Create(table.name)
		if err != nil {
			return err
		}
		if err := writeTable(w, strings.Split(table.header, ","), c.Entries, table.rows); err != nil {
			return err
		}
	}
	w, err := files.Create("relations.csv")
	if err != nil {
		return err
	}
	return writeTable(w, relationColumns, c.relations(), relationRow)
}

// relationColumns are the columns of relationRow.
var relationColumns = []string{
	"entry", "claim", "term", "relation", "object", "object_entry", "kind", "earlier", "from_scene", "from_post",
	"until_scene", "until_post", "ended",
}

func relationRow(row func(...any), r *Relation) {
	var object, untilScene, untilPost any = "", "", ""
	if r.ObjectEntry != 0 {
		object = r.ObjectEntry
	}
	if r.Until != nil {
		untilScene, untilPost = r.Until.Scene, r.Until.Post
	}
	row(r.Entry, r.Claim, r.Term, r.Relation, r.Object, object, r.Kind, r.Earlier, r.From.Scene, r.From.Post,
		untilScene, untilPost, r.Ended)
}

func writeTable[Of any](w io.Writer, header []string, list []Of, rows func(func(...any), *Of)) error {
	out := csv.NewWriter(w)
	err := out.Write(header)
	row := func(values ...any) {
		if err == nil {
			err = out.Write(each(values, cell))
		}
	}
	for i := range list {
		rows(row, &list[i])
	}
	out.Flush()
	return cmp.Or(err, out.Error())
}

func entryRow(row func(...any), e *Entry) {
	row(e.ID, e.Term, e.Disambiguator, e.Status, strings.Join(e.Tags, "\n"), e.Present.told(), e.Definition,
		e.First.Scene, e.First.Post,
		e.Last.Scene, e.Last.Post, e.Revisions, e.Locked)
}

func nameRows(row func(...any), e *Entry) {
	for _, a := range e.Aliases {
		row(e.ID, a.Name, a.From.Scene, a.From.Post)
	}
}

func claimRows(row func(...any), e *Entry) {
	for _, c := range e.shown() {
		var untilScene, untilPost, replacedBy any = "", "", ""
		if c.Until != nil {
			untilScene, untilPost = c.Until.Scene, c.Until.Post
		}
		if c.ReplacedBy != 0 {
			replacedBy = c.ReplacedBy
		}
		row(e.ID, c.ID, c.Text, c.Kind, c.Speaker, c.Document, c.State, c.Identity, c.Earlier, c.As, c.From.Scene,
			c.From.Post, untilScene, untilPost, c.Ended, replacedBy)
	}
}

func evidenceRows(row func(...any), e *Entry) {
	for _, c := range e.shown() {
		for _, v := range c.Evidence {
			row(e.ID, c.ID, v.Post, v.Start, v.End, v.Quote)
		}
	}
}

var (
	// formula matches text that a spreadsheet may evaluate as a formula, with the quotes before it. A spreadsheet may
	// split cells at semicolons or tabs, and also at the line ends of a quoted cell.
	formula = regexp.MustCompile(`(^|[;\t\r\n])(['"]*[=+\-@＝＋－＠])`)
	// blank matches a cell that begins with white space, which a spreadsheet may skip.
	blank = regexp.MustCompile(`^'*[\t\r\n]`)
)

var (
	// guardedFormula and guardedBlank match what cell has written before a text.
	guardedFormula = regexp.MustCompile(`(^|[;\t\r\n])'(['"]*[=+\-@＝＋－＠])`)
	guardedBlank   = regexp.MustCompile(`^'+[\t\r\n]`)
)

// Unguarded returns the text of a cell without the apostrophes of cell.
func Unguarded(cell string) string {
	if guardedBlank.MatchString(cell) {
		cell = cell[1:]
	}
	return guardedFormula.ReplaceAllString(cell, "$1$2")
}

// cell returns the text of a cell. An apostrophe before a formula makes a spreadsheet read it as text, because the
// story is untrusted. See docs/formats.md for how to restore the text.
func cell(value any) string {
	text := formula.ReplaceAllString(fmt.Sprint(value), "$1'$2")
	if blank.MatchString(text) {
		return "'" + text
	}
	return text
}
