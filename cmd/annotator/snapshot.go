package main

import (
	"context"
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
}

// place is where the story was read to, as people name it.
func (v *snapshotView) place() string {
	return oneLine(view.SceneLabel(&annotator.Thread{ID: v.Thread, Title: v.Title}, v.Scene))
}

func viewSnapshot(ctx context.Context, db *storage.DB, s *annotator.Snapshot) (snapshotView, error) {
	scene, err := db.Scenes.Get(ctx, s.Scene)
	if err != nil {
		return snapshotView{}, err
	}
	return snapshotView{
		ID: s.ID, Type: s.Kind, Name: s.Name, Time: time.UnixMilli(s.Created).UTC(), Scene: s.Scene, Thread: s.Thread,
		Title: scene.Thread.Title,
		Trace: s.Trace, Revision: s.Revision, Entries: s.Entries, Tokens: s.Tokens,
	}, nil
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
