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
	Entries []exporters.Entry   `json:"entries"` // as in an export, best match first
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
	query := annotator.Query{Text: text, Tags: tags, Statuses: statuses, Limit: o.limit}
	var found []annotator.Entry
	if moment == nil {
		found, err = db.Glossary.Search(ctx, query)
	} else {
		found, err = db.History.Search(ctx, *moment, query)
	}
	if err != nil {
		return nil, err
	}
	at := db.Scenes.Positions(ctx)
	return &searchAnswer{Query: text, AsOf: positionOf(moment, at), Count: len(found), Entries: exported(found, at), found: found}, at.Err
}

func (s *searchAnswer) print(w io.Writer) {
	if s.AsOf != nil {
		fmt.Fprintf(w, "as of %s\n", describe(*s.AsOf))
	}
	if len(s.found) == 0 {
		fmt.Fprintln(w, "no entry was found")
	}
	printEntries(w, s.found)
}
