package runner

import (
	"cmp"
	"context"
	"fmt"

	"annotator"
	"annotator/context/tokens"
	"annotator/storage"
)

// beginBudget puts the budget in force: the configured one, else the one that the run began with, else one by the model's context.
func (s *session) beginBudget(run *storage.RunStatus) {
	s.window.Budget.Wanted = cmp.Or(s.config.ContextBudget, run.Budget)
	s.warnOfBudget(s.window.Budget.Begin())
}

// findContextLimit takes the context that the server told a former process, so that a resumed run goes on as the undisturbed one.
// What the server lists now, or the user configures, counts instead. After a halt or the end of the story the server may have been
// changed. A context in which hardly a scene fits is refused.
func (s *session) findContextLimit(run *storage.RunStatus) error {
	b, prefix := s.window.Budget, s.window.Prefix.Tokens(nil)
	if run.Halted == "" && b.Server() == 0 {
		b.Told = run.ContextTold
		s.warnOfBudget(b.Update(prefix))
	}
	return b.Check(prefix)
}

// keepBudget records the budget, so that later processes go on with it although the server may take more then. What a server tells
// beside its API is known by now.
func (s *session) keepBudget(ctx context.Context, run *storage.RunStatus) error {
	b := s.window.Budget
	if b.Wanted = b.Usual(); b.Wanted == run.Budget {
		return nil
	}
	b.Begin()
	return s.Store.Run.KeepBudget(ctx, b.Wanted)
}

// updateBudget lowers the budget to what the server has told of its context since, and records that. A context in which hardly a
// scene fits is refused.
func (s *session) updateBudget(ctx context.Context) error {
	b := s.window.Budget
	if !s.warnOfBudget(b.Update(s.window.Prefix.Tokens(nil))) {
		return nil
	}
	if err := s.Store.Run.TellContext(ctx, b.Told); err != nil {
		return err
	}
	return s.checkContext(nil)
}

// checkContext halts the run where hardly a scene fits beside the prefix, by what a counter has learned.
func (s *session) checkContext(counter *tokens.Counter) error {
	if err := s.window.Budget.Check(s.window.Prefix.Tokens(counter)); err != nil {
		return annotator.Errorf(annotator.Halted, "%s: %w", s.config.Endpoint, err).WithReason(annotator.ReasonContextTooSmall)
	}
	return nil
}

// warnOfBudget warns of a budget that is lowered, and reports whether it is.
func (s *session) warnOfBudget(lowered bool) bool {
	if b := s.window.Budget; lowered {
		s.warn(fmt.Sprintf("%s takes %d tokens; the context budget is lowered to that, and replies have %d at most",
			s.Client.Model, b.Context(), b.Reply()))
	}
	return lowered
}
