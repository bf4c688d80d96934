package runner

import (
	"cmp"
	"context"
	"fmt"

	"annotator"
	"annotator/context/tokens"
	"annotator/storage"
)

// beginBudget sets the budget: the configured one, else the one that the run began with, else one by the model's
// context.
func (s *session) beginBudget(run *storage.RunStatus) {
	s.window.Budget.Wanted = cmp.Or(s.config.ContextBudget, run.Budget)
	s.warnOfBudget(s.window.Budget.Begin())
}

// findContextLimit uses the context that the server reported to an earlier process, so that a resumed run continues as
// an uninterrupted one. A context that the server lists now, or that the user configures, has precedence. After a halt
// or the end of the story the server may have been changed. A context in which hardly a scene fits is refused.
func (s *session) findContextLimit(run *storage.RunStatus) error {
	b, prefix := s.window.Budget, s.window.Prefix.Tokens(nil)
	if run.Halted == "" && b.Server() == 0 {
		b.Told = run.ContextTold
		s.warnOfBudget(b.Update(prefix))
	}
	return b.Check(prefix)
}

// keepBudget records the budget, so that later processes use it although the server may accept more then. The context
// that a server reports outside of its API is known by now.
func (s *session) keepBudget(ctx context.Context, run *storage.RunStatus) error {
	b := s.window.Budget
	if b.Wanted = b.Usual(); b.Wanted == run.Budget {
		return nil
	}
	b.Begin()
	return s.Store.Run.KeepContext(ctx, 0, b.Wanted)
}

// updateBudget lowers the budget to the context that the server has reported since, and records that. A context in
// which hardly a scene fits is refused.
func (s *session) updateBudget(ctx context.Context) error {
	b := s.window.Budget
	if !s.warnOfBudget(b.Update(s.window.Prefix.Tokens(nil))) {
		return nil
	}
	if err := s.Store.Run.KeepContext(ctx, b.Told, 0); err != nil {
		return err
	}
	return s.checkContext(nil)
}

// checkContext halts the run if, by what a counter has learned, hardly a scene fits after the prefix.
func (s *session) checkContext(counter *tokens.Counter) error {
	if err := s.window.Budget.Check(s.window.Prefix.Tokens(counter)); err != nil {
		return annotator.Errorf(annotator.Halted, "%s: %w", s.config.Endpoint, err).
			WithReason(annotator.ReasonContextTooSmall)
	}
	return nil
}

// warnOfBudget warns of a budget that is lowered, and reports whether it is.
func (s *session) warnOfBudget(lowered bool) bool {
	if b := s.window.Budget; lowered {
		s.warn(fmt.Sprintf("%s takes %d tokens; the context budget is lowered to that, and replies have %d at most",
			s.Client.Model, b.Context(), b.Longest(0)))
	}
	return lowered
}
