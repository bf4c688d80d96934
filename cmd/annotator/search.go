package main

import (
	"context"
	"fmt"
	"strings"

	"annotator"
	"annotator/exporters"
	"annotator/storage"

	"github.com/spf13/cobra"
)

// searchOptions are what `annotator search` is told.
type searchOptions struct {
	*app
	db     string
	query  string
	limit  int
	asOf   string
	json   bool
	filter *filter
}

func newSearch(a *app) *cobra.Command {
	o := &searchOptions{app: a}
	cmd := &cobra.Command{
		Use:   "search QUERY",
		Short: "Find entries by words",
		Long: described(`
Find entries by words in their names and definitions, the best first: those with all the words, else those with any of
them. Every sign is taken literally. An empty query lists all entries. With --as-of the codex is searched as it stood at a point
of the story: nothing that is told later decides what is found.`,
			exitMisused, exitHalted),
		Example: `  annotator search captain
  annotator search --db book.annotator.db --tag place "old harbour"
  annotator search --as-of scene:40 captain
  annotator search --json --limit 100 ""`,
		Args: arguments(1, anyNumber),
		RunE: func(cmd *cobra.Command, args []string) error {
			o.query = strings.Join(args, " ")
			ctx := cmd.Context()
			return withDatabase(ctx, o.db, func(db *storage.DB) error { return o.run(ctx, db) })
		},
	}
	flags := cmd.Flags()
	databaseFlag(flags, &o.db)
	asOfFlag(flags, &o.asOf)
	o.filter = filterFlags(flags)
	flags.IntVar(&o.limit, "limit", 20, "at most so many `ENTRIES`; 0: all")
	flags.BoolVar(&o.json, "json", false, "print JSON")
	return cmd
}

// searchAnswer is what a search prints as JSON.
type searchAnswer struct {
	Query   string              `json:"query"`
	AsOf    *annotator.Position `json:"as_of,omitempty"` // with --as-of
	Count   int                 `json:"count"`
	Entries []exporters.Entry   `json:"entries"` // as in an export, the best first
}

func (o *searchOptions) run(ctx context.Context, db *storage.DB) error {
	if o.limit < 0 {
		return outOfRange("limit", "0 or more entries", o.limit)
	}
	chosen, tags, err := o.filter.resolve()
	if err != nil {
		return err
	}
	moment, err := momentAt(ctx, db, o.asOf)
	if err != nil {
		return err
	}
	found, err := o.search(ctx, db, moment, annotator.Query{Text: o.query, Tags: tags, Statuses: chosen, Limit: o.limit})
	if err != nil {
		return err
	}
	places := newPlaces(ctx, db)
	answer := searchAnswer{Query: o.query, AsOf: places.asOf(moment), Count: len(found)}
	if o.json {
		answer.Entries = places.export(found)
	}
	switch {
	case places.err != nil:
		return places.err
	case o.json:
		return o.printJSON(answer)
	case answer.AsOf != nil:
		fmt.Fprintln(o.out, standing(answer.AsOf))
	}
	return o.print(found)
}

func (o *searchOptions) search(ctx context.Context, db *storage.DB, moment *storage.Moment, query annotator.Query) ([]annotator.Entry, error) {
	if moment == nil {
		return db.Glossary.Search(ctx, query)
	}
	return db.History.Search(ctx, *moment, query)
}

func (o *searchOptions) print(found []annotator.Entry) error {
	if len(found) == 0 {
		_, err := fmt.Fprintln(o.out, "no entry was found")
		return err
	}
	return o.listEntries(found)
}
