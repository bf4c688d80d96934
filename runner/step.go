package runner

import (
	"context"
	"fmt"

	"annotator"
)

type handler func(*Runner, context.Context) (annotator.Event, error)

// handlerOf names the handler of each state.
func handlerOf(state annotator.State) handler {
	switch state {
	case annotator.StateInit:
		return (*Runner).beginning
	case annotator.StateIdle:
		return (*Runner).idle
	case annotator.StateNoMore:
		return (*Runner).noMore
	case annotator.StateCompacting:
		return (*Runner).compacting
	case annotator.StatePreparing:
		return (*Runner).preparing
	case annotator.StateCalling:
		return (*Runner).calling
	case annotator.StateRetrying:
		return (*Runner).retrying
	case annotator.StateHalting:
		return (*Runner).halting
	case annotator.StateProcessing:
		return (*Runner).processing
	case annotator.StateToolExec:
		return (*Runner).toolExec
	case annotator.StateParsing:
		return (*Runner).parsing
	case annotator.StateRecording:
		return (*Runner).recording
	case annotator.StateBoundary:
		return (*Runner).boundary
	case annotator.StateCurating:
		return (*Runner).curating
	case annotator.StateCheckpoint:
		return (*Runner).checkpoint
	}
	return nil
}

// step runs a state's handler and looks up in the table where its event leads. A handler's error is the event that it
// failed.
func (r *Runner) step(ctx context.Context, state annotator.State) (annotator.State, error) {
	r.Store.Run.SetState(state)
	event, err := handlerOf(state)(r, ctx)
	if err != nil {
		r.failure, event = err, annotator.EventFailed
	}
	next, ok := annotator.Next(state, event)
	if !ok {
		return "", fmt.Errorf("the machine has no way on from %s at %q: %w", state, event, r.failure)
	}
	r.publish(annotator.Notice{Kind: annotator.NoticeTransition, State: state, Event: event, Next: next})
	return next, nil
}
