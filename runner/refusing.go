package runner

import (
	"context"
	"fmt"

	"annotator"
	"annotator/model"
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

// rest is how many scenes a server that was not well is spared a kind of question that the story can do without.
const rest = 50

// checkAnswers looks, before a question beside the story, whether the server was not well at as many of that kind before it: each
// of them has waited for an answer as long as a scene does, and a story has thousands. A summary can be made by rule and a tool
// can say that it has no answer, so those do without, with the error model.Unanswered, and the server is asked once more after a rest. An entry that
// is passed over is never looked at again, so for the curator the run halts.
func (r *Runner) checkAnswers(ctx context.Context, purpose annotator.CallPurpose) error {
	n, last, err := r.Store.Calls.ConsecutiveFailures(ctx, purpose, sick)
	if err != nil || n < sick {
		return err
	}
	wrong := fmt.Sprintf("it was asked %d times in a row to %s, and gave no answer, the last time for this: %s", n, purpose, last.Fault)
	if purpose == annotator.PurposeCurate {
		return annotator.Errorf(annotator.Halted, "%s: %s", r.Config.Endpoint, wrong).
			WithAdvice("see whether the server is well and answers requests as long as these in time, then run again to go on, with --no-curator to read on without")
	}
	if again := last.Scene + rest; r.day.row.N < again {
		r.word(fmt.Sprintf("%s: %s; the story goes on without, and it is asked again from scene %d on", r.Config.Endpoint, wrong, again))
		return &model.Unanswered{Fault: &model.Fault{Kind: annotator.Transient, Message: wrong}}
	}
	return nil
}

// refuse ends the scene at hand without a record, for what the model did: it is quarantined with the reason, and with the newest reply.
func (r *Runner) refuse(reason string) (annotator.Event, error) {
	return r.condemn(&model.Fault{Kind: annotator.Malformed, Message: reason, Raw: r.day.wrote})
}

// tooLong ends the scene at hand without a record: its prompt needs more tokens than fit, though nothing is left in the window that
// could give way. It may be the server who says so.
func (r *Runner) tooLong(need, fit int) (annotator.Event, error) {
	f := &model.Fault{Kind: annotator.PromptTooLong}
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
	o.State, o.Reason, o.Raw = annotator.SceneQuarantined, fault.Error(), fault.Raw
	if !fault.Filtered() {
		o.Fault = fault.Kind
	}
	return annotator.EventRefused, nil
}
