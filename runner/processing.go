package runner

import (
	"context"

	"annotator"
)

// processing is PROCESSING: it tells a reply that calls tools from one in text.
func (r *Runner) processing(context.Context) (annotator.Event, error) {
	if len(r.day.calls) > 0 {
		return annotator.EventToolCalls, nil
	}
	return annotator.EventText, nil
}
