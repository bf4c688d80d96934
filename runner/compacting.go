package runner

import (
	"context"
	"fmt"

	"annotator"
	"annotator/model"
	"annotator/runner/entries"
)

// compacting is COMPACTING: the window makes room for the present scene. A scene that does not fit the emptied window
// is refused.
func (r *Runner) compacting(ctx context.Context) (annotator.Event, error) {
	if n := r.scene.size; n > entries.MaxSceneBytes {
		message := fmt.Sprintf("too long: the scene has %.1f MiB of text, and at most %d are read; split its post "+
			"in the corpus",
			float64(n)/(1<<20), entries.MaxSceneBytes>>20)
		return r.quarantine(&model.Fault{Kind: annotator.PromptTooLong, Message: message})
	}
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
