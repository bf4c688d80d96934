package main

import (
	"cmp"
	"context"
	"fmt"
	"io"

	"annotator"
	"annotator/storage"
	"annotator/view"

	"github.com/spf13/cobra"
)

func newSnapshotDiff(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "diff A B",
		Short: "Compare the codex at two snapshots",
		Long: longHelp(`
List the entries that were added, changed and retired between two snapshots, given in any order. For a changed entry,
list the changes of its name, its status, its tags, its other names and its facts.`,
			exitMisused, exitHalted, exitInterrupted),
		Example: "  annotator snapshot diff 12 40\n  annotator snapshot diff 12 40 --json",
		Args:    arguments(2, 2),
	}
	return a.answers(cmd, func(ctx context.Context, db *storage.DB, args []string) (result, error) {
		return diffSnapshots(ctx, db, args[0], args[1])
	})
}

// snapshotDiff is the difference between the codex at two snapshots.
type snapshotDiff struct {
	From    snapshotView `json:"from"`
	To      snapshotView `json:"to"`
	Added   []entryDiff  `json:"added"`
	Changed []entryDiff  `json:"changed"`
	Retired []entryDiff  `json:"retired"` // or merged into others
}

// entryDiff is the change of an entry. For a new entry, everything is added.
type entryDiff struct {
	ID      int64            `json:"id"`
	Term    string           `json:"term"` // at the later snapshot
	Status  annotator.Status `json:"status"`
	Merged  int64            `json:"merged_into,omitempty"`
	Renamed *renaming        `json:"renamed,omitempty"`
	Was     annotator.Status `json:"status_was,omitempty"` // if it has changed
	Tags    setDiff          `json:"tags"`
	Aliases setDiff          `json:"aliases"`
	Claims  setDiff          `json:"claims"`
}

// renaming is the name of an entry before and after.
type renaming struct {
	From string `json:"from"`
	To   string `json:"to"`
}

// setDiff is the difference between two sets.
type setDiff struct {
	Added   []string `json:"added"`
	Removed []string `json:"removed"`
}

func newSetDiff(before, after []string) setDiff {
	return setDiff{Added: without(after, before), Removed: without(before, after)}
}

func (d *setDiff) empty() bool { return len(d.Added) == 0 && len(d.Removed) == 0 }

func diffSnapshots(ctx context.Context, db *storage.DB, a, b string) (*snapshotDiff, error) {
	from, err := findSnapshot(ctx, db, a)
	if err != nil {
		return nil, err
	}
	to, err := findSnapshot(ctx, db, b)
	if err != nil {
		return nil, err
	}
	if from.ID > to.ID {
		from, to = to, from
	}
	before, after, err := view.Between(ctx, db, &from, &to)
	if err != nil {
		return nil, err
	}
	d := &snapshotDiff{Added: []entryDiff{}, Changed: []entryDiff{}, Retired: []entryDiff{}}
	if d.From, err = viewSnapshot(ctx, db, &from); err != nil {
		return nil, err
	}
	if d.To, err = viewSnapshot(ctx, db, &to); err != nil {
		return nil, err
	}
	earlier := map[int64]*annotator.Entry{}
	for i := range before {
		earlier[before[i].ID] = &before[i]
	}
	for i := range after {
		d.add(cmp.Or(earlier[after[i].ID], &annotator.Entry{}), &after[i])
	}
	return d, nil
}

// add appends the change of an entry, if it has one. It omits entries that were made and retired in between.
func (d *snapshotDiff) add(was, e *annotator.Entry) {
	change := diffEntry(was, e)
	switch {
	case was.ID == 0 && e.Status.Live():
		d.Added = append(d.Added, change)
	case was.Status.Live() && !e.Status.Live():
		d.Retired = append(d.Retired, change)
	case was.ID != 0 && change.any():
		d.Changed = append(d.Changed, change)
	}
}

func (c *entryDiff) any() bool {
	return c.Renamed != nil || c.Was != "" || !c.Tags.empty() || !c.Aliases.empty() || !c.Claims.empty()
}

// diffEntry compares an entry with an earlier version, which is the zero entry for a new one.
func diffEntry(was, e *annotator.Entry) entryDiff {
	c := entryDiff{
		ID: e.ID, Term: e.Name(), Status: e.Status, Merged: e.MergedInto,
		Tags: newSetDiff(was.Tags, e.Tags), Aliases: newSetDiff(was.Names(), e.Names()),
		Claims: newSetDiff(claimsInForce(was), claimsInForce(e)),
	}
	if was.ID != 0 && was.Name() != e.Name() {
		c.Renamed = &renaming{was.Name(), e.Name()}
	}
	if was.ID != 0 && was.Status != e.Status {
		c.Was = was.Status
	}
	return c
}

func claimsInForce(e *annotator.Entry) (texts []string) {
	for _, c := range e.Claims {
		if c.Until == 0 {
			texts = append(texts, c.Text)
		}
	}
	return texts
}

func (d *snapshotDiff) print(w io.Writer) {
	printIndented(w, "", fmt.Sprintf("snapshot %d (scene %d) to snapshot %d (scene %d): %d added, %d changed, "+
		"%d retired",
		d.From.ID, d.From.Scene, d.To.ID, d.To.Scene, len(d.Added), len(d.Changed), len(d.Retired)))
	for _, part := range []struct {
		title   string
		entries []entryDiff
	}{{"added", d.Added}, {"changed", d.Changed}, {"retired", d.Retired}} {
		if len(part.entries) > 0 {
			fmt.Fprintf(w, "\n%s\n", part.title)
		}
		for i := range part.entries {
			part.entries[i].print(w)
		}
	}
}

func (c *entryDiff) print(w io.Writer) {
	printIndented(w, fmt.Sprintf("  #%d ", c.ID), oneLine(c.Term))
	if c.Renamed != nil {
		printIndented(w, "    name: ", oneLine(c.Renamed.From)+" -> "+oneLine(c.Renamed.To))
	}
	if c.Was != "" {
		fmt.Fprintf(w, "    status: %s -> %s\n", c.Was, c.Status)
	}
	if c.Merged != 0 {
		fmt.Fprintf(w, "    merged into #%d\n", c.Merged)
	}
	for _, set := range []struct {
		what string
		setDiff
	}{{"tag", c.Tags}, {"name", c.Aliases}, {"fact", c.Claims}} {
		for _, item := range set.Removed {
			printIndented(w, "    - "+set.what+": ", shorten(item, 100))
		}
		for _, item := range set.Added {
			printIndented(w, "    + "+set.what+": ", shorten(item, 100))
		}
	}
}
