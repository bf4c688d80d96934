package runner

import (
	"context"
	"fmt"

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
	MaxTokens   int // of an answer
	Temperature float64
}

// curating is CURATING: at a thread's end, the tentative entries of the thread before are judged; where it ends the corpus,
// those of the thread itself too, for which no later one will come. A process that goes on here passes over what was decided.
func (r *Runner) curating(ctx context.Context) (annotator.Event, error) {
	if r.Config.Curator.Off {
		return annotator.EventCurated, nil
	}
	before, err := r.Store.ThreadAt(ctx, r.day.row.Thread.Order-1)
	if err != nil {
		return "", err
	}
	threads := []int64{before}
	if r.day.row.N == r.total {
		threads = append(threads, r.day.row.Thread.ID)
	}
	since, err := r.Store.LastCheckpoint(ctx)
	if err != nil {
		return "", err
	}
	ids, err := r.Store.Undecided(ctx, since, threads...)
	if err != nil {
		return "", err
	}
	return annotator.EventCurated, r.curate(ctx, ids, 0, func(*annotator.Entry, curator.Decision) {})
}

// Curate has the curator judge tentative entries outside of a run: those first seen in the threads named, or all. It tells
// each decision with the entry as it was. The entries and the story must be those of a run; Run must not be called after it.
// The error is of kind Interrupted where Stop was called.
func (r *Runner) Curate(ctx context.Context, threads []int64, tell func(*annotator.Entry, curator.Decision)) error {
	run, err := r.Store.Run(ctx)
	if err != nil {
		return err
	}
	r.Store.SetState(annotator.StateCurating)
	r.total, r.done = run.Corpus.Scenes, run.Recorded+run.Quarantined
	if r.done == 0 {
		return nil
	}
	if r.frame, err = frameOf(r.Wire, &run.Context); err != nil {
		return err
	}
	if err := r.chooseModel(ctx, &run); err != nil {
		return err
	}
	if err := r.refold(ctx); err != nil {
		return err
	}
	row, err := r.Store.LastRead(ctx)
	if err != nil {
		return err
	}
	r.day = &day{row: row, turn: row.Turn}
	ids, err := r.Store.Undecided(ctx, newestRow, threads...)
	if err != nil {
		return err
	}
	open, err := r.openTurn(ctx, &run)
	if err != nil {
		return err
	}
	return r.curate(ctx, ids, open, tell)
}

// openTurn returns the turn that a run has begun and not ended; 0 for none.
func (r *Runner) openTurn(ctx context.Context, run *storage.Run) (int64, error) {
	if run.OpenScene == 0 {
		return 0, nil
	}
	scene, err := r.Store.Scene(ctx, run.OpenScene)
	if err != nil || scene.State != storage.SceneOpen {
		return 0, err
	}
	return run.Turn, nil
}

// newestRow is behind every row of the journal.
const newestRow = 1<<63 - 1

// curate judges entries one by one, in a fork that shows the window as it was before a turn (0: all of it).
func (r *Runner) curate(ctx context.Context, ids []int64, turn int64, tell func(*annotator.Entry, curator.Decision)) error {
	if len(ids) == 0 {
		return nil
	}
	f, err := r.fork(ctx, turn)
	if err != nil {
		return err
	}
	for i, id := range ids {
		if r.stop.Load() {
			return annotator.Errorf(annotator.Interrupted, "stopped with %d of %d entries judged by the curator", i, len(ids)).
				WithAdvice("run again to go on")
		}
		c, err := f.candidate(ctx, id)
		if err != nil {
			return err
		}
		if c == nil {
			continue
		}
		entry := c.Entry
		d, err := f.judge(ctx, c)
		if err != nil {
			return err
		}
		r.publish(annotator.Notice{Kind: annotator.NoticeDecision, Reason: fmt.Sprintf("%s: %s", d.Verdict, entry.Name())})
		tell(&entry, d)
	}
	return nil
}
