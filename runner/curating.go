package runner

import (
	"context"
	"fmt"

	"annotator"
	"annotator/context/mention"
	"annotator/context/window"
	"annotator/curator"
	"annotator/storage"
)

// curating is CURATING: at a thread's end the curator decides on the tentative entries of the threads before; where it
// ends the corpus, on those of the thread itself too, which no later one follows. Threads that have ended are
// summarised by the same questions, and entries whose facts have changed are given a statement of what they are now. All
// wait until they fill a question, the window is about to be compacted, or the corpus ends. A resumed run passes over what was decided.
func (r *Runner) curating(ctx context.Context) (annotator.Event, error) {
	last := r.scene.row.N == r.progress.total
	open, err := r.undecided(ctx, last)
	if err != nil {
		return "", err
	}
	c := r.curator(0, func(*annotator.Entry, curator.Decision) {})
	if r.config.NoThreadSummaries {
		err = r.Store.Threads.SkipSummaries(ctx)
	} else {
		c.Recap = func(ctx context.Context) (*window.Recap, bool, error) { return r.recap(ctx, last) }
	}
	if err != nil {
		return "", err
	}
	if !last {
		c.Least = r.config.Curator.Batch
	}
	if !r.config.Curator.Off {
		c.Outdated = r.outdated
	}
	return annotator.EventCurated, c.Curate(ctx, open)
}

// outdated returns the entries whose present statement is out of date, at most so many, and whether they have waited for long.
func (r *Runner) outdated(ctx context.Context, limit int) (ids []int64, urgent bool, err error) {
	if ids, err = r.Store.Curation.Outdated(ctx, curator.MinFacts, limit); err != nil {
		return nil, false, err
	}
	before := r.scene.row.N - curator.MaxWait
	if before < 0 || len(ids) == 0 {
		return ids, false, nil
	}
	asked, err := r.Store.Curation.Restated(ctx, before)
	return ids, !asked, err
}

// undecided returns the entries of the threads before that the curator has not decided on; of all threads after the
// last scene.
func (r *Runner) undecided(ctx context.Context, last bool) ([]annotator.UndecidedEntry, error) {
	if r.config.Curator.Off {
		return nil, nil
	}
	before := r.scene.row.N - r.scene.row.Index // the first scene of the thread
	if last {
		before = r.scene.row.N + 1
	}
	return r.Store.Curation.UndecidedBefore(ctx, before)
}

// recap returns the summaries of threads that are due, and whether they cannot wait: because the corpus has ended, the
// window will be compacted before the next thread ends, or the model was asked before.
func (r *Runner) recap(ctx context.Context, last bool) (recap *window.Recap, urgent bool, err error) {
	ended, err := r.Store.Threads.Ended(ctx)
	if err != nil {
		return nil, false, err
	}
	if recap, err = r.window.Recap(ctx, ended); recap == nil || err != nil {
		return nil, false, err
	}
	next, err := r.Store.Threads.ScenesAfter(ctx, r.scene.row.Thread.Order)
	return recap, last || recap.Alone() || r.window.FullAfter(next), err
}

// Curate has the curator decide on tentative entries outside of a run: on those first seen in the given threads, or on
// all, and then write what entries are now whose facts have changed. It reports each decision with the entry as it was. The
// entries and the story must be those of a run; Run must not be called after it. The error is of kind Interrupted if Stop was
// called.
func (r *Runner) Curate(ctx context.Context, threads []int64, decided func(*annotator.Entry, curator.Decision)) error {
	run, err := r.Store.Run.Status(ctx)
	if err != nil {
		return err
	}
	if _, _, err := r.sameStory(ctx, &run); err != nil { // another story has posts with the same ids
		return err
	}
	r.Store.Run.SetState(annotator.StateCurating)
	r.progress.total, r.progress.done = run.Corpus.Scenes, run.Recorded+run.Quarantined
	if r.progress.done == 0 {
		return nil
	}
	if err := r.usePrompt(&run.Prompt); err != nil {
		return err
	}
	if err := r.chooseModel(ctx, &run); err != nil {
		return err
	}
	if err := r.window.Restore(ctx, false); err != nil {
		return err
	}
	row, err := r.Store.Scenes.LastRead(ctx)
	if err != nil {
		return err
	}
	r.scene = &sceneState{row: row, turn: row.Turn}
	open, err := r.Store.Curation.Undecided(ctx, newestRow, threads...)
	if err != nil {
		return err
	}
	turn, err := r.openTurn(ctx, &run)
	if err != nil {
		return err
	}
	if err := r.Store.Run.ResetFailures(ctx); err != nil { // the user who starts this has seen to the server
		return err
	}
	c := r.curator(turn, decided)
	if len(threads) == 0 {
		c.Outdated = r.outdated
	}
	return c.Curate(ctx, open)
}

// openTurn returns the turn that a run has begun and not ended; 0 for none.
func (r *Runner) openTurn(ctx context.Context, run *storage.RunStatus) (int64, error) {
	if run.OpenScene == 0 {
		return 0, nil
	}
	scene, err := r.Store.Scenes.Get(ctx, run.OpenScene)
	if err != nil || scene.State != annotator.SceneOpen {
		return 0, err
	}
	return run.Turn, nil
}

// newestRow is behind every row of the journal.
const newestRow = 1<<63 - 1

// curator returns the curator at the scene at hand. Its questions follow the window as it was before a turn (0: all of
// it).
func (r *Runner) curator(turn int64, decided func(*annotator.Entry, curator.Decision)) *curator.Curator {
	settings := r.config.Curator
	settings.Instruction, settings.System = r.config.Identity.Curator, r.config.Identity.CuratorSystem
	settings.Present = r.config.Identity.Present
	return &curator.Curator{
		Settings: settings, Scene: r.scene.row, Window: r.window, Turn: turn,
		Posts: r.corpus, PlaceOf: r.Store.Scenes.PlaceOf, Names: r.names.Cache, Entries: r.Store.Glossary.Entries, GetScene: r.Store.Scenes.Get, Store: r.Store.Curation.Decide,
		Decided: func(e *annotator.Entry, d curator.Decision) {
			reason := fmt.Sprintf("%s: %s", d.Action, e.Name())
			r.publish(annotator.Notice{Kind: annotator.NoticeDecision, Reason: reason})
			decided(e, d)
		},
		Stopped: r.stopped,
		Usage:   func(ctx context.Context) (*mention.Usage, error) { return r.names.Usage(ctx, r.scene.row.N) },
		Ask:     r.ask,
	}
}
