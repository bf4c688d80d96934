package main

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"annotator"
	"annotator/codex"
	"annotator/exporters"
	"annotator/storage"

	"github.com/spf13/cobra"
)

// showOptions are what `annotator show` is told.
type showOptions struct {
	*app
	db      string
	name    string
	asOf    string
	history bool
	json    bool
}

func newShow(a *app) *cobra.Command {
	o := &showOptions{app: a}
	cmd := &cobra.Command{
		Use:   "show TERM|ID",
		Short: "Show one entry with what it rests on",
		Long: described(`
Show an entry: its names with where they are first known, its claims, and the quotations that they rest on. TERM may be any of
its names. --history tells, line by line, when and where in the story each part of it came to be, and by whom.`,
			exitMisused, exitHalted),
		Example: `  annotator show "Ysolde Marrow"
  annotator show 12 --history
  annotator show --db book.annotator.db --json Marrow
  annotator show Marrow --as-of scene:40`,
		Args: arguments(1, anyNumber),
		RunE: func(cmd *cobra.Command, args []string) error {
			o.name = strings.Join(args, " ")
			ctx := cmd.Context()
			return withDatabase(ctx, o.db, func(db *storage.DB) error { return o.run(ctx, db) })
		},
	}
	flags := cmd.Flags()
	databaseFlag(flags, &o.db)
	asOfFlag(flags, &o.asOf)
	flags.BoolVar(&o.history, "history", false, "show every revision")
	flags.BoolVar(&o.json, "json", false, "print JSON")
	return cmd
}

// shownEntry is what show prints as JSON.
type shownEntry struct {
	exporters.Entry
	AsOf    *annotator.Position `json:"as_of,omitempty"`   // with --as-of
	History []change            `json:"history,omitempty"` // with --history, oldest first
}

func (o *showOptions) run(ctx context.Context, db *storage.DB) error {
	e, moment, err := o.find(ctx, db, o.name)
	if err != nil {
		return err
	}
	places := newPlaces(ctx, db)
	shown := shownEntry{Entry: places.export([]annotator.Entry{*e})[0], AsOf: places.asOf(moment)}
	if o.history {
		if shown.History, err = changes(ctx, db.Glossary, places, e.ID, moment); err != nil {
			return err
		}
	}
	if places.err != nil {
		return places.err
	}
	if o.json {
		return o.printJSON(shown)
	}
	if shown.AsOf != nil {
		fmt.Fprintln(o.out, standing(shown.AsOf))
	}
	if o.history {
		return printHistory(o.out, e.Name(), shown.History)
	}
	if err := o.printRedirect(ctx, db, e); err != nil {
		return err
	}
	return printEntry(o.out, &shown.Entry)
}

// printRedirect names the entry that took the place of one that was merged.
func (o *showOptions) printRedirect(ctx context.Context, db *storage.DB, e *annotator.Entry) error {
	if e.MergedInto == 0 {
		return nil
	}
	target, _, err := o.find(ctx, db, strconv.FormatInt(e.MergedInto, 10))
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(o.out, "merged into #%d %s\n", target.ID, oneLine(target.Name()))
	return err
}

func (o *showOptions) find(ctx context.Context, db *storage.DB, name string) (*annotator.Entry, *storage.Moment, error) {
	if o.asOf != "" {
		return findEntryAt(ctx, db, name, o.asOf)
	}
	e, err := findEntry(ctx, db.Glossary, name)
	return e, nil, err
}

// findEntry finds an entry by its id, else by any of its names.
func findEntry(ctx context.Context, g *storage.Glossary, name string) (*annotator.Entry, error) {
	if id, err := strconv.ParseInt(strings.TrimPrefix(name, "#"), 10, 64); err == nil {
		e, err := g.Entry(ctx, id)
		if annotator.KindOf(err) != annotator.NotFound {
			return e, err
		}
	}
	named, err := g.ByName(ctx, name)
	if err != nil {
		return nil, err
	}
	if len(named) == 0 {
		return nil, noEntry(ctx, g, name)
	}
	if len(named) > 1 && named[1].Status.Live() && codex.Normalize(named[0].Name()) != codex.Normalize(name) {
		return nil, annotator.Errorf(annotator.Misused, "several entries are called %q: %s", name, briefly(named)).WithAdvice("name one by its id")
	}
	return &named[0], nil
}

func noEntry(ctx context.Context, g *storage.Glossary, name string) error {
	err := annotator.Errorf(annotator.NotFound, "there is no entry %q", name)
	near, searchErr := g.Search(ctx, annotator.Query{Text: name, Limit: 3})
	if searchErr != nil || len(near) == 0 {
		return err.WithAdvice("`annotator search` finds entries by words")
	}
	return err.WithAdvice("did you mean %s?", briefly(near))
}

func briefly(entries []annotator.Entry) string {
	names := make([]string, len(entries))
	for i := range entries {
		names[i] = fmt.Sprintf("#%d %s", entries[i].ID, entries[i].Name())
	}
	return strings.Join(names, ", ")
}
