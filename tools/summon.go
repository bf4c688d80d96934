package tools

import (
	"context"
	"fmt"
	"unicode/utf8"

	"annotator"
	"annotator/codex"
)

// Summoner is the past as a call asks it: snapshots, and the one conversation with the model as it was at one of them. What the
// model does wrong is a *Failure.
type Summoner interface {
	// Snapshots returns the newest snapshots, newest first, at most limit: of a kind and a thread where these are named.
	Snapshots(ctx context.Context, kind string, thread int64, limit int) ([]annotator.Snapshot, error)
	// Open opens a conversation with a snapshot by a first question.
	Open(ctx context.Context, snapshot int64, question string) (Answer, error)
	// Continue asks the open conversation.
	Continue(ctx context.Context, question string) (Answer, error)
	// Dismiss ends the open conversation, and keeps what was learned of it.
	Dismiss(ctx context.Context, summary string) error
}

// Answer is what a summoned model says.
type Answer struct {
	Snapshot annotator.Snapshot
	Text     string
	Left     int // further questions that this scene may ask
}

// maxQuestion is how long what is said to a summoned model may be, in code points.
const maxQuestion = 2000

// said returns what a call says to a summoned model, fit to be sent and kept.
func checkMessage(what, text string) (string, error) {
	text = codex.Clean(text)
	if !codex.HasWord(text) {
		return "", &codex.Refusal{Code: "EMPTY", Message: fmt.Sprintf("the %s holds no word", what)}
	}
	if n := utf8.RuneCountInString(text); n > maxQuestion {
		return "", &Failure{Code: TooLong, Message: fmt.Sprintf("the %s has %d characters; at most %d", what, n, maxQuestion)}
	}
	return text, nil
}

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

// answerResult is the answer of a call that asks.
func answerResult(a Answer, err error) (Result, error) {
	if err != nil {
		return Result{}, err
	}
	return Result{Content: encode(struct {
		OK       bool         `json:"ok"`
		Snapshot snapshotView `json:"snapshot"`
		Answer   string       `json:"answer"`
		Left     int          `json:"questions_left"`
	}{true, viewSnapshot(&a.Snapshot), truncate(a.Text, maxContent), a.Left})}, nil
}
