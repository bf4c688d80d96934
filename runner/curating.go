package runner

import (
	"context"
	"errors"
	"fmt"

	"annotator"
	"annotator/context/prompt"
	"annotator/context/tokens"
	"annotator/curator"
	"annotator/model"
	"annotator/storage"
)

// curating is CURATING: at a thread's end the curator decides on the tentative entries of the thread before; where it ends the corpus,
// on those of the thread itself too, which no later one follows. A resumed run passes over what was decided.
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
	return annotator.EventCurated, r.curator(0, func(*annotator.Entry, curator.Decision) {}).Curate(ctx, open)
}

// Curate has the curator decide on tentative entries outside of a run: on those first seen in the given threads, or on all. It
// reports each decision with the entry as it was. The entries and the story must be those of a run; Run must not be called after
// it. The error is of kind Interrupted if Stop was called.
func (r *Runner) Curate(ctx context.Context, threads []int64, decided func(*annotator.Entry, curator.Decision)) error {
	run, err := r.Store.Run.Status(ctx)
	if err != nil {
		return err
	}
	if _, _, err := r.sameStory(ctx, &run); err != nil { // another story has posts with the same ids
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
	if err := r.Store.Run.ResetFailures(ctx); err != nil { // the user who starts this has seen to the server
		return err
	}
	return r.curator(turn, decided).Curate(ctx, open)
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

// curator returns the curator at the scene at hand. Its questions follow the window as it was before a turn (0: all of it).
func (r *Runner) curator(turn int64, decided func(*annotator.Entry, curator.Decision)) *curator.Curator {
	q := question{purpose: annotator.PurposeCurate, frame: r.frame}
	if r.Config.Curator.Prompt == curator.Replaced {
		q.frame = frame{system: curator.System(), size: prompt.Size(curator.System(), "")}
	}
	return &curator.Curator{
		Settings: r.Config.Curator, Scene: r.day.row, Model: &curatorModel{r, turn, q},
		Entries: r.Store.Glossary, Scenes: r.Store.Scenes, Posts: r.Corpus, Decisions: r.Store.Curation, Names: r.names,
		Decided: func(e *annotator.Entry, d curator.Decision) {
			r.publish(annotator.Notice{Kind: annotator.NoticeDecision, Reason: fmt.Sprintf("%s: %s", d.Action, e.Name())})
			decided(e, d)
		},
		Stopped: r.stop.Load,
	}
}

// curatorModel asks the curator's questions. See curator.Model.
type curatorModel struct {
	*Runner
	turn     int64 // before which the window ends; 0: after the last
	question question
}

// place returns a question at the end of the window, or alone.
func (m *curatorModel) place(text string, alone bool) (*question, error) {
	q := m.question
	q.note = text
	if alone {
		q.size = q.frame.size.Plus(tokens.Measure(text)).Framed(tokens.PerMessage)
		q.estimate = m.counter.Count(q.size)
		return &q, nil
	}
	return &q, m.behind(&q, m.turn)
}

// Fit estimates a question. See curator.Model.
func (m *curatorModel) Fit(text string, alone bool) (asked, left int, err error) {
	q, err := m.place(text, alone)
	return m.counter.Count(tokens.Measure(text)), m.room(q), err
}

// Ask has a question answered. See curator.Model.
func (m *curatorModel) Ask(ctx context.Context, asked *curator.Question) (*model.Reply, error) {
	q, err := m.place(asked.Text, asked.Alone)
	if err != nil {
		return nil, err
	}
	q.most, q.temperature = asked.MaxTokens, asked.Temperature
	reply, err := m.ask(ctx, q)
	if errors.Is(err, errNotBetter) {
		err = curator.NoAnswer{Err: err}
	}
	return reply, err
}

// Learn takes in what the server counted. See curator.Model.
func (m *curatorModel) Learn(call *annotator.Call) { m.learned(call) }
