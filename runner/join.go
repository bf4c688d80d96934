package runner

import (
	"context"
	"errors"

	"annotator"
	"annotator/storage"
)

// Join makes the codex of a story from its parts, strictly in the story's order. Paths are those of the databases of
// the parts, whose runs have ended. Each scene is one step: what its part has noted is replayed, and a checkpoint
// follows. So a join that was killed goes on after its last row. Run must not be called before it or after it. The
// error is of kind Interrupted if Stop was called.
func (r *Runner) Join(ctx context.Context, paths []string) error {
	run, err := r.findStory(ctx)
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
