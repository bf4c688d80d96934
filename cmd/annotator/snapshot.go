package main

import (
	"context"
	"fmt"
	"path/filepath"
	"time"

	"annotator"
	"annotator/storage"
	"annotator/view"

	"github.com/spf13/cobra"
)

func newSnapshot(a *app) *cobra.Command {
	return group("snapshot", "List, show, compare, ask and create the snapshots of a run", `
List, show, compare, ask and create the snapshots of a run. There is one after each scene: a position in the journal
from which the context of the model is reproduced byte for byte. One of the type curator_fork has a question about
entries that the model was asked as the curator, with its answer: ask it why it decided so.`,
		"  annotator snapshot list\n  annotator snapshot ask 40 \"Who knew of the brass key?\"",
		newSnapshotList(a), newSnapshotShow(a), newSnapshotDiff(a), newSnapshotAsk(a), newSnapshotCreate(a))
}

// snapshotView is a snapshot as it is printed.
type snapshotView struct {
	ID       int64     `json:"id"`
	Type     string    `json:"type"`
	Name     string    `json:"name,omitempty"` // that a person gave it
	Time     time.Time `json:"time"`
	Scene    int       `json:"scene"`
	Thread   int64     `json:"thread"`
	Title    string    `json:"title"`    // of the thread
	Trace    int64     `json:"trace"`    // newest row of the journal
	Revision int64     `json:"revision"` // newest revision
	Entries  int       `json:"entries"`  // live
	Tokens   int       `json:"tokens"`   // of the window

	Part *partSnapshot `json:"part,omitempty"` // of a database that was joined from parts: which has the window
}

// partSnapshot is the snapshot of a part of the story that was joined.
type partSnapshot struct {
	Number   int    `json:"number"`   // of the part
	Database string `json:"database"` // of the part
	Snapshot int64  `json:"snapshot"` // there
}

// place is where the story was read to, as people name it.
func (v *snapshotView) place() string {
	label := oneLine(view.SceneLabel(&annotator.Thread{ID: v.Thread, Title: v.Title}, v.Scene))
	if v.Part != nil {
		label += fmt.Sprintf(" (part %d, snapshot %d there)", v.Part.Number, v.Part.Snapshot)
	}
	return label
}

func viewSnapshot(ctx context.Context, db *storage.DB, s *annotator.Snapshot) (snapshotView, error) {
	scene, err := db.Scenes.Get(ctx, s.Scene)
	if err != nil {
		return snapshotView{}, err
	}
	part, err := partOf(ctx, db, s)
	return snapshotView{
		Part: part,
		ID:   s.ID, Type: s.Kind, Name: s.Name, Time: time.UnixMilli(s.Created).UTC(), Scene: s.Scene, Thread: s.Thread,
		Title: scene.Thread.Title,
		Trace: s.Trace, Revision: s.Revision, Entries: s.Entries, Tokens: s.Tokens,
	}, err
}

// partOf returns the snapshot of a part with the window of a snapshot; nil if it has its own.
func partOf(ctx context.Context, db *storage.DB, s *annotator.Snapshot) (*partSnapshot, error) {
	step, err := db.Joins.StepOf(ctx, s.Trace)
	if err != nil || step == nil {
		return nil, err
	}
	path := filepath.Join(filepath.Dir(db.Path()), filepath.FromSlash(step.Path))
	return &partSnapshot{step.Part, path, step.Snapshot}, nil
}

// openPart opens the database with the window of a snapshot, and returns the snapshot there. That of a story without
// parts is the one at hand.
func openPart(ctx context.Context, db *storage.DB, at *annotator.Snapshot, open *closers) (*storage.DB,
	*annotator.Snapshot, error,
) {
	part, err := partOf(ctx, db, at)
	if err != nil || part == nil {
		return db, at, err
	}
	there, err := storage.Open(ctx, part.Database)
	if annotator.KindOf(err) == annotator.NotFound {
		return nil, nil, annotator.Errorf(annotator.NotFound,
			"snapshot %d is one of part %d, whose database is not at %s", at.ID, part.Number, part.Database).
			WithAdvice("put the folder of the parts back beside the database")
	}
	if err != nil {
		return nil, nil, err
	}
	open.add(there.Close)
	found, err := there.Snapshots.Get(ctx, part.Snapshot)
	return there, &found, err
}

// findSnapshot reads the snapshot with the number that an argument holds.
func findSnapshot(ctx context.Context, db *storage.DB, number string) (annotator.Snapshot, error) {
	point, err := view.ParsePoint("snapshot:" + number)
	if err != nil {
		return annotator.Snapshot{}, annotator.Errorf(annotator.Misused, "%q is not the number of a snapshot", number).
			WithAdvice("`annotator snapshot list` lists them")
	}
	return db.Snapshots.Get(ctx, point.ID)
}
