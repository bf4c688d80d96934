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

// refuse ends the scene at hand without a record, for what the model did: it is quarantined with the reason, and with the newest reply.
func (r *Runner) refuse(reason string) (annotator.Event, error) {
	return r.condemn(&model.Fault{Kind: annotator.Malformed, Message: reason, Raw: r.day.wrote})
}

// tooLong ends the scene at hand without a record: its prompt needs more tokens than fit, though nothing is left in the window that
// could give way. It may be the server who says so.
func (r *Runner) tooLong(need, fit int) (annotator.Event, error) {
	f := &model.Fault{Kind: annotator.Shrink}
	if said := r.day.said; said == nil {
		f.Message = fmt.Sprintf("too long: the scene needs a prompt of about %d tokens, %d fit; raise --context-budget or lower --max-tokens", need, fit)
	} else {
		f.Message = fmt.Sprintf("too long for the server, with a prompt of about %d tokens that has nothing beside the scene: %s", need, said.Error())
		f.Raw = said.Raw
	}
	return r.condemn(f)
}

// condemn ends the scene at hand without a record, for a fault that no further attempt would mend. Where it is for what the story
// tells, that is no sign of a broken server.
func (r *Runner) condemn(fault *model.Fault) (annotator.Event, error) {
	o := &r.day.outcome
	o.State, o.Reason, o.Raw = storage.SceneQuarantined, fault.Error(), fault.Raw
	if !fault.Filtered() {
		o.Fault = string(fault.Kind)
	}
	return annotator.EventRefused, nil
}
