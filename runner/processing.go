package runner

import (
	"context"
	"errors"

	"annotator"
	"annotator/context/tokens"
	"annotator/model"
	"annotator/policy"
)

// callDemand is the correction of a reply without the call that was required. Some servers ignore tool_choice.
const callDemand = "Your reply calls no tool, and one has to be called now."

// processing is PROCESSING: it distinguishes a reply with tool calls from one in text.
func (r *Runner) processing(ctx context.Context) (annotator.Event, error) {
	if len(r.scene.Calls)+r.scene.Answered() > 0 {
		return annotator.EventToolCalls, nil
	}
	if r.choice().Mode != model.ChoiceRequired {
		return annotator.EventText, nil
	}
	content := &r.scene.Reply.Parsed
	if len(content.Updates) > 0 { // they declare their intent in the block, or are denied
		return annotator.EventText, nil
	}
	if content.Problem != nil {
		return r.correct(ctx, annotator.CallRequired, unreadable(content.Problem, r.scene.Cut)+" "+callDemand)
	}
	return r.correct(ctx, annotator.CallRequired, callDemand)
}

// declareAgain is added to a correction, because a new request begins without an intent.
const declareAgain = "Nothing is declared any more: before you change anything, declare your intent again, with " +
	policy.SelectIntent + " or in the block."

// correct sends the model a correction, as a note with a code if it has one. After a second one in a row the scene is
// refused with what the model wrote. A further request hardly ever helps, and its text would stay in the window. A call
// that can be run resets the count. The rounds of tools are limited, so a scene has at most twice as many requests.
func (r *reading) correct(ctx context.Context, code, correction string) (annotator.Event, error) {
	s := r.scene
	if s.Corrections > 0 {
		return r.quarantineForReply(errors.New("the model was corrected and did no better: " + correction))
	}
	if r.config.Governance != policy.Off {
		correction += " " + declareAgain
	}
	row := s.nextRow(annotator.TraceNote)
	row.Content, row.Error, row.Tokens = correction, code, tokens.EstimateMessage(correction)
	if err := r.Store.Journal.Append(ctx, row); err != nil {
		return "", err
	}
	return annotator.EventReask, r.apply(row)
}
