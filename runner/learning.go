package runner

import (
	"context"

	"annotator"
	"annotator/model"
)

// learnContext takes in how much context a server says it has when it refuses a prompt; 0 where it does not say. What would leave no
// room for so many tokens is not believed for the scenes to come.
func (r *Runner) learnContext(most, needed int) {
	if most-r.Config.MaxTokens-r.Config.SafetyMargin >= needed {
		r.lowerBudget(most)
	}
}

// turnTokens is what the prompt would have if all turns but the one at hand left the window.
func (r *Runner) turnTokens() int {
	turns := r.window.Turns()
	return r.counter.Count(r.frame.size.Plus(turns[len(turns)-1].Size))
}

// recallContext takes in what the server said of its context to a process that was killed, so that the run goes on as it would have.
// What it lists now, or what the user says of the model, counts instead; and when a run has come to an end, somebody may
// have seen to the server since.
func (r *Runner) recallContext(ctx context.Context) error {
	if state := r.Store.Left(); state == annotator.StateHalting || state == annotator.StateNoMore || r.listed || r.Config.MaxContext[r.Config.Model] > 0 {
		return nil
	}
	said, err := r.Store.NewestRefusalForLength(ctx)
	if err != nil {
		return err
	}
	r.learnContext(model.Classify(said.Status, nil, said.Raw).MaxContext, r.frame.size.Tokens()+LeastPrompt)
	return nil
}

// LeastPrompt is how many tokens of a context must be left for the prompt, or no run begins.
const LeastPrompt = 1024

// checkBudget refuses a context in which no scene could be read.
func (r *Runner) checkBudget() error {
	if room := r.promptBudget(); room < LeastPrompt {
		return annotator.Errorf(annotator.Misused, "a context of %d tokens leaves %d for the prompt beside replies of %d", r.Config.ContextBudget,
			room, r.Config.MaxTokens).WithAdvice("raise --context-budget or lower --max-tokens")
	}
	return nil
}
