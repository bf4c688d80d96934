package runner

import (
	"context"
	"errors"

	"annotator"
	"annotator/curator"
	"annotator/storage"
)

// Join makes the codex of a story from its parts, strictly in the story's order. Paths are those of the databases of
// the parts, whose runs have ended. Each scene is one step: what its part has noted is replayed, and a checkpoint
// follows. So a join that was killed goes on after its last row. Run must not be called before it or after it. The
// error is of kind Interrupted if Stop was called.
func (r *Runner) Join(ctx context.Context, paths []string) error {
	run, err := r.findBeginning(ctx)
	if err != nil {
		return err
	}
	if err := r.beginJoin(ctx, &run); err != nil {
		return err
	}
	for i, path := range paths {
		part, err := r.Store.Joins.Part(ctx, i+1, path)
		if err != nil {
			return err
		}
		err = r.joinPart(ctx, part)
		if err == nil {
			err = r.endPart(ctx, i+1, part)
		}
		if err := errors.Join(err, part.Close()); err != nil {
			return err
		}
	}
	return nil
}

// beginJoin sets model and prompt, and makes the checkpoint that a killed process has left due.
func (r *Runner) beginJoin(ctx context.Context, run *storage.RunStatus) error {
	newModel, err := r.findModel(ctx, run)
	if err != nil {
		return err
	}
	newPrompt, err := r.findPrompt(ctx, run, newModel)
	if err != nil {
		return err
	}
	if err := r.restore(ctx, run, newModel || newPrompt); err != nil {
		return err
	}
	if r.progress.resume > 0 {
		return r.joinScene(ctx, r.progress.resume)
	}
	return r.names.CatchUp(ctx)
}

// joinPart makes the steps of a part that are left.
func (r *Runner) joinPart(ctx context.Context, part *storage.Part) error {
	r.Store.State = annotator.StateRecording
	for {
		if r.stopped() {
			return annotator.Errorf(annotator.Interrupted, "stopped after scene %d of %d was joined", r.progress.done,
				r.progress.total).WithAdvice("run again to go on")
		}
		made, err := r.Store.Joins.Step(ctx, part)
		if err != nil || made == nil {
			return err
		}
		r.names.Invalidate(made.Changed...)
		if made.Scene == 0 {
			continue
		}
		r.progress.done++
		if err := r.joinScene(ctx, made.Scene); err != nil {
			return err
		}
	}
}

// joinScene makes the checkpoint of a scene that was joined.
func (r *Runner) joinScene(ctx context.Context, n int) error {
	row, err := r.Store.Scenes.Get(ctx, n)
	if err != nil {
		return err
	}
	if r.scene, err = r.loadScene(ctx, row, 0); err != nil {
		return err
	}
	mentions, err := r.names.Pending(ctx, &r.scene.Scene)
	if err != nil {
		return err
	}
	r.Store.State = annotator.StateCheckpoint
	snapshot, err := r.Store.Scenes.Checkpoint(ctx, n, r.window.Tokens(), mentions)
	if err != nil {
		return err
	}
	r.publish(annotator.Notice{Kind: annotator.NoticeScene, Entries: snapshot.Entries})
	_, err = r.Store.Maintenance.CheckpointWAL(ctx)
	return err
}

// maxSimilarNames is how many entries with similar names are looked at for an older one.
const maxSimilarNames = 5

// endPart asks about the seam of a part, and for the story so far. It does so before the next part is joined, unless a
// bound is reached.
func (r *Runner) endPart(ctx context.Context, number int, part *storage.Part) error {
	newest, err := r.Store.Joins.Newest(ctx)
	if err != nil || newest != number {
		return err
	}
	reached, err := r.checkBounds(ctx)
	if err != nil {
		return err
	}
	if reached && r.progress.done < r.progress.total {
		return r.stoppedAt(r.bound)
	}
	row, err := r.Store.Scenes.LastRead(ctx)
	if err != nil {
		return err
	}
	r.Store.State, r.scene = annotator.StateCurating, &sceneState{row: row}
	if number > 1 && !r.config.Curator.Off {
		if err := r.reviewSeam(ctx, part); err != nil {
			return err
		}
	}
	return r.tellStory(ctx)
}

// reviewSeam asks the curator about what a part and those before it may have in common. These are entries of the part
// that may be older ones, and open states that its facts may have ended.
func (r *Runner) reviewSeam(ctx context.Context, part *storage.Part) error {
	open, err := r.likelyDoubles(ctx, part.From())
	if err != nil {
		return err
	}
	c := r.curator(0, func(*annotator.Entry, curator.Decision) {})
	c.Final, c.Since, c.Tasks = true, part.From(), curator.States
	if err := c.Curate(ctx, open); err != nil {
		return err
	}
	return r.names.CatchUp(ctx)
}

// likelyDoubles returns the entries that were first seen from a scene on, and have a name like that of an older one.
func (r *Runner) likelyDoubles(ctx context.Context, from annotator.Order) (open []annotator.UndecidedEntry, err error) {
	all, err := r.Store.Joins.Undecided(ctx, from)
	if err != nil || len(all) == 0 {
		return nil, err
	}
	index, err := r.names.Index(ctx)
	if err != nil {
		return nil, err
	}
	for _, u := range all {
		names, err := r.Store.Glossary.Names(ctx, u.Entry)
		if err != nil {
			return nil, err
		}
		older, err := r.Store.Glossary.Held(ctx, index.Similar(u.Entry, names[u.Entry], maxSimilarNames))
		if err != nil {
			return nil, err
		}
		for _, e := range older {
			if e.First.Order() < from {
				open = append(open, u)
				break
			}
		}
	}
	return open, nil
}
