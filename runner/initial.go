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

// errInterrupted is the cause of INIT's end after Stop.
var errInterrupted = errors.New("interrupted")

// initial is INIT. Stop ends it at once, because listing the scenes of a long story takes minutes, and a server may not answer.
// Nothing is lost: each step is either committed or repeated by the next run.
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
		err = annotator.Errorf(annotator.Interrupted, "stopped before a scene was begun").WithAdvice("run again to go on")
	}
	return annotator.EventStarted, err
}

// initialize checks that story, model and prompt are those that the run began with, and restores the window.
func (r *Runner) initialize(ctx context.Context) error {
	run, err := r.findStory(ctx)
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
	if err := r.preflight(ctx, &run, newModel); err != nil {
		return err
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

// findStory lists the scenes of the story, or checks that they are those listed before. A corpus that has only grown at its end
// is read on. It returns the state of the run.
func (r *Runner) findStory(ctx context.Context) (run storage.RunStatus, err error) {
	switch run, err = r.Store.Run.Status(ctx); {
	case errors.Is(err, annotator.NotFound):
		err = r.listStory(ctx)
	case err == nil:
		err = r.extendStory(ctx, &run)
	}
	if err != nil {
		return run, err
	}
	return r.Store.Run.Status(ctx)
}

func (r *Runner) listStory(ctx context.Context) error {
	identity, err := r.corpus.Identity(ctx)
	if err != nil {
		return err
	}
	title, err := r.corpus.Title(ctx)
	if err != nil {
		return err
	}
	return r.Store.Run.Begin(ctx, storage.Corpus{
		Title: title, Path: r.corpus.Path(), Identity: identity, SceneBytes: r.config.SceneBytes,
	}, r.corpus.Scenes(ctx, r.config.SceneBytes))
}

func (r *Runner) extendStory(ctx context.Context, run *storage.RunStatus) error {
	identity, total, err := r.sameStory(ctx, run)
	if err != nil || identity == run.Corpus.Identity {
		return err
	}
	if total > run.Corpus.Scenes {
		r.warn(fmt.Sprintf("the corpus has grown by %d scenes", total-run.Corpus.Scenes))
	}
	return r.Store.Run.Extend(ctx, identity, r.corpus.Scenes(ctx, r.config.SceneBytes))
}

// sameStory checks that the corpus is the file that the run began with, or has the same scenes and perhaps more. It returns the
// identity of the file and the number of its scenes.
func (r *Runner) sameStory(ctx context.Context, run *storage.RunStatus) (identity string, total int, err error) {
	r.config.SceneBytes = run.Corpus.SceneBytes // the scenes were split by it
	identity, err = r.corpus.Identity(ctx)
	if err != nil || identity == run.Corpus.Identity {
		return identity, run.Corpus.Scenes, err
	}
	total, err = CompareStory(ctx, r.Store, run, r.corpus)
	return identity, total, err
}

// CompareStory returns how many scenes a corpus has. The error is of kind annotator.Misused where they are not those that a run
// has listed, and perhaps more.
func CompareStory(ctx context.Context, store *storage.DB, run *storage.RunStatus, source *corpus.DB) (total int, err error) {
	changed, total, err := store.Scenes.FirstDivergence(ctx, source.Scenes(ctx, run.Corpus.SceneBytes))
	if err != nil || changed == 0 {
		return total, err
	}
	which := "which is not read yet"
	if changed <= run.Recorded+run.Quarantined {
		which = "which was read"
	}
	return total, annotator.Errorf(annotator.Misused, "the corpus has changed: the text of scene %d, %s, differs or is gone",
		changed, which).WithReason(annotator.ReasonStoryChanged)
}

// findModel asks the endpoint what it serves, and checks that the model is the one that the run began with. It reports whether
// the model or the endpoint is another than before.
func (r *Runner) findModel(ctx context.Context, run *storage.RunStatus) (changed bool, err error) {
	if err := r.checkEmbedded(run); err != nil {
		return false, err
	}
	if err := r.chooseModel(ctx, run); err != nil {
		return false, err
	}
	if run.Calls > 0 && run.Model != r.Client.Model && !r.config.Accept["model"] { // a mistyped name has answered nothing
		return false, annotator.Errorf(annotator.Misused, "this run was made with the model %s, and is now asked to go on with %s",
			run.Model, r.Client.Model).
			WithReason(annotator.ReasonModelChanged, run.Model)
	}
	changed = run.Model != r.Client.Model || run.Endpoint != r.config.Endpoint
	identity, err := r.corpus.Identity(ctx)
	if err != nil || !changed && run.Corpus.Identity == identity && run.Corpus.Path == r.corpus.Path() {
		return changed, err
	}
	return changed, r.Store.Run.Configure(ctx, r.config.Endpoint, r.Client.Model, r.corpus.Path(), identity)
}

// checkEmbedded refuses to go on with the embedded model where a server's model has answered, and the reverse, whatever the
// models are called: an endpoint that was forgotten must not change who annotates the story.
func (r *Runner) checkEmbedded(run *storage.RunStatus) error {
	before, now := run.Endpoint == model.EndpointOffline, r.config.Endpoint == model.EndpointOffline
	switch {
	case run.Calls == 0 || before == now || r.config.Accept["model"]:
		return nil
	case now:
		return annotator.Errorf(annotator.Misused, "this run was made with the model %s at %s, and is now asked to go on with the embedded model",
			run.Model, run.Endpoint).WithReason(annotator.ReasonModelChanged, run.Model)
	}
	return annotator.Errorf(annotator.Misused, "this run was made with the embedded model, and is now asked to go on with a model at %s",
		r.config.Endpoint).WithReason(annotator.ReasonRunIsEmbedded)
}

// chooseModel takes the configured model, else the one used before, else the first that the endpoint lists, and chooses the
// context budget. Another endpoint need not serve the model used before. An endpoint that cannot list its
// models is asked for the configured one.
func (r *Runner) chooseModel(ctx context.Context, run *storage.RunStatus) error {
	c, configured := r.Client, r.config.Model != ""
	if !configured {
		c.Model = run.Model
	}
	served, err := c.Models(ctx)
	if err != nil {
		return err
	}
	listed := c.Capabilities.SetListed(served, c.Model)
	if !listed && len(served) > 0 && (c.Model == "" || !configured && run.Endpoint != r.config.Endpoint) {
		c.Model = served[0].ID
		c.Capabilities.SetListed(served, c.Model)
	}
	r.useSettingsOf(c.Model)
	r.beginBudget(run)
	if c.Model == "" {
		return annotator.Errorf(annotator.Misused, "%s serves no model", r.config.Endpoint).WithReason(annotator.ReasonNoModel)
	}
	return nil
}

// useSettingsOf puts the settings in force that are made for a model.
func (r *Runner) useSettingsOf(model string) {
	if margin, set := r.config.Margins[model]; set {
		r.window.Budget.Margin = margin
	}
	if share, set := r.config.HighWater[model]; set {
		r.window.Config.Policy.High = share
	}
	r.window.Budget.Configured = r.config.MaxContext[model]
	r.window.Config.TokenRatio = r.config.TokenRatio[model]
}

// restore computes the window from the journal. newPrefix says that requests begin otherwise than before, so that former counts
// of tokens do not hold.
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
