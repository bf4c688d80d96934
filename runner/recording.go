package runner

import (
	"context"
	"fmt"

	"annotator"
	"annotator/context/tokens"
	"annotator/model"
)

// recording is RECORDING: the outcome of the scene is recorded, once.
func (r *Runner) recording(ctx context.Context) (annotator.Event, error) {
	s := r.scene
	o := &s.outcome
	o.Scene, o.Turn = s.row.N, s.turn
	if o.State == "" {
		o.State = annotator.SceneRecorded
	}
	if o.State == annotator.SceneRecorded && s.turn != 0 && !s.Closed {
		o.Close = s.nextRow(annotator.TraceClose)
		o.Close.Content = s.ClosingWords()
		o.Close.Tokens = tokens.EstimateMessage(o.Close.Content)
	}
	if o.State == annotator.SceneRecorded {
		followUp, err := r.followUps().Finding(ctx)
		if err != nil {
			return "", err
		}
		o.FollowUp = followUp
	}
	if err := r.Store.Scenes.Record(ctx, *o); err != nil {
		return "", err
	}
	if o.Close != nil {
		if err := r.apply(o.Close); err != nil {
			return "", err
		}
	}
	r.progress.done++
	r.progress.read++
	r.failures.add(o, s.turn != 0)
	if o.State == annotator.SceneQuarantined && s.turn != 0 { // its turn leaves the window
		return annotator.EventRecorded, r.window.Reload(ctx)
	}
	return annotator.EventRecorded, nil
}

// quarantine refuses the present scene for a fault that no further attempt would remove. A fault caused by the content
// of the story is no sign of a broken server, and does not count as a failure.
func (r *reading) quarantine(fault *model.Fault) (annotator.Event, error) {
	o := &r.scene.outcome
	o.State, o.Reason, o.Raw = annotator.SceneQuarantined, fault.Error(), fault.Raw
	if !fault.Filtered {
		o.Fault = fault.Kind
	}
	return annotator.EventRefused, nil
}

// quarantineForReply refuses the present scene for the model's reply.
func (r *reading) quarantineForReply(reason error) (annotator.Event, error) {
	return r.quarantine(&model.Fault{Kind: annotator.Malformed, Message: r.text(reason), Raw: r.scene.Text})
}

// quarantineTooLong refuses the present scene because its prompt does not fit an emptied window, or the server says so.
// If hardly any scene would fit, by the server's counts, the run halts.
func (r *reading) quarantineTooLong() (annotator.Event, error) {
	if err := r.checkContext(r.window.Counter()); err != nil {
		return "", err
	}
	fault, needed := model.Fault{Kind: annotator.PromptTooLong}, r.window.Needed()
	if refusal := r.scene.overflow; refusal == nil {
		fault.Message = r.text(annotator.Errorf(fault.Kind, "too long: the scene needs a prompt of about %d tokens, "+
			"%d fit", needed, r.window.Budget.Prompt()).WithReason(annotator.ReasonSceneTooLong))
	} else {
		fault.Message = fmt.Sprintf("too long for the server, with a prompt of about %d tokens that has nothing "+
			"beside the scene: %s", needed, refusal)
		fault.Raw = refusal.Raw
	}
	return r.quarantine(&fault)
}
