package runner

import (
	"context"

	"annotator"
)

// compacting is COMPACTING: the window makes room for the scene at hand. A scene that does not fit an emptied window is
// refused.
func (r *Runner) compacting(ctx context.Context) (annotator.Event, error) {
	fits, err := r.window.MakeRoom(ctx, r.day.forceCompaction)
	switch {
	case err != nil:
		return "", err
	case !fits:
		return r.tooLong(r.window.Needed(), r.window.Limits.Prompt())
	}
	r.day.forceCompaction = false
	return annotator.EventFits, nil
}
