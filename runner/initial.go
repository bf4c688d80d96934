package runner

import (
	"context"
	"errors"

	"annotator"
	"annotator/storage"
)

// errInterrupted is the cause of INIT's end after Stop.
var errInterrupted = errors.New("interrupted")

// initial is INIT. Stop ends it at once, because listing the scenes of a long story takes minutes, and a server may not
// answer. Nothing is lost: each step is either committed or repeated by the next run.
func (r *Runner) initial(ctx context.Context) (annotator.Event, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	go func() {
		select {
		case <-r.interrupt:
			cancel(errInterrupted)
		case <-ctx.Done():
		}
	}()
	if r.stopped() { // before the goroutine has run
		cancel(errInterrupted)
	}
	err := r.initialize(ctx)
	if err != nil && errors.Is(context.Cause(ctx), errInterrupted) {
		err = annotator.Errorf(annotator.Interrupted,
			"stopped before a scene was begun").WithAdvice("run again to go on")
	}
	return annotator.EventStarted, err
}

// findBeginning finds what a run begins with: its story and its seed.
func (r *Runner) findBeginning(ctx context.Context) (storage.RunStatus, error) {
	run, err := r.findStory(ctx)
	if err == nil && r.config.Seed != nil {
		err = r.Store.Edits.Seed(ctx, r.config.Seed)
	}
	return run, err
}

// initialize checks that story, model and prompt are unchanged since the run began, and restores the window.
func (r *Runner) initialize(ctx context.Context) error {
	run, err := r.findBeginning(ctx)
	if err != nil {
		return err
	}
	newModel, err := r.findModel(ctx, &run)
	if err != nil {
		return err
	}
	newPrompt, err := r.findPrompt(ctx, &run, newModel)
	if err != nil {
		return err
	}
	if err := r.findContextLimit(&run); err != nil {
		return err
	}
	if err := r.restore(ctx, &run, newModel || newPrompt); err != nil {
		return err
	}
	if r.progress.done < r.progress.total || r.progress.resume > 0 {
		if r.progress.resume == 0 { // before the first request
			if reached, err := r.checkBounds(ctx); reached || err != nil {
				return err
			}
		}
		if err := r.preflight(ctx, &run, newModel); err != nil {
			return err
		}
	}
	if err := r.keepBudget(ctx, &run); err != nil {
		return err
	}
	r.window.UseTokenizer(ctx, r.Client.CountTokens)
	if run.OpenScene == 0 { // else the checkpoint does it
		if err := r.names.CatchUp(ctx); err != nil {
			return err
		}
	}
	r.publish(annotator.Notice{Kind: annotator.NoticeRun})
	return nil
}

// restore computes the window from the journal. newPrefix says that the prefix of requests has changed, so that former
// counts of tokens do not hold.
func (r *Runner) restore(ctx context.Context, run *storage.RunStatus, newPrefix bool) (err error) {
	r.progress = progress{total: run.Corpus.Scenes, done: run.Recorded + run.Quarantined, resume: run.OpenScene}
	r.Client.Capabilities.Answered = run.Recorded > 0 && !newPrefix
	if run.Halted != "" { // the user has looked at the server since
		err = r.Store.Run.ResetFailures(ctx)
	} else {
		r.failures.count, r.failures.reason, err = r.Store.Scenes.ConsecutiveFailures(ctx, maxConsecutiveFailures)
	}
	if err != nil {
		return err
	}
	return r.window.Restore(ctx, newPrefix)
}
