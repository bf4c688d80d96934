package runner

import (
	"context"

	"annotator"
	"annotator/model"
)

// processing is PROCESSING: it tells a reply that calls tools from one in text. Some servers pass over the demand for a call.
func (r *Runner) processing(ctx context.Context) (annotator.Event, error) {
	switch {
	case len(r.day.calls) > 0:
		return annotator.EventToolCalls, nil
	case r.choice().Mode == model.ChoiceRequired && r.day.reasks == 0:
		return r.reask(ctx, "Your reply calls no tool, and one has to be called now.", r.day.reply.Content)
	}
	return annotator.EventText, nil
}
