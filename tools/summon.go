package tools

import (
	"context"

	"annotator"
)

// Summoner lists snapshots and holds the one conversation with one. A mistake of the calling model is a *Failure.
type Summoner interface {
	// List returns at most limit snapshots, newest first, of a kind and a thread if these are not zero.
	List(ctx context.Context, kind string, thread int64, limit int) ([]annotator.Snapshot, error)
	// Open opens a conversation with a snapshot and asks the first question.
	Open(ctx context.Context, snapshot int64, question string) (Answer, error)
	// Continue asks another question in the open conversation.
	Continue(ctx context.Context, question string) (Answer, error)
	// Dismiss ends the open conversation and stores its summary.
	Dismiss(ctx context.Context, summary string) error
}

// Answer is the answer of the model at a snapshot.
type Answer struct {
	Snapshot annotator.Snapshot
	Text     string
	Left     int // number of questions that the scene may still ask
}

// maxQuestion is the maximum length of a question or a summary, in code points.
const maxQuestion = 2000

type snapshotView struct {
	ID      int64  `json:"id"`
	Type    string `json:"type"`
	Scene   int    `json:"scene"`
	Thread  int64  `json:"thread"`
	Entries int    `json:"entries"`
}

func viewSnapshot(s *annotator.Snapshot) snapshotView {
	return snapshotView{ID: s.ID, Type: s.Kind, Scene: s.Scene, Thread: s.Thread, Entries: s.Entries}
}

// answerResult is the result of a call that asks a snapshot.
func (env *Env) answerResult(a Answer, err error) (Result, error) {
	if err != nil {
		return Result{}, err
	}
	return Result{Content: annotator.EncodeJSON(struct {
		OK       bool         `json:"ok"`
		Snapshot snapshotView `json:"snapshot"`
		Answer   string       `json:"answer"`
		Left     int          `json:"questions_left"`
	}{true, viewSnapshot(&a.Snapshot), truncate(a.Text, env.maxContent()), a.Left})}, nil
}
