package runner

import (
	"cmp"
	"context"
	"time"

	"annotator"
	"annotator/model"
	"annotator/model/doctor"
	"annotator/storage"
)

// preflight makes the checks of the doctor that decide whether the run can begin: all that a run sends can be rendered, and
// what the chat template leaves out is known. The client learns the workarounds. A server that is loading is waited for.
func (r *Runner) preflight(ctx context.Context, run *storage.RunStatus, newModel bool) error {
	if !r.config.Preflight || r.progress.done == r.progress.total && r.progress.resume == 0 {
		return nil
	}
	before := r.Client.Capabilities.Workarounds
	endpoint := &doctor.Endpoint{
		Wire: r.Client.Wire, System: r.prompt.SystemPrompt, Tools: r.tools.Definitions(), Scene: "This is a test of the connection.",
		Temperature: r.config.Temperature, Stream: r.config.Stream, Now: time.Now,
		Begun:    run.Recorded > 0 && !newModel,
		Measured: run.Recorded > 0 && !newModel && run.Halted == "", Beside: r.Beside,
	}
	if newModel || !r.window.Counter().Learned() { // a run that is resumed must not learn the same again
		endpoint.Measure = r.window.Prefix.Measure
	}
	findings, err := doctor.Preflight(ctx, endpoint, r.Client)
	if err != nil {
		return err
	}
	r.window.Budget.Loaded = doctor.LoadedContext(ctx, endpoint, r.Client.Model)
	if err := r.window.Relearn(ctx); err != nil {
		return err
	}
	if err := r.updateBudget(ctx); err != nil {
		return err
	}
	if w := r.Client.Capabilities.Workarounds &^ before & model.ForTemplates; w != 0 {
		r.warn("the server's chat template needs messages in another form (docs/servers.md): " + w.Rendering())
	}
	for i := range findings {
		switch f := &findings[i]; f.State {
		case doctor.Failed:
			err := annotator.Errorf(annotator.Halted, "%s: %s", r.config.Endpoint, f.Seen)
			if f.Reason != "" {
				return err.WithReason(f.Reason)
			}
			return err.WithReason(annotator.ReasonServerUnfit, cmp.Or(f.Remedy(), "see to the server"))
		case doctor.Missing:
			r.warnOf(annotator.Errorf("", "%s", f.Seen).WithReason(annotator.ReasonServerUnfit, cmp.Or(f.Remedy(), "see to the server")))
		}
	}
	if endpoint.Begun { // scenes have fitted
		return nil
	}
	return r.checkContext(r.window.Counter())
}
