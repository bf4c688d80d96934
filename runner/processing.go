package runner

import (
	"context"

	"annotator"
	"annotator/model"
)

// demand is said to a model that calls no tool where it has to.
const demand = "Your reply calls no tool, and one has to be called now."

// processing is PROCESSING: it tells a reply that calls tools from one in text. Some servers pass over the demand for a call.
func (r *Runner) processing(ctx context.Context) (annotator.Event, error) {
	switch {
	case len(r.day.calls) > 0:
		return annotator.EventToolCalls, nil
	case r.choice().Mode == model.ChoiceRequired:
		content, err := r.content(ctx)
		switch {
		case err != nil:
			return "", err
		case len(content.updates) > 0: // they say in their block what they are for, or are denied
			return annotator.EventText, nil
		}
		return r.reask(ctx, annotator.CallRequired, demand)
	}
	return annotator.EventText, nil
}
