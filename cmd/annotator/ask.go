package main

import (
	"context"
	"strings"

	"annotator"
	"annotator/snapshot"
	"annotator/storage"
	"annotator/view"

	"github.com/spf13/cobra"
)

// askedEntries is the maximum number of entries in the context of a question: those that match its words best.
const askedEntries = 5

func newAsk(a *app) *cobra.Command {
	var asOf string
	o := newSnapshotAskOptions(a)
	cmd := &cobra.Command{
		Use:   "ask QUESTION",
		Short: "Answer a question about the story from the codex",
		Long: longHelp(`
Answer a question about the story. The model has the entries of the codex that fit the question, with their quotations,
and the context of the newest snapshot. The answer lists the posts that it rests on. With --as-of, it has nothing that
is told later, so that a reader can ask without learning what comes.

Question and answer are recorded; nothing of the codex changes. A run may be active. Without an endpoint, the offline
model answers by quoting.`,
			exitMisused, exitHalted, exitInterrupted),
		Example: `  annotator ask "Who knew of the brass key?"
  annotator ask --as-of chapter:12 "Who is Ysolde Marrow?"
  annotator ask --as-of scene:40 --endpoint http://localhost:8000/v1 --json "Where is the lamp?"`,
		Args: arguments(1, unlimited),
	}
	o.addFlags(cmd)
	asOfFlag(cmd.Flags(), &asOf)
	return onDatabase(cmd, func(ctx context.Context, db *storage.DB, args []string) error {
		question := strings.TrimSpace(strings.Join(args, " "))
		if question == "" {
			return annotator.Errorf(annotator.Misused, "there is no question").
				WithAdvice("put it after the command, in quotation marks")
		}
		shown, err := viewAt(ctx, db, asOf)
		if err != nil {
			return err
		}
		at, err := newestSnapshot(ctx, shown)
		if err != nil {
			return err
		}
		o.view = shown
		return o.run(ctx, db, at, question)
	})
}

// newestSnapshot returns the newest snapshot of a view.
func newestSnapshot(ctx context.Context, shown *view.View) (*annotator.Snapshot, error) {
	found, err := shown.Snapshots(ctx, storage.SnapshotQuery{Kind: annotator.SnapshotCheckpoint, Limit: 1})
	if err != nil {
		return nil, err
	}
	if len(found) == 0 {
		return nil, annotator.Errorf(annotator.NotFound, "no scene has been read up to there, so nothing can be asked").
			WithAdvice("`annotator status` shows how far the run has come")
	}
	return &found[0], nil
}

// relevantEntries renders the entries of a view that match the words of a question.
func relevantEntries(ctx context.Context, shown *view.View, question string) (string, error) {
	page, err := shown.FindWhole(ctx, annotator.Query{Text: question, Limit: askedEntries})
	return snapshot.Entries(page.Entries), err
}
