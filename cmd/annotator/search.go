package main

import (
	"context"
	"fmt"
	"io"
	"strings"

	"annotator"
	"annotator/exporters"
	"annotator/storage"

	"github.com/spf13/cobra"
)

// searchOptions are the options of `annotator search`.
type searchOptions struct {
	limit  int
	asOf   string
	filter *filter
}

func newSearch(a *app) *cobra.Command {
	var o searchOptions
	cmd := &cobra.Command{
		Use:   "search QUERY",
		Short: "Find entries by words",
		Long: longHelp(`
Find entries by words in their names and definitions, best match first: entries with all the words, else those with any
of them. All characters are literal. An empty query lists all entries. With --as-of, search the codex as it was at a
point of the story, without anything that is told later.`, exitMisused, exitHalted, exitInterrupted),
		Example: `  annotator search captain
  annotator search --db book.annotator.db --tag place "old harbour"
  annotator search --as-of scene:40 captain
  annotator search --json --limit 100 ""`,
		Args: arguments(1, unlimited),
	}
	flags := cmd.Flags()
	asOfFlag(flags, &o.asOf)
	o.filter = filterFlags(flags)
	limitFlag(flags, &o.limit, 20, "maximum `ENTRIES`; 0: all")
	return a.answers(cmd, func(ctx context.Context, db *storage.DB, args []string) (result, error) {
		return o.search(ctx, db, strings.Join(args, " "))
	})
}

// searchAnswer is what a search prints.
type searchAnswer struct {
	Query   string              `json:"query"`
	AsOf    *annotator.Position `json:"as_of,omitempty"` // with --as-of
	Count   int                 `json:"count"`
	More    bool                `json:"more"`    // than --limit
	Entries []exporters.Entry   `json:"entries"` // as in an export, best match first
	Close   []closeEntry        `json:"close"`   // where nothing was found: entries with a similar name
	Alike   []lookAlike         `json:"look_alikes,omitempty"`
	found   []annotator.Entry
}

func (o *searchOptions) search(ctx context.Context, db *storage.DB, text string) (*searchAnswer, error) {
	statuses, tags, err := o.filter.resolve()
	if err != nil {
		return nil, err
	}
	moment, err := momentAt(ctx, db, o.asOf)
	if err != nil {
		return nil, err
	}
	view, err := viewAt(ctx, db, o.asOf)
	if err != nil {
		return nil, err
	}
	page, err := view.Find(ctx, annotator.Query{Text: text, Tags: tags, Statuses: statuses, Limit: o.limit})
	if err != nil {
		return nil, err
	}
	whole, err := view.EntriesByID(ctx, page.IDs())
	if err != nil {
		return nil, err
	}
	found := make([]annotator.Entry, 0, len(whole))
	for _, id := range page.IDs() {
		found = append(found, *whole[id])
	}
	s := &searchAnswer{Query: text, More: len(found) < page.Total, Close: []closeEntry{}}
	if len(found) == 0 {
		entries, err := allEntries(ctx, view)
		if err != nil {
			return nil, err
		}
		selected := exporters.Filter{Statuses: statuses, Tags: tags}
		for _, e := range closeSpellings(selected.Select(entries), text) {
			s.Close = append(s.Close, closeEntry{e.ID, e.Name()})
		}
	}
	if s.Alike, err = lookAlikes(ctx, view, text, found); err != nil {
		return nil, err
	}
	at := db.Scenes.Positions(ctx)
	s.AsOf, s.Count, s.Entries, s.found = positionOf(moment, at), len(found), exported(found, at), found
	return s, at.Err
}

// closeEntry is an entry with a name like the one that was searched for.
type closeEntry struct {
	ID   int64  `json:"id"`
	Term string `json:"term"`
}

func (s *searchAnswer) print(w io.Writer) {
	if s.AsOf != nil {
		fmt.Fprintf(w, "as of %s\n", describe(*s.AsOf))
	}
	if len(s.found) == 0 {
		fmt.Fprintln(w, "no entry was found")
	}
	for _, e := range s.Close {
		fmt.Fprintf(w, "did you mean #%d %s?\n", e.ID, oneLine(e.Term))
	}
	printEntries(w, s.found)
	if s.More {
		fmt.Fprintln(w, "there are more; --limit 0 lists all")
	}
	printLookAlikes(w, s.Alike)
}
