package runner

import (
	"context"
	"errors"

	"annotator"
)

// idle is IDLE: it goes on with the scene that a former process left open, or takes the next one.
func (r *Runner) idle(ctx context.Context) (annotator.Event, error) {
	r.day = nil
	if r.open > 0 {
		return r.reopen(ctx)
	}
	if r.stop.Load() || (r.Config.Limit > 0 && r.read >= r.Config.Limit) {
		return annotator.EventStopped, nil
	}
	row, err := r.Store.Scenes.Next(ctx)
	if errors.Is(err, annotator.NotFound) {
		return annotator.EventExhausted, nil
	}
	if err != nil {
		return "", err
	}
	if err := r.checkFailures(); err != nil {
		return "", err
	}
	r.day, err = r.dawn(ctx, row, 0)
	return annotator.EventSceneFound, err
}

func (r *Runner) reopen(ctx context.Context) (annotator.Event, error) {
	row, err := r.Store.Scenes.Get(ctx, r.open)
	if err != nil {
		return "", err
	}
	r.open = 0
	if row.State != annotator.SceneOpen {
		r.day = &day{row: row, turn: row.Turn}
		return annotator.EventSceneDone, nil
	}
	run, err := r.Store.Run.Status(ctx)
	if err != nil {
		return "", err
	}
	if r.day, err = r.wake(ctx, row, run.Turn); err != nil {
		return "", err
	}
	if r.day.reply != nil {
		return annotator.EventReplyFound, nil
	}
	return annotator.EventSceneFound, nil
}

// noMore is NO_MORE: every scene has been read, and the database says so.
func (r *Runner) noMore(ctx context.Context) (annotator.Event, error) {
	return annotator.EventEnd, r.Store.Run.ResetFailures(ctx)
}
