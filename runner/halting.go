package runner

import (
	"cmp"
	"context"
	"errors"

	"annotator"
	"annotator/model"
)

// halting is HALTING: it records the reason. The journal holds all else that the next run needs. A run that was refused
// for wrong use has not begun, and records nothing.
func (r *Runner) halting(ctx context.Context) (annotator.Event, error) {
	if r.progress.total == 0 && errors.Is(r.failure, annotator.Misused) {
		return annotator.EventEnd, nil
	}
	err := r.Store.Run.Halt(ctx, r.text(r.failure))
	if err != nil && !errors.Is(r.failure, annotator.Storage) { // a failed storage fails here, too
		r.failure = errors.Join(r.failure, err)
	}
	return annotator.EventEnd, nil
}

// finish publishes how the run ended, and returns it. The lack of any call precedes refused scenes in the message,
// because reading these again helps only once its cause is found.
func (r *Runner) finish() error {
	run, err := r.Store.Run.Status(context.Background())
	yield, yieldErr := r.Store.Run.Yield(context.Background(), model.EndpointOffline)
	done := run.Recorded + run.Quarantined
	left := done < run.Corpus.Scenes
	switch err = cmp.Or(err, yieldErr); {
	case r.failure != nil:
		err = r.failure
	case err != nil:
	case left && r.boundReached() != nil:
		err = r.stoppedAt(r.boundReached())
	case r.stopped() && left:
		err = annotator.Errorf(annotator.Interrupted, "stopped after scene %d of %d", done, run.Corpus.Scenes).
			WithAdvice("run again to go on")
	case yield.NoCalls():
		err = annotator.Errorf(annotator.NoCalls,
			"all scenes were read (%d of them quarantined), and no reply of the model made a call", run.Quarantined)
	case run.Quarantined > 0:
		err = annotator.Errorf(annotator.Quarantined, "%d of %d scenes could not be annotated", run.Quarantined,
			run.Corpus.Scenes)
	}
	err = r.advised(err)
	r.publish(annotator.Notice{Kind: annotator.NoticeEnd, Entries: run.Entries, Err: err})
	return err
}
