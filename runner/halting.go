package runner

import (
	"context"
	"errors"

	"annotator"
)

// halting is HALTING: the reason is put on record. All else is in the journal already, which the next run goes on from. A run that
// was refused for how it was called has never begun, and a finished one stays finished.
func (r *Runner) halting(ctx context.Context) (annotator.Event, error) {
	if r.total == 0 && errors.Is(r.failure, annotator.Misused) {
		return annotator.EventEnd, nil
	}
	err := r.Store.Run.Halt(ctx, r.failure.Error())
	if err != nil && !errors.Is(r.failure, annotator.Storage) { // else it fails at this, too, and that is no news
		r.failure = errors.Join(r.failure, err)
	}
	return annotator.EventEnd, nil
}

// ending tells how the run ended.
func (r *Runner) ending() error {
	run, err := r.Store.Run.Status(context.Background())
	switch {
	case r.failure != nil:
		err = r.failure
	case err != nil:
	case r.stop.Load() && run.Recorded+run.Quarantined < run.Corpus.Scenes:
		err = annotator.Errorf(annotator.Interrupted, "stopped after scene %d of %d", run.Recorded+run.Quarantined, run.Corpus.Scenes).
			WithAdvice("run again to go on")
	case run.Quarantined > 0:
		err = annotator.Errorf(annotator.Quarantined, "%d of %d scenes could not be annotated", run.Quarantined, run.Corpus.Scenes).
			WithAdvice("`annotator status` names them and says why")
	}
	n := annotator.Notice{Kind: annotator.NoticeEnd, Entries: run.Entries}
	if err != nil {
		n.Reason = err.Error()
	}
	r.publish(n)
	return err
}
