package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"annotator"
	"annotator/storage"

	"github.com/spf13/cobra"
)

// snapshotDiffOptions are what `annotator snapshot diff` is told.
type snapshotDiffOptions struct {
	*app
	db   string
	json bool
}

func newSnapshotDiff(a *app) *cobra.Command {
	o := &snapshotDiffOptions{app: a}
	cmd := &cobra.Command{
		Use:   "diff A B",
		Short: "Tell what has become of the codex between two snapshots",
		Long: described(`
Tell which entries were made, changed and taken out between two snapshots, whichever is named first: of a changed entry, what it
is called, its status, its tags, its names and its claims.`, exitMisused, exitHalted),
		Example: "  annotator snapshot diff 12 40\n  annotator snapshot diff 12 40 --json",
		Args:    arguments(2, 2),
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx := cmd.Context()
			return withDatabase(ctx, o.db, func(db *storage.DB) error { return o.run(ctx, db, args) })
		},
	}
	databaseFlag(cmd.Flags(), &o.db)
	cmd.Flags().BoolVar(&o.json, "json", false, "print JSON")
	return cmd
}

// difference is what has become of the codex.
type difference struct {
	From    snapshotView      `json:"from"`
	To      snapshotView      `json:"to"`
	Added   []entryDifference `json:"added"`
	Changed []entryDifference `json:"changed"`
	Retired []entryDifference `json:"retired"` // or merged into others
}

// entryDifference is what has become of an entry. Of an added one, all it has is added.
type entryDifference struct {
	ID      int64            `json:"id"`
	Term    string           `json:"term"` // at the later snapshot
	Status  annotator.Status `json:"status"`
	Merged  int64            `json:"merged_into,omitempty"`
	Renamed *renaming        `json:"renamed,omitempty"`
	Was     annotator.Status `json:"status_was,omitempty"` // where that is another
	Tags    setDifference    `json:"tags"`
	Aliases setDifference    `json:"aliases"`
	Claims  setDifference    `json:"claims"`
}

// renaming is what an entry was called, and is.
type renaming struct {
	From string `json:"from"`
	To   string `json:"to"`
}

// setDifference is what has come and what has gone.
type setDifference struct {
	Added   []string `json:"added"`
	Removed []string `json:"removed"`
}

func (d *setDifference) empty() bool { return len(d.Added) == 0 && len(d.Removed) == 0 }

func (o *snapshotDiffOptions) run(ctx context.Context, db *storage.DB, named []string) error {
	var ends [2]annotator.Snapshot
	for i := range ends {
		id, err := snapshotNumber(named[i])
		if err != nil {
			return err
		}
		if ends[i], err = db.Snapshots.Get(ctx, id); err != nil {
			return err
		}
	}
	from, to := &ends[0], &ends[1]
	if from.ID > to.ID {
		from, to = to, from
	}
	d, err := differ(ctx, db, from, to)
	if err != nil {
		return err
	}
	if o.json {
		return o.printJSON(d)
	}
	return d.print(o.out)
}

func differ(ctx context.Context, db *storage.DB, from, to *annotator.Snapshot) (*difference, error) {
	before, after, err := db.History.Between(ctx, from, to)
	if err != nil {
		return nil, err
	}
	d := &difference{Added: []entryDifference{}, Changed: []entryDifference{}, Retired: []entryDifference{}}
	if d.From, err = viewSnapshot(ctx, db, from); err != nil {
		return nil, err
	}
	if d.To, err = viewSnapshot(ctx, db, to); err != nil {
		return nil, err
	}
	were := map[int64]*annotator.Entry{}
	for i := range before {
		were[before[i].ID] = &before[i]
	}
	for i := range after {
		d.add(cmp.Or(were[after[i].ID], &annotator.Entry{}), &after[i])
	}
	return d, nil
}

// add puts an entry where it belongs. One that was made and retired meanwhile, or that is again as it was, is left out.
func (d *difference) add(was, e *annotator.Entry) {
	change := compare(was, e)
	switch {
	case was.ID == 0 && e.Status.Live():
		d.Added = append(d.Added, change)
	case was.Status.Live() && !e.Status.Live():
		d.Retired = append(d.Retired, change)
	case was.ID != 0 && change.anything():
		d.Changed = append(d.Changed, change)
	}
}

func (c *entryDifference) anything() bool {
	return c.Renamed != nil || c.Was != "" || !c.Tags.empty() || !c.Aliases.empty() || !c.Claims.empty()
}

// compare tells what has become of an entry; an empty one is one that was not there.
func compare(was, e *annotator.Entry) entryDifference {
	c := entryDifference{
		ID: e.ID, Term: e.Name(), Status: e.Status, Merged: e.MergedInto,
		Tags: compareSets(was.Tags, e.Tags), Aliases: compareSets(names(was), names(e)), Claims: compareSets(holding(was), holding(e)),
	}
	if was.ID != 0 && was.Name() != e.Name() {
		c.Renamed = &renaming{was.Name(), e.Name()}
	}
	if was.ID != 0 && was.Status != e.Status {
		c.Was = was.Status
	}
	return c
}

func compareSets(was, is []string) setDifference {
	without := func(set, other []string) []string {
		left := []string{}
		for _, item := range set {
			if !slices.Contains(other, item) {
				left = append(left, item)
			}
		}
		return left
	}
	return setDifference{Added: without(is, was), Removed: without(was, is)}
}

func names(e *annotator.Entry) []string {
	var names []string
	for _, alias := range e.Aliases {
		names = append(names, alias.Name)
	}
	return names
}

// holding returns the claims that hold.
func holding(e *annotator.Entry) []string {
	var texts []string
	for _, c := range e.Claims {
		if c.Until == 0 {
			texts = append(texts, c.Text)
		}
	}
	return texts
}

func (d *difference) print(w io.Writer) error {
	fmt.Fprintf(w, "snapshot %d (scene %d) to snapshot %d (scene %d): %d added, %d changed, %d retired\n",
		d.From.ID, d.From.Scene, d.To.ID, d.To.Scene, len(d.Added), len(d.Changed), len(d.Retired))
	for _, part := range []struct {
		title   string
		entries []entryDifference
	}{{"added", d.Added}, {"changed", d.Changed}, {"retired", d.Retired}} {
		if len(part.entries) > 0 {
			fmt.Fprintf(w, "\n%s\n", part.title)
		}
		for i := range part.entries {
			if err := part.entries[i].print(w); err != nil {
				return err
			}
		}
	}
	return nil
}

func (c *entryDifference) print(w io.Writer) error {
	var lines []string
	if c.Renamed != nil {
		lines = append(lines, fmt.Sprintf("name: %s -> %s", oneLine(c.Renamed.From), oneLine(c.Renamed.To)))
	}
	if c.Was != "" {
		lines = append(lines, fmt.Sprintf("status: %s -> %s", c.Was, c.Status))
	}
	if c.Merged != 0 {
		lines = append(lines, fmt.Sprintf("merged into #%d", c.Merged))
	}
	for _, set := range []struct {
		what string
		setDifference
	}{{"tag", c.Tags}, {"name", c.Aliases}, {"claim", c.Claims}} {
		for _, item := range set.Removed {
			lines = append(lines, fmt.Sprintf("- %s: %s", set.what, shortened(item, 100)))
		}
		for _, item := range set.Added {
			lines = append(lines, fmt.Sprintf("+ %s: %s", set.what, shortened(item, 100)))
		}
	}
	_, err := fmt.Fprintf(w, "  #%d %s\n%s", c.ID, oneLine(c.Term), indented(lines))
	return err
}

func indented(lines []string) string {
	if len(lines) == 0 {
		return ""
	}
	return "    " + strings.Join(lines, "\n    ") + "\n"
}
