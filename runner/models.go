package runner

import (
	"cmp"
	"context"
	"net/http"
	"time"

	"annotator"
	"annotator/model"
)

// listPatience is how long a server may take to list its models. It has them at hand; one that hangs must not hold up a run that
// knows its model, nor one that halts and only wants to name the others.
const listPatience = 30 * time.Second

func listModels(ctx context.Context, wire model.Wire) ([]model.Model, error) {
	ctx, cancel := context.WithTimeout(ctx, listPatience)
	defer cancel()
	return wire.Models(ctx)
}

// served asks the endpoint for the models that it serves. Where a model is known already, an endpoint that cannot tell is taken at
// the user's word. Where none is, a server that is not there yet is waited for, as one is that is to answer.
func (r *Runner) served(ctx context.Context) ([]model.Model, error) {
	c := r.caller()
	for waited := time.Duration(0); ; {
		models, err := listModels(ctx, r.Wire)
		switch {
		case ctx.Err() != nil:
			return nil, context.Cause(ctx)
		case err == nil || r.Config.Model != "":
			return models, nil
		}
		fault := asFault(err)
		ruling := c.Policy.Next(model.Tried{Attempt: 1, Waited: waited}, probed(fault), c.Random)
		if ruling.Decision != model.Wait {
			return nil, unlisted(r.Config.Endpoint, fault, waited)
		}
		if err := c.pause(ctx, ruling.Delay, fault.Error()); err != nil {
			return nil, err
		}
		waited += ruling.Delay + fault.Duration
	}
}

// unlisted says that an endpoint does not tell its models, and nothing else does.
func unlisted(endpoint string, fault *model.Fault, waited time.Duration) error {
	advice := cmp.Or(fault.Advice, "see to the endpoint")
	switch {
	case fault.Status == http.StatusNotFound: // or it has no such list
		advice += ", or name the model with --model"
	case fault.Kind == annotator.Malformed:
		advice = "check the endpoint's address and --wire"
	}
	return annotator.Errorf(annotator.Halted, "ask %s for its models: %w%s", endpoint, fault, inVain(waited)).
		WithAdvice("%s, then run again to resume", advice)
}
