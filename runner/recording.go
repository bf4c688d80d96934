package runner

import (
	"context"

	"annotator"
	"annotator/context/tokens"
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
