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

// searchOptions are the options of `annotator search`.
type searchOptions struct {
	*app
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
	jsonFlag(flags, &o.json)
	return onDatabase(cmd, func(ctx context.Context, db *storage.DB, args []string) error {
		return o.run(ctx, db, strings.Join(args, " "))
	})
}

// searchAnswer is what a search prints as JSON.
type searchAnswer struct {
	Query   string              `json:"query"`
	AsOf    *annotator.Position `json:"as_of,omitempty"` // with --as-of
	Count   int                 `json:"count"`
	Entries []exporters.Entry   `json:"entries"` // as in an export, best match first
}

func (o *searchOptions) run(ctx context.Context, db *storage.DB, text string) error {
	statuses, tags, err := o.filter.resolve()
	if err != nil {
		return err
	}
	moment, err := momentAt(ctx, db, o.asOf)
	if err != nil {
		return err
	}
	query := annotator.Query{Text: text, Tags: tags, Statuses: statuses, Limit: o.limit}
	var found []annotator.Entry
	if moment == nil {
		found, err = db.Glossary.Search(ctx, query)
	} else {
		found, err = db.History.Search(ctx, *moment, query)
	}
	if err != nil {
		return err
	}
	at := newPositions(ctx, db)
	answer := searchAnswer{Query: text, AsOf: at.ofMoment(moment), Count: len(found)}
	if o.json {
		answer.Entries = at.export(found)
	}
	switch {
	case at.err != nil:
		return at.err
	case o.json:
		return o.printJSON(answer)
	case answer.AsOf != nil:
		fmt.Fprintf(o.out, "as of %s\n", describe(*answer.AsOf))
	}
	if len(found) == 0 {
		_, err := fmt.Fprintln(o.out, "no entry was found")
		return err
	}
	return o.printEntries(found)
}
