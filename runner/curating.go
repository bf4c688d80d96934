package runner

import (
	"context"
	"fmt"
	"math"

	"annotator"
	"annotator/curator"
	"annotator/model"
	"annotator/storage"
)

// curating is CURATING: at the end of a thread or of a part of one, the curator decides on the tentative entries that
// are older. At the end of the corpus it decides on the newest, too, because no later thread follows. The same
// questions ask for summaries of ended threads, and for present statements of entries whose facts have changed. All
// wait until they fill a question, the window is about to be compacted, or the corpus ends. A resumed run skips what
// was decided.
func (r *Runner) curating(ctx context.Context) (annotator.Event, error) {
	c := r.curator(0, func(*annotator.Entry, curator.Decision) {})
	c.Final = c.Scene.Last
	if r.config.NoThreadSummaries {
		if err := r.Store.Threads.SkipSummaries(ctx); err != nil {
			return "", err
		}
	} else {
		c.Tasks |= curator.Summaries
	}
	var open []annotator.UndecidedEntry
	if !r.config.Curator.Off {
		c.Tasks |= r.reviews()
		before, err := c.Before(ctx)
		if err != nil {
			return "", err
		}
		if open, err = r.Store.Curation.Undecided(ctx, 0, before); err != nil {
			return "", err
		}
	}
	return annotator.EventCurated, c.Curate(ctx, open)
}

// reviews returns what the curator asks apart from decisions and summaries. Rules find sentences of the story; they
// cannot tell which of them still hold, or what a reader would look up. So the offline model writes no present
// statements, and is not asked which entries are worth none of their own.
func (r *Runner) reviews() curator.Task {
	tasks := curator.Present | curator.States | curator.Names | curator.Redundant
	if r.config.Endpoint == model.EndpointOffline {
		tasks &^= curator.Present | curator.Redundant
	}
	return tasks
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
	if err := r.sameStory(ctx, &run); err != nil { // another story has posts with the same ids
		return err
	}
	r.Store.State = annotator.StateCurating
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
	open, err := r.Store.Curation.Undecided(ctx, math.MaxInt64, math.MaxInt64, threads...)
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
	c.Final = true
	if len(threads) == 0 {
		c.Tasks = r.reviews() &^ curator.Names
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

// curator returns the curator at the present scene. Its questions follow the window as it was before a turn (0: all of
// it).
func (r *Runner) curator(turn int64, decided func(*annotator.Entry, curator.Decision)) *curator.Curator {
	settings, identity := r.config.Curator, &r.config.Identity
	settings.Instruction, settings.System = identity.Curator, identity.CuratorSystem
	settings.Present, settings.Names, settings.States = identity.Present, identity.Names, identity.States
	settings.Redundant = identity.Redundant
	return &curator.Curator{
		Settings: settings, Scene: r.scene.row, Window: r.window, Turn: turn,
		Sources: curator.Sources{
			Posts: r.corpus, Scenes: r.Store.Scenes, Threads: r.Store.Threads, Entries: r.Store.Glossary,
			Names: r.names, Records: r.Store.Curation, States: r.Store.OpenStates, New: r.Store.NewEntries,
		},
		Decided: func(e *annotator.Entry, d curator.Decision) {
			reason := fmt.Sprintf("%s: %s", d.Action, e.Name())
			r.publish(annotator.Notice{Kind: annotator.NoticeDecision, Reason: reason})
			decided(e, d)
		},
		Stopped: r.stopped, Ask: r.questions().ask,
	}
}
