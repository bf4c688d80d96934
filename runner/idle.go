package runner

import (
	"context"
	"errors"

	"annotator"
)

// idle is IDLE: it resumes the scene that a former process left open. Else it takes changes of the source,
// applies what people have asked to change, and takes the next scene.
func (r *Runner) idle(ctx context.Context) (annotator.Event, error) {
	r.scene = nil
	if r.isBounded() { // since INIT
		return annotator.EventStopped, nil
	}
	if r.progress.resume > 0 {
		return r.reopen(ctx)
	}
	if err := r.takeWaitingChanges(ctx); err != nil {
		return "", err
	}
	if err := r.applyEdits(ctx); err != nil {
		return "", err
	}
	if r.Turn != nil {
		if err := r.Turn(ctx); err != nil {
			return "", err
		}
	}
	if r.stopped() || r.config.Limit > 0 && r.progress.read >= r.config.Limit {
		return annotator.EventStopped, nil
	}
	row, err := r.Store.Scenes.Next(ctx)
	if errors.Is(err, annotator.NotFound) {
		return annotator.EventExhausted, nil
	}
	if err != nil {
		return "", err
	}
	if reached, err := r.checkBounds(ctx); reached || err != nil {
		return annotator.EventStopped, err
	}
	if err := r.checkFailures(); err != nil {
		return "", err
	}
	r.scene, err = r.loadScene(ctx, row, 0)
	return annotator.EventSceneFound, err
}

func (r *Runner) reopen(ctx context.Context) (annotator.Event, error) {
	row, err := r.Store.Scenes.Get(ctx, r.progress.resume)
	if err != nil {
		return "", err
	}
	r.progress.resume = 0
	if row.State != annotator.SceneOpen {
		r.scene = &sceneState{row: row, turn: row.Turn}
		return annotator.EventSceneDone, nil
	}
	run, err := r.Store.Run.Status(ctx)
	if err != nil {
		return "", err
	}
	if r.scene, err = r.resumeScene(ctx, row, run.Turn); err != nil {
		return "", err
	}
	if r.scene.Reply != nil && !r.window.Unfinished() {
		return annotator.EventReplyFound, nil
	}
	return annotator.EventSceneFound, nil
}

// noMore is NO_MORE: every scene is read, and the run is recorded as finished.
func (r *Runner) noMore(ctx context.Context) (annotator.Event, error) {
	if err := r.checkYield(ctx); err != nil {
		return "", err
	}
	return annotator.EventEnd, r.Store.Run.ResetFailures(ctx)
}
