package runner

import (
	"annotator"
	"annotator/model"
	"annotator/storage"
)

// sick is how many scenes in a row may not be annotated before it is the server, or the model, that is taken for broken. Both
// fail in many ways, so it does not matter whether they failed in the same. A sound pair hardly ever fails at three neighbours;
// a broken one would have the rest of the book quarantined by the morning, and a halt loses nothing: when the run is
// started again, somebody has looked, and as many scenes may fail before it halts once more.
const sick = 3

// refuse ends the scene at hand without a record, for what the model did: it is quarantined with the reason, and with what was
// written; where that is not said, with the newest reply.
func (r *Runner) refuse(reason string, raw []byte) (annotator.Event, error) {
	if len(raw) == 0 {
		raw = []byte(r.day.wrote)
	}
	return r.condemn(&model.Fault{Kind: annotator.Malformed, Message: reason, Raw: raw})
}

// condemn ends the scene at hand without a record, for a fault that no further attempt would mend. The last of too many in a row
// halts the run instead, with the scene still to be read.
func (r *Runner) condemn(fault *model.Fault) (annotator.Event, error) {
	if fault.Filtered() { // what the story tells is no sign of a broken server
		return r.pass(fault.Error(), fault.Raw)
	}
	if r.faulty+1 >= sick {
		return "", annotator.Errorf(annotator.Halted, "%s: scene %d is one of %d in a row that cannot be annotated: %w", r.Config.Endpoint,
			r.day.row.N, sick, fault).WithAdvice("see whether the server and the model are well, then run again; `annotator retry` reads quarantined scenes again")
	}
	r.day.outcome.Fault = string(fault.Kind)
	return r.pass(fault.Error(), fault.Raw)
}

// pass ends the scene at hand without a record, for what it is itself.
func (r *Runner) pass(reason string, raw []byte) (annotator.Event, error) {
	o := &r.day.outcome
	o.State, o.Reason, o.Raw = storage.SceneQuarantined, reason, raw
	return annotator.EventRefused, nil
}
