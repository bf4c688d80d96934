package runner

import (
	"context"

	"annotator"
	"annotator/context/tokens"
)

// closing is what the assistant says by rule where a turn has no answer in text, so that roles go on alternating.
const closing = "No further notes on this scene."

// recording is RECORDING: the scene's outcome, once.
func (r *Runner) recording(ctx context.Context) (annotator.Event, error) {
	d := r.day
	o := &d.outcome
	o.Scene, o.Turn = d.row.N, d.turn
	if o.State == "" {
		o.State = annotator.SceneRecorded
	}
	if o.State == annotator.SceneRecorded && d.turn != 0 && !d.closed {
		o.Close = d.next(annotator.TraceClose)
		o.Close.Content, o.Close.Tokens = closing, tokens.EstimateMessage(closing)
	}
	if err := r.Store.Scenes.Record(ctx, *o); err != nil {
		return "", err
	}
	if o.Close != nil {
		if err := r.add(o.Close); err != nil {
			return "", err
		}
	}
	r.done++
	r.read++
	r.failures.add(o, d.turn != 0)
	if o.State == annotator.SceneQuarantined && d.turn != 0 {
		return annotator.EventRecorded, r.window.Reload(ctx)
	}
	return annotator.EventRecorded, nil
}
