package runner

import (
	"annotator/context/tokens"
	"annotator/context/window"
	"annotator/model"
)

// client returns the client through which the model is called. All clients of a run share what is known of the server.
func (r *Runner) client() *model.Client {
	return &model.Client{
		Wire: r.Wire, Endpoint: r.Config.Endpoint, Model: r.Config.Model, Policy: &r.Config.Retry, Capabilities: &r.capabilities,
		Recorder: r.Store.Calls, Notify: r.publish, Now: r.Now, Random: r.Random, Interrupt: r.hurry, Estimate: EstimateReply,
		IgnoreCounts: r.Config.Accept["counts"], StrictModel: r.Config.StrictModel,
	}
}

// EstimateReply estimates the tokens of a reply. See model.Client.
func EstimateReply(reply *model.Reply) int {
	written := tokens.Estimate(reply.Text) + tokens.Estimate(reply.Reasoning)
	for i := range reply.Calls {
		written += tokens.Estimate(reply.Calls[i].Arguments) + tokens.PerCall
	}
	return written
}

// maxReply is how long a reply to a prompt may be at most, in tokens.
func (r *Runner) maxReply(p *window.Prompt) int { return max(1, r.window.Limits.ReplyAfter(p)) }
