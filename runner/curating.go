package runner

import (
	"context"
	"fmt"
	"slices"

	"annotator"
	"annotator/curator"
	"annotator/storage"
)

// CuratorPrompt says under which system prompt the curator is asked.
type CuratorPrompt string

// The curator's prompts. docs/curator.md has what each costs.
const (
	CuratorShared   CuratorPrompt = "shared"   // the run's own, with its tools: the server has the whole window in its cache
	CuratorReplaced CuratorPrompt = "replaced" // one of the curator's, without tools: the window is computed anew at each thread's end
)

// Curator is what the curator can be told.
type Curator struct {
	Off         bool
	Prompt      CuratorPrompt
	Batch       int // the most entries that one question is about; below 2: one
	MaxTokens   int // of an answer, for each entry that it is about
	Temperature float64
}

// curating is CURATING: at a thread's end, the tentative entries of the thread before are judged; where it ends the corpus,
// those of the thread itself too, for which no later one will come. A process that goes on here passes over what was decided.
func (r *Runner) curating(ctx context.Context) (annotator.Event, error) {
	if r.Config.Curator.Off {
		return annotator.EventCurated, nil
	}
	before, err := r.Store.Threads.Before(ctx, r.day.row.Thread.Order)
	if err != nil {
		return "", err
	}
	threads := []int64{before}
	if r.day.row.N == r.total {
		threads = append(threads, r.day.row.Thread.ID)
	}
	since, err := r.Store.Snapshots.LastCheckpoint(ctx)
	if err != nil {
		return "", err
	}
	open, err := r.Store.Curation.Undecided(ctx, since, threads...)
	if err != nil {
		return "", err
	}
	return annotator.EventCurated, r.curate(ctx, open, 0, func(*annotator.Entry, curator.Decision) {})
}

// Curate has the curator judge tentative entries outside of a run: those first seen in the threads named, or all. It tells
// each decision with the entry as it was. The entries and the story must be those of a run; Run must not be called after it.
// The error is of kind Interrupted where Stop was called.
func (r *Runner) Curate(ctx context.Context, threads []int64, tell func(*annotator.Entry, curator.Decision)) error {
	run, err := r.Store.Run.Status(ctx)
	if err != nil {
		return err
	}
	if _, _, err := r.sameStory(ctx, &run); err != nil { // another story has posts of the same numbers
		return err
	}
	r.Store.Run.SetState(annotator.StateCurating)
	r.total, r.done = run.Corpus.Scenes, run.Recorded+run.Quarantined
	if r.done == 0 {
		return nil
	}
	if r.frame, err = frameOf(r.Wire, &run.Prompt); err != nil {
		return err
	}
	if err := r.chooseModel(ctx, &run); err != nil {
		return err
	}
	if err := r.refold(ctx); err != nil {
		return err
	}
	row, err := r.Store.Scenes.LastRead(ctx)
	if err != nil {
		return err
	}
	r.day = &day{row: row, turn: row.Turn}
	open, err := r.Store.Curation.Undecided(ctx, newestRow, threads...)
	if err != nil {
		return err
	}
	turn, err := r.openTurn(ctx, &run)
	if err != nil || len(open) == 0 {
		return err
	}
	if err := r.Store.Run.ResetFailures(ctx); err != nil { // whoever asks for this has seen to the server
		return err
	}
	return r.curate(ctx, open, turn, tell)
}

// openTurn returns the turn that a run has begun and not ended; 0 for none.
func (r *Runner) openTurn(ctx context.Context, run *storage.RunStatus) (int64, error) {
	if run.OpenScene == 0 {
		return 0, nil
	}
	scene, err := r.Store.Scenes.Get(ctx, run.OpenScene)
	if err != nil || scene.State != storage.SceneOpen {
		return 0, err
	}
	return run.Turn, nil
}

// newestRow is behind every row of the journal.
const newestRow = 1<<63 - 1

// curate has entries judged until there is a decision on each, in a fork that shows the window as it was before a turn (0: all of it).
func (r *Runner) curate(ctx context.Context, open []storage.Undecided, turn int64, tell func(*annotator.Entry, curator.Decision)) error {
	if len(open) == 0 {
		return nil
	}
	f, err := r.fork(ctx, turn)
	if err != nil {
		return err
	}
	for all := len(open); len(open) > 0; {
		if r.stop.Load() {
			return annotator.Errorf(annotator.Interrupted, "stopped with %d of %d entries judged by the curator", all-len(open), all).
				WithAdvice("run again to go on")
		}
		i, err := f.next(ctx, open)
		if err != nil {
			return err
		}
		decisions, err := f.judge(ctx, i)
		if err != nil {
			return err
		}
		for at, d := range decisions {
			if e := &i.batch[at].Entry; d.Verdict != curator.Again {
				r.publish(annotator.Notice{Kind: annotator.NoticeDecision, Reason: fmt.Sprintf("%s: %s", d.Verdict, e.Name())})
				tell(e, d)
			}
		}
		open = undecided(open, i.batch, decisions)
	}
	return nil
}

// undecided returns what is left of entries after decisions on some of them. A process that goes on finds the same on record, so that
// it asks what the undisturbed one would have asked.
func undecided(open []storage.Undecided, batch curator.Batch, decisions []curator.Decision) (left []storage.Undecided) {
	for _, u := range open {
		at := slices.IndexFunc(batch, func(c *curator.Candidate) bool { return c.Entry.ID == u.Entry })
		switch {
		case at < 0:
			left = append(left, u)
		case decisions[at].Verdict == curator.Again:
			left = append(left, storage.Undecided{Entry: u.Entry, Again: decisions[at].Reason})
		}
	}
	return left
}
