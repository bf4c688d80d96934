package runner

import (
	"context"
	"errors"
	"fmt"

	"annotator"
	"annotator/corpus"
	"annotator/model"
	"annotator/storage"
)

// initialize is INIT: it makes sure that story, model and prompt are those the run began with, and folds the journal.
func (r *Runner) initialize(ctx context.Context) (annotator.Event, error) {
	for _, step := range []func(context.Context) error{r.findStory, r.findModel, r.findPrompt, r.recallContext, r.checkBudget, r.restore, r.preflight} {
		if err := step(ctx); err != nil {
			return "", err
		}
	}
	if counter, ok := r.Wire.(model.Counter); ok {
		r.window.UseTokenizer(ctx, func(ctx context.Context, text string) (int, error) {
			return counter.CountTokens(ctx, r.Config.Model, text)
		})
	}
	r.publish(annotator.Notice{Kind: annotator.NoticeRun})
	return annotator.EventStarted, nil
}

// findStory lists the story's scenes, or makes sure that they are the ones listed. A corpus that has only grown at its
// end is read on.
func (r *Runner) findStory(ctx context.Context) error {
	run, err := r.Store.Run.Status(ctx)
	if errors.Is(err, annotator.NotFound) {
		return r.listStory(ctx)
	}
	if err != nil {
		return err
	}
	identity, total, err := r.sameStory(ctx, &run)
	if err != nil || identity == run.Corpus.Identity {
		return err
	}
	if total > run.Corpus.Scenes {
		r.word(fmt.Sprintf("the corpus has grown by %d scenes", total-run.Corpus.Scenes))
	}
	return r.Store.Run.Extend(ctx, identity, r.Corpus.Scenes(ctx, r.limits()))
}

// sameStory makes sure that the corpus is the one that the run was made from: the very file, else one with the same scenes, and maybe
// more. It returns what the file is known by, and how many scenes there are now.
func (r *Runner) sameStory(ctx context.Context, run *storage.RunStatus) (identity string, total int, err error) {
	r.Config.SceneBytes = run.Corpus.SceneBytes // the scenes were cut so; they must not move
	identity, err = r.Corpus.Identity(ctx)
	if err != nil || identity == run.Corpus.Identity {
		return identity, run.Corpus.Scenes, err
	}
	changed, total, err := r.Store.Scenes.FirstDivergence(ctx, r.Corpus.Scenes(ctx, r.limits()))
	if err != nil || changed == 0 {
		return identity, total, err
	}
	which := "which is not read yet"
	if changed <= run.Recorded+run.Quarantined {
		which = "which was read"
	}
	return identity, total, annotator.Errorf(annotator.Misused, "the corpus has changed: scene %d, %s, reads otherwise now or is gone", changed, which).
		WithAdvice("put the corpus back, or start a new database with --no-resume")
}

func (r *Runner) listStory(ctx context.Context) error {
	identity, err := r.Corpus.Identity(ctx)
	if err != nil {
		return err
	}
	title, err := r.Corpus.Title(ctx)
	if err != nil {
		return err
	}
	return r.Store.Run.Begin(ctx, storage.Corpus{
		Title: title, Path: r.Corpus.Path(), Identity: identity, SceneBytes: r.Config.SceneBytes,
	}, r.Corpus.Scenes(ctx, r.limits()))
}

func (r *Runner) limits() corpus.Limits { return corpus.Limits{MaxBytes: r.Config.SceneBytes} }

// findModel asks the endpoint what it serves, and makes sure that the model is the one the run began with. An endpoint that
// cannot tell is taken at the user's word.
func (r *Runner) findModel(ctx context.Context) error {
	run, err := r.Store.Run.Status(ctx)
	if err != nil {
		return err
	}
	if err := r.chooseModel(ctx, &run); err != nil {
		return err
	}
	if run.Model != "" && run.Model != r.Config.Model && !r.Config.Accept["model"] {
		return annotator.Errorf(annotator.Misused, "this run was made with the model %s, and is now asked to go on with %s", run.Model, r.Config.Model).
			WithAdvice("name the server of %s with --endpoint, agree with --accept model, or start a new database with --no-resume", run.Model)
	}
	r.moved = run.Model != r.Config.Model || run.Endpoint != r.Config.Endpoint
	identity, err := r.Corpus.Identity(ctx)
	if err != nil {
		return err
	}
	if !r.moved && run.Corpus.Identity == identity && run.Corpus.Path == r.Corpus.Path() {
		return nil
	}
	return r.Store.Run.Configure(ctx, r.Config.Endpoint, r.Config.Model, r.Corpus.Path(), identity)
}

// chooseModel takes the configured model, else the one that was used before, else the first that the endpoint lists, and as much
// context as it has. Another endpoint need not serve what the former one did.
func (r *Runner) chooseModel(ctx context.Context, run *storage.RunStatus) error {
	named := r.Config.Model != ""
	if !named {
		r.Config.Model = run.Model
	}
	served, err := r.client().Models(ctx)
	if err != nil {
		return err
	}
	known := &r.capabilities.Context
	listed := known.SetListed(served, r.Config.Model)
	if !listed && len(served) > 0 && (r.Config.Model == "" || !named && run.Endpoint != r.Config.Endpoint) {
		r.Config.Model = served[0].ID
		known.SetListed(served, r.Config.Model)
	}
	known.Configured = r.Config.MaxContext[r.Config.Model]
	r.lowerBudget(known.Limit())
	if r.Config.Model == "" {
		return annotator.Errorf(annotator.Misused, "%s serves no model", r.Config.Endpoint).WithAdvice("name one with --model")
	}
	return nil
}

// restore folds the journal into the window and finds the scene that was open.
func (r *Runner) restore(ctx context.Context) error {
	run, err := r.Store.Run.Status(ctx)
	if err != nil {
		return err
	}
	r.total, r.done, r.open = run.Corpus.Scenes, run.Recorded+run.Quarantined, run.OpenScene
	r.capabilities.Answered = run.Recorded > 0 && !r.moved
	if run.Halted != "" {
		err = r.Store.Run.ResetFailures(ctx)
	} else {
		r.failures.count, r.failures.reason, err = r.Store.Scenes.ConsecutiveFailures(ctx, maxConsecutiveFailures)
	}
	if err != nil {
		return err
	}
	return r.window.Restore(ctx, r.moved)
}
