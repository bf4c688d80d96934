package runner

import (
	"context"
	"fmt"

	"annotator/context/window"
	"annotator/model"
)

// lowerBudget takes in how many tokens the model takes; 0 where that is not known.
func (r *Runner) lowerBudget(tokens int) {
	if l := &r.window.Limits; l.Lower(tokens) {
		r.word(fmt.Sprintf("%s takes %d tokens; the context budget is lowered to that, and replies have %d at most",
			r.Config.Model, l.Context, l.Reply))
	}
}

// learnContext takes in how much context a server says it has when it refuses a prompt; 0 where it does not say. A
// limit that leaves no room for the tokens needed is not believed for the scenes to come.
func (r *Runner) learnContext(tokens, needed int) {
	if r.window.Limits.PromptWithin(tokens) >= needed {
		r.capabilities.Context.Refused = tokens
		r.lowerBudget(tokens)
	}
}

// recallContext takes in what the server said of its context to a process that was stopped or killed, so that the run
// goes on as it would have. What it lists now, or what the user says of the model, counts instead; and when a run has
// halted or come to its end, somebody may have seen to the server since.
func (r *Runner) recallContext(ctx context.Context) error {
	run, err := r.Store.Run.Status(ctx)
	if err != nil || run.Halted != "" || r.capabilities.Context.Limit() > 0 {
		return err
	}
	said, err := r.Store.Calls.LastTooLong(ctx)
	if err != nil {
		return err
	}
	r.learnContext(model.Classify(said.Status, nil, said.Raw).MaxContext, r.minPrompt())
	return nil
}

// minPrompt is how many tokens a prompt must be allowed to have.
func (r *Runner) minPrompt() int { return r.window.Prefix().EstimateTokens() + window.MinScene }

// checkBudget refuses a context in which hardly a scene could be read.
func (r *Runner) checkBudget(context.Context) error { return r.window.Limits.Check(r.window.Prefix()) }
