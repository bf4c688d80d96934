package runner

import (
	"context"

	"annotator"
)

// compacting is COMPACTING: the window makes room for the scene at hand. A scene that does not fit the emptied window is refused.
func (r *Runner) compacting(ctx context.Context) (annotator.Event, error) {
	fits, err := r.window.MakeRoom(ctx, r.scene.forceCompaction)
	if err != nil {
		return "", err
	}
	if !fits {
		return r.quarantineTooLong()
	}
	r.scene.forceCompaction = false
	return annotator.EventFits, nil
}
