package runner

import (
	"context"
	"fmt"

	"annotator"
	"annotator/context/tokens"
	"annotator/context/window"
	"annotator/model"
)

// closingText is the assistant's message of a turn without an answer in text, so that roles alternate.
const closingText = "No further notes on this scene."

// recording is RECORDING: the outcome of the scene is recorded, once.
func (r *Runner) recording(ctx context.Context) (annotator.Event, error) {
	s := r.scene
	o := &s.outcome
	o.Scene, o.Turn = s.row.N, s.turn
	if o.State == "" {
		o.State = annotator.SceneRecorded
	}
	if o.State == annotator.SceneRecorded && s.turn != 0 && !s.closed {
		o.Close = s.nextRow(annotator.TraceClose)
		o.Close.Content, o.Close.Tokens = closingText, tokens.EstimateMessage(closingText)
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

// quarantine refuses the scene at hand for a fault that no further attempt would mend. A fault for the content of the story is no
// sign of a broken server, and does not count as a failure.
func (r *Runner) quarantine(fault *model.Fault) (annotator.Event, error) {
	o := &r.scene.outcome
	o.State, o.Reason, o.Raw = annotator.SceneQuarantined, fault.Error(), fault.Raw
	if !fault.Filtered {
		o.Fault = fault.Kind
	}
	return annotator.EventRefused, nil
}

// quarantineForReply refuses the scene at hand for what the model wrote.
func (r *Runner) quarantineForReply(reason string) (annotator.Event, error) {
	return r.quarantine(&model.Fault{Kind: annotator.Malformed, Message: reason, Raw: r.scene.replyText})
}

// quarantineTooLong refuses the scene at hand because its prompt does not fit an emptied window, or the server says so.
func (r *Runner) quarantineTooLong() (annotator.Event, error) {
	fault, needed := model.Fault{Kind: annotator.PromptTooLong}, r.window.Needed()
	if refusal := r.scene.overflow; refusal == nil {
		fault.Message = fmt.Sprintf("too long: the scene needs a prompt of about %d tokens, %d fit; raise --context-budget or lower --max-tokens",
			needed, r.window.Limits.Prompt())
	} else {
		fault.Message = fmt.Sprintf("too long for the server, with a prompt of about %d tokens that has nothing beside the scene: %s", needed, refusal)
		fault.Raw = refusal.Raw
	}
	return r.quarantine(&fault)
}

// maxReply is the most tokens that a reply to a prompt may have.
func (r *Runner) maxReply(p *window.Prompt) int { return max(1, r.window.Limits.ReplyAfter(p)) }
