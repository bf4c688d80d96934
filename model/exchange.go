package model

import (
	"context"
	"net/http"

	"annotator"
)

// Exchange is a request in progress, for a caller that makes each attempt separately. Client.Complete is the loop over
// its steps.
type Exchange struct {
	client   *Client
	request  Request
	attempts Attempts
	limit    int // the server's limit of a reply in tokens, from a refusal; 0: not known
	decision Decision
	reason   string // why the last attempt failed
}

// maxAdaptations is how often a workaround may be learned from one request. It ends the exchange with a server that
// always requires another form.
const maxAdaptations = 16

// Begin prepares a request. Nothing is sent yet.
func (c *Client) Begin(r *Request) *Exchange {
	return &Exchange{client: c, request: *r, attempts: Attempts{Number: 1}}
}

// Replace replaces the request, after its prompt was made smaller or is rendered differently. The attempts are still
// counted.
func (x *Exchange) Replace(r *Request) { x.request = *r }

// ReplyLimit returns the server's limit of a reply in tokens, if it has refused more; 0: not known.
func (x *Exchange) ReplyLimit() int { return x.limit }

// Try makes one attempt. Reply and error are both nil if another attempt is due after Wait. See Client.Complete for the
// errors.
func (x *Exchange) Try(ctx context.Context) (*Reply, error) {
	c, request, call := x.client, x.request, x.request.Call
	request.Seed, request.MaxTokens = x.attempts.Number-1, x.maxTokens() // each counted attempt has another seed
	call.Attempt = x.attempts.Number
	reply, fault, err := c.send(ctx, &call, &request)
	if err != nil || fault == nil {
		return reply, err
	}
	x.reclassifySlots(fault, &request)
	if purpose := call.Purpose; fault.Kind == annotator.PromptTooLong &&
		(purpose == annotator.PurposeAnnotate || purpose == annotator.PurposeProbe) {
		c.Capabilities.Budget.Tell(fault.MaxContext)
	}
	x.decide(fault, &request)
	if err := c.fail(ctx, &call, fault, x.decision.Action, x.decision.Reason); err != nil {
		return nil, err
	}
	switch x.decision.Action {
	case annotator.DecisionRetry, annotator.DecisionWait, annotator.DecisionAdapt, annotator.DecisionGrowReply:
		return nil, nil
	case annotator.DecisionShrinkReply:
		if x.limit = request.MaxTokens / 2; x.limit > 0 {
			return nil, nil
		}
	case annotator.DecisionHalt:
		return nil, c.halt(ctx, fault, x.attempts.Waited)
	}
	return nil, &Unanswered{Fault: fault, Action: x.decision.Action}
}

// reclassifySlots treats a refusal for length as an overload if the request fits the context. The slots of llama.cpp
// share one context by default, which other requests may fill. If the request itself is too long, llama.cpp names its
// context or answers 400.
func (x *Exchange) reclassifySlots(f *Fault, r *Request) {
	limit := x.client.Capabilities.Budget.Server()
	unexplained := f.Kind == annotator.PromptTooLong && f.Status == http.StatusInternalServerError && f.MaxContext == 0
	if unexplained && r.Call.Estimate > 0 && r.Call.Estimate+r.MaxTokens <= limit {
		f.Kind, f.Param, f.Advice, f.Reason = annotator.Overloaded, "", adviceSlots, ""
	}
}

// decide decides about a fault: the wire may have a workaround, otherwise the policy decides.
func (x *Exchange) decide(fault *Fault, r *Request) {
	c := x.client
	what := ""
	if x.attempts.Adapted < maxAdaptations {
		what = c.Capabilities.Learn(fault, r, c.Wire.Refusals())
	}
	if r.Seed != 0 && fault.mayHaveCrashed() {
		c.Capabilities.Adopt(NoSeed, c.Wire.Refusals())
	}
	if what != "" {
		x.decision = Decision{Action: annotator.DecisionAdapt, Reason: what}
		x.request.LeastPrompt = 0 // in another form, fewer tokens may be right
	} else {
		x.attempts.Known, x.attempts.Reached = c.Capabilities.Answered, c.Capabilities.Reached
		x.decision = c.Policy.Next(x.attempts, fault, c.Random)
	}
	x.reason = fault.Error()
	x.attempts.add(&x.decision, fault)
}

// growth is the factor by which the limit of a reply grows after one was cut before its first word.
const growth = 4

// maxTokens returns the limit of the next reply. It is larger after a reply was cut before its first word, as far as
// the context allows. It is never a limit that the server has refused.
func (x *Exchange) maxTokens() int {
	r := &x.request
	most := r.MaxTokens
	if x.attempts.Grown {
		most *= growth
		if b := &x.client.Capabilities.Budget; b.Context() > 0 {
			most = max(r.MaxTokens, min(most, b.ReplyTo(r.Call.Estimate)))
		}
	}
	if x.limit > 0 {
		most = min(most, x.limit)
	}
	return most
}

// Wait returns when the next attempt is due: after the delay and, if the server may be down, after it has answered a
// probe. The probe saves sending the long prompt. The error is of kind annotator.Halted if the patience is exhausted,
// and annotator.Interrupted if the client was interrupted.
func (x *Exchange) Wait(ctx context.Context) error {
	c := x.client
	left, err := c.pause(ctx, &x.decision, x.attempts.Waited-x.decision.Delay, x.reason)
	if x.attempts.Waited -= left; err != nil || !x.decision.Probe {
		return err
	}
	fault, err := c.await(ctx, &x.attempts.Waited, func() (*annotator.Call, *Fault, error) {
		return c.probe(ctx, &x.request.Call)
	})
	if fault != nil {
		return c.halt(ctx, fault, x.attempts.Waited)
	}
	x.attempts.Alive = err == nil
	return err
}
