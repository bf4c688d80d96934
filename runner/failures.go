package runner

import (
	"annotator"
	"annotator/storage"
)

// maxConsecutiveFailures is how many scenes in a row may fail, for any reasons. More failures mean that the server, the
// model or its context is broken, and that the rest of the story would be quarantined, too. A run that is started again
// counts from zero, since the user has looked. As many questions of one purpose may stay unanswered.
const maxConsecutiveFailures = 3

// failures counts the newest scenes in a row that were quarantined for faults of the server or the model.
type failures struct {
	count  int
	reason string // of the newest
}

// add records how a scene ended.
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
