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

// preflight makes the checks of the doctor that decide whether the run can begin. All that a run sends must be
// rendered, and the parts that the chat template omits must be known. The client learns the workarounds. It waits for a
// server that is loading.
func (s *session) preflight(ctx context.Context, run *storage.RunStatus, newModel bool) error {
	if !s.config.Preflight {
		return nil
	}
	before := s.Client.Capabilities.Workarounds
	endpoint := &doctor.Endpoint{
		Wire: s.Client.Wire, System: s.prompt.SystemPrompt, Tools: s.tools.Definitions(),
		Scene:       "This is a test of the connection.",
		Temperature: s.config.Temperature, Stream: s.config.Stream, Now: time.Now,
		Begun:    run.Recorded > 0 && !newModel,
		Measured: run.Recorded > 0 && !newModel && run.Halted == "", Beside: s.Beside,
	}
	if newModel || !s.window.Counter().Learned() { // a run that is resumed must not learn the same again
		endpoint.Measure = s.window.Prefix.Measure
	}
	findings, err := doctor.Preflight(ctx, endpoint, s.Client)
	if err != nil {
		return err
	}
	s.window.Budget.Loaded = doctor.LoadedContext(ctx, endpoint, s.Client.Model)
	if err := s.window.Relearn(ctx); err != nil {
		return err
	}
	if err := s.updateBudget(ctx); err != nil {
		return err
	}
	if w := s.Client.Capabilities.Workarounds &^ before & model.ForTemplates; w != 0 {
		s.warn("the server's chat template needs messages in another form (docs/servers.md): " + w.Rendering())
	}
	for i := range findings {
		switch f := &findings[i]; f.State {
		case doctor.Failed:
			err := annotator.Errorf(annotator.Halted, "%s: %s", s.config.Endpoint, f.Seen)
			if f.Reason != "" {
				return err.WithReason(f.Reason)
			}
			return err.WithReason(annotator.ReasonServerUnfit, cmp.Or(f.Remedy(), "see to the server"))
		case doctor.Missing:
			s.warnOf(annotator.Errorf("", "%s", f.Seen).WithReason(annotator.ReasonServerUnfit,
				cmp.Or(f.Remedy(), "see to the server")))
		}
	}
	if endpoint.Begun { // scenes have fitted
		return nil
	}
	return s.checkContext(s.window.Counter())
}
