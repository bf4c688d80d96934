package runner

import (
	"context"

	"annotator"
	"annotator/model"
)

// learnContext takes in how much context a server says it has when it refuses a prompt; 0 where it does not say.
func (r *Runner) learnContext(most int) error {
	r.lowerBudget(most)
	return r.checkBudget()
}

// recallContext takes in what the server said of its context in former runs, so that this one goes on as they did. What it lists
// now, or what the user says of the model, counts instead.
func (r *Runner) recallContext(ctx context.Context) error {
	if r.listed || r.Config.MaxContext[r.Config.Model] > 0 {
		return nil
	}
	said, err := r.Store.NewestRefusalForLength(ctx)
	if err != nil {
		return err
	}
	return r.learnContext(model.Classify(said.Status, nil, said.Raw).MaxContext)
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
