package runner

import (
	"context"

	"annotator"
	"annotator/model"
)

// learnContext takes in how much context a server says it has when it refuses a prompt; 0 where it does not say. A limit that leaves
// no room for the tokens needed is not believed for the scenes to come.
func (r *Runner) learnContext(most, needed int) {
	if most-r.Config.MaxTokens-r.Config.SafetyMargin >= needed {
		r.capabilities.Context.Refused = most
		r.lowerBudget(most)
	}
}

// turnTokens is what the prompt would have if all turns but the one at hand left the window.
func (r *Runner) turnTokens() int {
	turns := r.window.Turns()
	return r.counter.Count(r.frame.size.Plus(turns[len(turns)-1].Size))
}

// recallContext takes in what the server said of its context to a process that was stopped or killed, so that the run goes on as it
// would have. What it lists now, or what the user says of the model, counts instead; and when a run has halted or come to its
// end, somebody may have seen to the server since.
func (r *Runner) recallContext(ctx context.Context) error {
	run, err := r.Store.Run.Status(ctx)
	if err != nil || run.Halted != "" || r.capabilities.Context.Limit() > 0 {
		return err
	}
	said, err := r.Store.Calls.LastTooLong(ctx)
	if err != nil {
		return err
	}
	r.learnContext(model.Classify(said.Status, nil, said.Raw).MaxContext, r.frame.size.Tokens()+LeastScene)
	return nil
}

// LeastScene is how many tokens of a context must be left for a scene, beside the system prompt, the tools and the reply, or no run
// begins.
const LeastScene = 1024

// checkBudget refuses a context in which hardly a scene could be read: else a whole story would be quarantined in no time.
func (r *Runner) checkBudget(context.Context) error {
	frame := r.frame.size.Tokens()
	if room := r.promptBudget() - frame; room < LeastScene {
		return annotator.Errorf(annotator.Misused, "a context of %d tokens leaves %d for a scene, beside %d for the system prompt and tools and %d for the reply",
			r.Config.ContextBudget, max(room, 0), frame, r.Config.MaxTokens).
			WithAdvice("raise --context-budget, and the server's own context where that is less, or lower --max-tokens")
	}
	return nil
}
