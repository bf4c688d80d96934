package runner

import (
	"fmt"

	"annotator"
	"annotator/model"
	"annotator/storage"
)

// sick is how many scenes in a row may not be annotated before it is the server, the model or its context that is taken for broken.
// They fail in many ways, so it does not matter whether they failed in the same. What is sound hardly ever fails at three
// neighbours; what is broken would have the rest of the book quarantined by the morning. When the run is started again, somebody has
// looked, and as many scenes may fail before it halts once more.
const sick = 3

// checkHealth halts the run before a scene, where too many before it could not be annotated.
func (r *Runner) checkHealth() error {
	if r.faulty < sick {
		return nil
	}
	return annotator.Errorf(annotator.Halted, "%s: %d scenes in a row could not be annotated, the last for this: %s", r.Config.Endpoint, r.faulty, r.fault).
		WithAdvice("see whether server, model and context are as they should be, then run again to go on, or `annotator retry` to have these scenes read again")
}

// refuse ends the scene at hand without a record, for what the model did: it is quarantined with the reason, and with what was
// written; where that is not said, with the newest reply.
func (r *Runner) refuse(reason string, raw []byte) (annotator.Event, error) {
	if len(raw) == 0 {
		raw = []byte(r.day.wrote)
	}
	return r.condemn(&model.Fault{Kind: annotator.Malformed, Message: reason, Raw: raw})
}

// tooLong ends the scene at hand without a record: its prompt needs more tokens than fit, though nothing is left in the window that
// could give way. It may be the server who says so.
func (r *Runner) tooLong(need, fit int) (annotator.Event, error) {
	said := r.day.said
	if said == nil {
		return r.pass(fmt.Sprintf("too long: the scene needs a prompt of about %d tokens, %d fit; raise --context-budget", need, fit), nil)
	}
	return r.condemn(&model.Fault{
		Kind: annotator.Shrink, Raw: said.Raw,
		Message: fmt.Sprintf("too long for the server, with a prompt of about %d tokens that has nothing beside the scene: %s", need, said.Error()),
	})
}

// condemn ends the scene at hand without a record, for a fault that no further attempt would mend.
func (r *Runner) condemn(fault *model.Fault) (annotator.Event, error) {
	if !fault.Filtered() {
		r.day.outcome.Fault = string(fault.Kind)
	}
	return r.pass(fault.Error(), fault.Raw)
}

// pass ends the scene at hand without a record. Where it is for what the story tells, or for how long it is, that is no sign of a
// broken server.
func (r *Runner) pass(reason string, raw []byte) (annotator.Event, error) {
	o := &r.day.outcome
	o.State, o.Reason, o.Raw = storage.SceneQuarantined, reason, raw
	return annotator.EventRefused, nil
}
