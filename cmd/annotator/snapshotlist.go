package main

import (
	"context"
	"fmt"
	"io"
	"strconv"

	"annotator"
	"annotator/storage"
	"annotator/view"

	"github.com/spf13/cobra"
)

func newSnapshotList(a *app) *cobra.Command {
	var query storage.SnapshotQuery
	var chapter string
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List the snapshots, newest first",
		Long: longHelp("List the snapshots of a run, newest first, with the position of each.", exitMisused, exitHalted,
			exitInterrupted),
		Example: `  annotator snapshot list
  annotator snapshot list --chapter XX --limit 0 --json`,
	}
	flags := cmd.Flags()
	types := annotator.SnapshotKinds()
	wordFlag(flags, &query.Kind, "type", types, "", "only snapshots of this `TYPE`: "+alternatives(types))
	chapterFlags(cmd, &chapter, &query.Thread, "only snapshots in")
	limitFlag(flags, &query.Limit, 20, "maximum `SNAPSHOTS`; 0: all")
	return a.answers(cmd, func(ctx context.Context, db *storage.DB, _ []string) (result, error) {
		if err := findChapter(ctx, view.At(db, view.Moment{}), chapter, &query.Thread); err != nil {
			return nil, err
		}
		return listSnapshots(ctx, db, query)
	})
}

// snapshotList is what `snapshot list` prints.
type snapshotList struct {
	views []snapshotView
	more  bool // than --limit
}

// MarshalJSON encodes the snapshots alone.
func (l *snapshotList) MarshalJSON() ([]byte, error) {
	return []byte(annotator.EncodeJSON(l.views)), nil
}

func listSnapshots(ctx context.Context, db *storage.DB, query storage.SnapshotQuery) (*snapshotList, error) {
	if err := require(ctx, query.Thread, db.Threads.Get); err != nil {
		return nil, err
	}
	limit := query.Limit
	if limit > 0 {
		query.Limit++ // one more shows whether there are more
	}
	found, err := db.Snapshots.List(ctx, query)
	list := &snapshotList{views: []snapshotView{}, more: limit > 0 && len(found) > limit}
	if list.more {
		found = found[:limit]
	}
	for i := range found {
		v, err := viewSnapshot(ctx, db, &found[i])
		if err != nil {
			return nil, err
		}
		list.views = append(list.views, v)
	}
	return list, err
}

func (l *snapshotList) print(w io.Writer) {
	if len(l.views) == 0 {
		fmt.Fprintln(w, "no snapshot was found")
		return
	}
	rows := [][]string{{"snapshot", "entries", "tokens", "taken", "after"}}
	for _, v := range l.views {
		rows = append(rows, []string{
			strconv.FormatInt(v.ID, 10), strconv.Itoa(v.Entries), shortNumber(v.Tokens), localTime(v.Time.UnixMilli()),
			v.label(),
		})
	}
	printShortened(w, rows)
	printMore(w, l.more)
}

// label is the place of the snapshot, with its name or the mark of a fork of the curator.
func (v *snapshotView) label() string {
	label := v.place()
	if v.Type == annotator.SnapshotFork {
		return label + ": asked as the curator"
	}
	if v.Name != "" {
		label += ": " + shorten(v.Name, 48)
	}
	return label
}
