package runner

import (
	"context"

	"annotator"
	"annotator/model"
	"annotator/storage"
)

// findModel asks the endpoint which models it serves, and checks that the model is the one that the run began with. It
// reports whether the model or the endpoint has changed.
func (s *session) findModel(ctx context.Context, run *storage.RunStatus) (changed bool, err error) {
	if err := s.checkOffline(run); err != nil {
		return false, err
	}
	if err := s.chooseModel(ctx, run); err != nil {
		return false, err
	}
	// a mistyped name has answered nothing
	if run.Calls > 0 && run.Model != s.Client.Model && !s.config.Accept["model"] {
		return false, annotator.Errorf(annotator.Misused,
			"this run was made with the model %s, and is now asked to go on with %s",
			run.Model, s.Client.Model).
			WithReason(annotator.ReasonModelChanged, run.Model)
	}
	changed = run.Model != s.Client.Model || run.Endpoint != s.config.Endpoint
	if !changed && run.Corpus.Path == s.corpus.Path() {
		return false, nil
	}
	return changed, s.Store.Run.Configure(ctx, s.config.Endpoint, s.Client.Model, s.corpus.Path())
}

// checkOffline refuses to replace a server's model by the offline model, and the reverse, whatever their names. An
// endpoint that the user forgot must not change who annotates the story.
func (s *session) checkOffline(run *storage.RunStatus) error {
	before, now := run.Endpoint == model.EndpointOffline, s.config.Endpoint == model.EndpointOffline
	switch {
	case run.Calls == 0 || before == now || s.config.Accept["model"]:
		return nil
	case now:
		return annotator.Errorf(annotator.Misused,
			"this run was made with the model %s at %s, and is now asked to go on with the offline model",
			run.Model, run.Endpoint).WithReason(annotator.ReasonModelChanged, run.Model)
	}
	return annotator.Errorf(annotator.Misused,
		"this run was made with the offline model, and is now asked to go on with a model at %s",
		s.config.Endpoint).WithReason(annotator.ReasonRunIsOffline)
}

// chooseModel chooses the configured model, else the one used before, else the first that the endpoint lists. It also
// chooses the context budget. Another endpoint need not serve the model used before. An endpoint that cannot list its
// models is asked for the configured one.
func (s *session) chooseModel(ctx context.Context, run *storage.RunStatus) error {
	c, configured := s.Client, s.config.Model != ""
	if !configured {
		c.Model = run.Model
	}
	served, err := c.Models(ctx)
	if err != nil {
		return err
	}
	listed := c.Capabilities.SetListed(served, c.Model)
	if !listed && len(served) > 0 && (c.Model == "" || !configured && run.Endpoint != s.config.Endpoint) {
		c.Model = served[0].ID
		c.Capabilities.SetListed(served, c.Model)
	}
	s.useSettingsOf(c.Model)
	s.beginBudget(run)
	if c.Model == "" {
		return annotator.Errorf(annotator.Misused, "%s serves no model",
			s.config.Endpoint).WithReason(annotator.ReasonNoModel)
	}
	return nil
}

// useSettingsOf applies the settings for a model.
func (s *session) useSettingsOf(model string) {
	if margin, set := s.config.Margins[model]; set {
		s.window.Budget.Margin = margin
	}
	if share, set := s.config.HighWater[model]; set {
		s.window.Config.Policy.High = share
	}
	s.window.Budget.Configured = s.config.MaxContext[model]
	s.window.Config.TokenRatio = s.config.TokenRatio[model]
}
