package exporters

import (
	"context"
	"io"
	"strings"

	"annotator/codex"
)

// writeNames writes a table of names as CSV, with a line for each entry. Its cells are those of the format csv.
func writeNames(ctx context.Context, w io.Writer, c *Codex) error {
	mentions, err := c.History.MentionsOf(ctx, each(c.Entries, func(e Entry) int64 { return e.ID }))
	if err != nil {
		return err
	}
	const header = "id,revisions,term,disambiguator,tags,names,status,merged_into,mentions,first_scene,first_post"
	return writeTable(w, strings.Split(header, ","), c.Entries, func(row func(...any), e *Entry) {
		var into any = ""
		if e.MergedInto != 0 {
			into = e.MergedInto
		}
		row(e.ID, e.Revisions, e.Term, e.Disambiguator, strings.Join(e.Tags, "\n"), strings.Join(e.otherNames(), "\n"),
			e.Status, into, mentions[e.ID], e.First.Scene, e.First.Post)
	})
}

// otherNames returns the names without the term.
func (e *Entry) otherNames() []string {
	names := each(e.Aliases, func(a Alias) string { return a.Name })
	return codex.OtherNames(names, e.Term)
}
