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

// curating is CURATING: at a thread's end the curator decides on the tentative entries of the threads before. At the
// end of the corpus it also decides on those of the thread itself, because no later thread follows. The same questions
// ask for summaries of ended threads, and for present statements of entries whose facts have changed. All wait until
// they fill a question, the window is about to be compacted, or the corpus ends. A resumed run skips what was decided.
func (r *Runner) curating(ctx context.Context) (annotator.Event, error) {
	q := r.curation()
	open, err := q.undecided(ctx)
	if err != nil {
		return "", err
	}
	c := q.curator(0, func(*annotator.Entry, curator.Decision) {})
	if r.config.NoThreadSummaries {
		err = r.Store.Threads.SkipSummaries(ctx)
	} else {
		c.Recap = q.recap
	}
	if err != nil {
		return "", err
	}
	if !q.last {
		c.Least = r.config.Curator.Batch
	}
	if !r.config.Curator.Off {
		c.Outdated, c.Phrases, c.States = q.outdated, q.phrases, states{q, q.last}
		c.ShortForms = q.shortForms
	}
	return annotator.EventCurated, c.Curate(ctx, open)
}

// curation is what the curator is asked at the present scene.
type curation struct {
	questions
	last    bool // the scene ends the corpus
	stopped func() bool
}

func (r *Runner) curation() *curation {
	return &curation{*r.questions(), r.scene.row.Last, r.stopped}
}

// outdated returns the entries whose present statement may be out of date, at most limit, and whether they have waited
// for long. At the end of the corpus any new fact suffices, as no other one follows.
func (q *curation) outdated(ctx context.Context, limit int) (ids []int64, urgent bool, err error) {
	changes := storage.MajorChange
	if q.last {
		changes = 1
	}
	if ids, err = q.Store.Curation.Outdated(ctx, changes, curator.MinFacts, limit); err != nil {
		return nil, false, err
	}
	if len(ids) == 0 {
		return ids, false, nil
	}
	first, err := q.Store.Scenes.Neighbor(ctx, q.scene.row.Order, 1-curator.MaxWait)
	if annotator.KindOf(err) == annotator.NotFound {
		return ids, false, nil
	}
	if err != nil {
		return nil, false, err
	}
	asked, err := q.Store.Curation.Restated(ctx, first.Order-1)
	return ids, !asked, err
}

// stateThreads is for how many ends of threads a state is open before a question is about it, whatever has happened. In
// long threads it is for curator.MaxWait scenes.
const stateThreads = 3

// states reads the open states for the curator. See curator.States.
type states struct {
	*curation
	last bool // no later question follows
}

func (s states) Waiting(ctx context.Context, limit int) (*curator.WaitingStates, error) {
	open, w := s.Store.Curation.OpenStates(), &curator.WaitingStates{Last: s.last}
	first := annotator.Order(newestRow)
	var err error
	if !s.last {
		if first, err = s.longAgo(ctx); err != nil {
			return nil, err
		}
	}
	if w.Before, w.All, err = open.Asked(ctx, first); err != nil {
		return nil, err
	}
	w.States, err = open.Waiting(ctx, w.All, limit)
	return w, err
}

// longAgo returns the order of the first scene of the last threads, or of the scene that is curator.MaxWait scenes
// before the present one.
func (s states) longAgo(ctx context.Context) (annotator.Order, error) {
	first := s.scene.row.Thread.Order
	for range stateThreads - 1 {
		former, err := s.Store.Scenes.Neighbor(ctx, first, -1)
		if annotator.KindOf(err) == annotator.NotFound {
			first = 0
			break
		}
		if err != nil {
			return 0, err
		}
		first = former.Thread.Order
	}
	far, err := s.Store.Scenes.Neighbor(ctx, s.scene.row.Order, 1-curator.MaxWait)
	if annotator.KindOf(err) == annotator.NotFound {
		return first, nil
	}
	if err != nil {
		return 0, err
	}
	return max(first, far.Order), nil
}

func (s states) Added(ctx context.Context, limit int) ([]annotator.ClaimRef, error) {
	return s.Store.Curation.OpenStates().Added(ctx, limit)
}

func (s states) Naming(ctx context.Context, names []string, limit int) ([]annotator.ClaimRef, error) {
	return s.Store.Curation.OpenStates().Naming(ctx, names, limit)
}

// undecided returns the entries of the threads before that the curator has not decided on; of all threads after the
// last scene.
func (q *curation) undecided(ctx context.Context) ([]annotator.UndecidedEntry, error) {
	if q.config.Curator.Off {
		return nil, nil
	}
	before := q.scene.row.Thread.Order // its first scene
	if q.last {
		before = q.scene.row.Order + 1
	}
	return q.Store.Curation.UndecidedBefore(ctx, before)
}

// recap returns the summaries of threads that are due, and whether they cannot wait. They cannot if the corpus has
// ended, if the window will be compacted before the next thread ends, or if the model was asked before.
func (q *curation) recap(ctx context.Context) (recap *window.Recap, urgent bool, err error) {
	ended, err := q.Store.Threads.Ended(ctx)
	if err != nil {
		return nil, false, err
	}
	if recap, err = q.window.Recap(ctx, ended); recap == nil || err != nil {
		return nil, false, err
	}
	next, err := q.Store.Threads.ScenesAfter(ctx, q.scene.row.Thread.Order)
	return recap, q.last || recap.Alone() || q.window.FullAfter(next), err
}

// Curate makes the curator decide on tentative entries outside of a run: on those first seen in the given threads, or
// on all. Then it asks for present statements of entries whose facts have changed. It reports each decision with the
// entry as it was. The entries and the story must be those of a run; Run must not be called after it. The error is of
// kind Interrupted if Stop was called.
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
	q := r.curation()
	c := q.curator(turn, decided)
	if len(threads) == 0 {
		c.Outdated, c.States = q.outdated, states{q, true}
	}
	return c.Curate(ctx, open)
}

// openTurn returns the turn that a run has begun and not ended; 0 for none.
func (s *session) openTurn(ctx context.Context, run *storage.RunStatus) (int64, error) {
	if run.OpenScene == 0 {
		return 0, nil
	}
	scene, err := s.Store.Scenes.Get(ctx, run.OpenScene)
	if err != nil || scene.State != annotator.SceneOpen {
		return 0, err
	}
	return run.Turn, nil
}

// newestRow is after every row of the journal.
const newestRow = 1<<63 - 1

// curator returns the curator at the present scene. Its questions follow the window as it was before a turn (0: all of
// it).
func (q *curation) curator(turn int64, decided func(*annotator.Entry, curator.Decision)) *curator.Curator {
	settings := q.config.Curator
	settings.Instruction, settings.System = q.config.Identity.Curator, q.config.Identity.CuratorSystem
	settings.Present, settings.Names = q.config.Identity.Present, q.config.Identity.Names
	settings.States = q.config.Identity.States
	return &curator.Curator{
		Settings: settings, Scene: q.scene.row, Window: q.window, Turn: turn,
		Posts: q.corpus, PlaceOf: q.Store.Scenes.PlaceOf, Names: q.names.Cache, Entries: q.Store.Glossary.Entries,
		Named:  q.Store.Glossary.Named,
		Scenes: q.Store.Scenes, Store: q.Store.Curation.Decide,
		Decided: func(e *annotator.Entry, d curator.Decision) {
			reason := fmt.Sprintf("%s: %s", d.Action, e.Name())
			q.publish(annotator.Notice{Kind: annotator.NoticeDecision, Reason: reason})
			decided(e, d)
		},
		Stopped: q.stopped,
		Usage:   func(ctx context.Context) (*mention.Usage, error) { return q.names.Usage(ctx, q.scene.row.Order) },
		Ask:     q.ask,
	}
}
