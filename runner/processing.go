package runner

import (
	"context"

	"annotator"
	"annotator/model"
)

// demand is the correction of a reply without a call where one is required.
const demand = "Your reply calls no tool, and one has to be called now."

// processing is PROCESSING: it distinguishes a reply that calls tools from one in text. Some servers ignore that a call
// is required.
func (r *Runner) processing(ctx context.Context) (annotator.Event, error) {
	switch {
	case len(r.day.calls) > 0:
		return annotator.EventToolCalls, nil
	case r.choice().Mode == model.ChoiceRequired:
		content, err := r.content(ctx)
		switch {
		case err != nil:
			return "", err
		case len(content.updates) > 0: // the block declares its intent, or its updates are denied
			return annotator.EventText, nil
		}
		return r.reask(ctx, annotator.CallRequired, demand)
	}
	return annotator.EventText, nil
}
