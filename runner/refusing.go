package runner

import (
	"fmt"

	"annotator"
	"annotator/model"
)

// refuse quarantines the scene at hand for what the model did, with the reason and the newest reply.
func (r *Runner) refuse(reason string) (annotator.Event, error) {
	return r.quarantine(&model.Fault{Kind: annotator.Malformed, Message: reason, Raw: r.day.wrote})
}

// tooLong quarantines the scene at hand because its prompt does not fit, by our count or by the server's, though
// nothing is left in the window that could be compacted.
func (r *Runner) tooLong(need, fit int) (annotator.Event, error) {
	f := &model.Fault{Kind: annotator.PromptTooLong}
	if said := r.day.said; said == nil {
		f.Message = fmt.Sprintf("too long: the scene needs a prompt of about %d tokens, %d fit; raise --context-budget or lower --max-tokens", need, fit)
	} else {
		f.Message = fmt.Sprintf("too long for the server, with a prompt of about %d tokens that has nothing beside the scene: %s", need, said.Error())
		f.Raw = said.Raw
	}
	return r.quarantine(f)
}

// quarantine ends the scene at hand without a record, for a fault that another attempt would not avoid. A content
// filter's refusal is no failure of the server.
func (r *Runner) quarantine(fault *model.Fault) (annotator.Event, error) {
	o := &r.day.outcome
	o.State, o.Reason, o.Raw = annotator.SceneQuarantined, fault.Error(), fault.Raw
	if !fault.Filtered() {
		o.Fault = fault.Kind
	}
	return annotator.EventRefused, nil
}
