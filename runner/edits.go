package runner

import (
	"context"
	"fmt"

	"annotator"
	"annotator/codex"
)

// applyEdits applies what people have asked to change since the scene before. Between scenes the rows of no turn are
// interrupted, so a resumed run computes the same.
func (r *Runner) applyEdits(ctx context.Context) error {
	applied, err := r.Store.Edits.ApplyPending(ctx)
	if err != nil || len(applied) == 0 {
		return err
	}
	for i := range applied {
		text := codex.Describe(&applied[i].Operation)
		if refusal := applied[i].Refusal; refusal != nil {
			r.warn(fmt.Sprintf("the edit %q was refused: %s", text, refusal.Message))
		} else {
			r.publish(annotator.Notice{Kind: annotator.NoticeDecision, Reason: "a person: " + text})
		}
		for k := range applied[i].Revisions {
			r.names.Invalidate(applied[i].Revisions[k].Entry)
		}
	}
	return r.names.CatchUp(ctx)
}
