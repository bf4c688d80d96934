package runner

import (
	"context"
	"fmt"

	"annotator"
	"annotator/model"
	"annotator/storage"
)

// maxConsecutiveFailures is how many scenes in a row may fail before the server, the model or its context is taken for
// broken, whatever each of them failed for: the rest of the story would be quarantined, too. A run that is started
// again counts anew, since the user has looked. As many questions of one purpose may stay unanswered.
const maxConsecutiveFailures = 3

// failures counts the newest scenes in a row that were quarantined for faults of the server or the model.
type failures struct {
	count  int
	reason string // of the newest
}

// add takes in how a scene ended. A scene about which the model was not asked counts neither way.
func (f *failures) add(o *storage.Outcome, asked bool) {
	switch {
	case o.Fault != "":
		f.count, f.reason = f.count+1, o.Reason
	case asked || o.State == annotator.SceneQuarantined:
		f.count = 0
	}
}

// checkFailures halts the run before a scene if too many before it have failed.
func (r *Runner) checkFailures() error {
	if r.failures.count < maxConsecutiveFailures {
		return nil
	}
	return annotator.Errorf(annotator.Halted, "%s: %d scenes in a row could not be annotated, the last for this: %s",
		r.config.Endpoint, r.failures.count, r.failures.reason).
		WithReason(annotator.ReasonScenesFail)
}

// cooldownScenes is for how many scenes a question that the story can do without is not asked, after too many failures.
const cooldownScenes = 50

// checkPurpose decides, before an auxiliary question, what follows if the newest of its purpose in a row got no
// answer. Auxiliary questions have their own failure budget. The error is a *model.Unanswered where the run can go on
// without an answer: a summary can be made by rule, and a tool can say that it has none. The curator does not come back
// to an entry that it has passed over, so for its questions the run halts.
func (r *Runner) checkPurpose(ctx context.Context, purpose annotator.CallPurpose) error {
	n, last, err := r.Store.Calls.ConsecutiveFailures(ctx, purpose, maxConsecutiveFailures)
	if err != nil || n < maxConsecutiveFailures {
		return err
	}
	reason := fmt.Sprintf("it was asked %d times in a row to %s, and gave no answer, the last time for this: %s", n, purpose, last.Fault)
	if purpose == annotator.PurposeCurate {
		return annotator.Errorf(annotator.Halted, "%s: %s", r.config.Endpoint, reason).
			WithReason(annotator.ReasonCuratorFails)
	}
	if again := last.Scene + cooldownScenes; r.scene.row.N < again {
		r.warn(fmt.Sprintf("%s: %s; the story goes on without, and it is asked again from scene %d on", r.config.Endpoint, reason, again))
		return &model.Unanswered{Fault: &model.Fault{Kind: annotator.Transient, Message: reason}}
	}
	return nil
}
