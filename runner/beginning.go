package runner

import (
	"context"
	"errors"

	"annotator"
)

// errStopped is why INIT ends when a stop is asked for.
var errStopped = errors.New("stopped")

// beginning is INIT as a stop ends it at once: to list the scenes of a long story takes minutes, and a server may not answer. None
// of what it does is lost by that, for it is either committed or done again by the next run.
func (r *Runner) beginning(ctx context.Context) (annotator.Event, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	go func() {
		select {
		case <-r.hurry:
			cancel(errStopped)
		case <-ctx.Done():
		}
	}()
	event, err := r.initialize(ctx)
	if err != nil && errors.Is(context.Cause(ctx), errStopped) {
		return "", annotator.Errorf(annotator.Interrupted, "stopped before a scene was begun").WithAdvice("run again to go on")
	}
	return event, err
}
