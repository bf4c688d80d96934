package model

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"annotator"
)

// send makes one call, which is on record before it is made. A reply that cannot be used is a fault. The call of a
// reply stays open.
func (c *Client) send(ctx context.Context, call *annotator.Call, r *Request) (*Reply, *Fault, error) {
	if c.Recorder != nil {
		if err := c.Recorder.Open(ctx, call); err != nil {
			return nil, nil, err
		}
	}
	c.notify(call, annotator.Notice{Kind: annotator.NoticeCalling, Usage: annotator.Usage{Prompt: call.Estimate}})
	r.Model, r.Workarounds = cmp.Or(r.Model, c.Model), c.Capabilities.Workarounds
	r.OnProgress, r.OnSilence, r.SameModel = c.progress(call), c.silence(call), c.StrictModel
	reply, err := c.Wire.Complete(ctx, r)
	c.Capabilities.setReached(err)
	if err != nil {
		fault := ClassifyTransport(err)
		call.Usage = fault.Usage
		return nil, fault, nil
	}
	said := reply.Text
	reply.Normalize(r)
	c.fillCached(ctx, reply)
	c.Capabilities.Budget.Shown = cmp.Or(reply.contextShown(r), c.Capabilities.Budget.Shown)
	k := c.Capabilities
	k.Answered, k.Reasons, k.MixedText = true, k.Reasons || reply.Reasoning != "", k.MixedText || reply.Text != said
	if c.IgnoreCounts && reply.Usage.Prompt < r.LeastPrompt {
		reply.Usage.Exact = false
	}
	call.Model, call.Finish, call.Usage = reply.Model, reply.Finish, c.usage(call, reply)
	call.FirstByte, call.Duration = reply.FirstByte, reply.Duration
	reply.Call = call
	if call.Purpose != annotator.PurposeProbe {
		ended, err := reply.endTurn(r)
		if err != nil {
			return reply, nil, err
		}
		if ended && !k.RunsOn {
			k.RunsOn = true
			c.warn("the endpoint does not end replies where the model's turn ends; what follows is left out. " +
				adviceTurns)
		}
		if fault := Inspect(r, reply); fault != nil {
			return nil, fault, nil
		}
		c.notifyEnd(call)
		c.warnOfOtherModel(r.Model, reply.Model)
	}
	if err := c.readCalls(r, reply); err != nil {
		return reply, nil, err
	}
	c.learnChoice(r, reply)
	return reply, nil, nil
}

// readCalls adds the calls in the text of a reply to its calls. The text keeps the rest, so that no later request shows
// the same thing twice. All of it is on record with the call.
func (c *Client) readCalls(r *Request, reply *Reply) error {
	if r.Rules == nil {
		return nil
	}
	calls, rest, content, err := ReadCalls(reply, r.Rules)
	if rest != strings.TrimSpace(reply.Text) {
		if len(reply.Call.Raw) == 0 {
			reply.Call.Raw = []byte(reply.Text)
		}
		reply.Text = rest
	}
	if len(calls) > 0 && calls[0].Origin == annotator.OriginText && !c.Capabilities.TextCalls {
		c.Capabilities.TextCalls = true
		c.warnBecause(annotator.ReasonCallsInText,
			"the endpoint leaves tool calls in the text of replies; they are read from there")
	}
	reply.keepRewritten(calls)
	reply.Calls, reply.ReplyContent = calls, content
	if reply.Text == "" && content.Problem != nil && len(calls) == 0 {
		reply.Text = NoAnswer // some servers refuse an empty message
	}
	return err
}

// keepRewritten puts the answer as it came on record where a structured call is read otherwise than it was written.
func (r *Reply) keepRewritten(calls []annotator.ToolCall) {
	for i := range r.Calls {
		if r.Calls[i] != calls[i] && len(r.Call.Raw) == 0 {
			r.Call.Raw = r.Body()
		}
	}
}

// maxOtherModels is how many models a warning is given about: some servers put a new name on each reply.
const maxOtherModels = 8

// warnOfOtherModel warns of a model that answers in place of the one that was called, once for each.
func (c *Client) warnOfOtherModel(called, answered string) {
	k := c.Capabilities
	if answered == "" || answered == called || slices.Contains(k.OtherModels, answered) ||
		len(k.OtherModels) == maxOtherModels {
		return
	}
	k.OtherModels = append(k.OtherModels, answered)
	c.warnBecause(annotator.ReasonOtherModel, "it was asked for the model %s, and %s answers", called, answered)
}

// usage is what a call cost: as the server reports it, otherwise estimated.
func (c *Client) usage(call *annotator.Call, reply *Reply) annotator.Usage {
	if reply.Usage.Exact {
		return reply.Usage
	}
	u := annotator.Usage{Prompt: call.Estimate}
	if c.Estimate != nil {
		u.Completion = c.Estimate(reply)
	}
	return u
}

// fail ends a call that brought no reply, with what is done about it.
func (c *Client) fail(ctx context.Context, call *annotator.Call, fault *Fault, decision annotator.CallDecision,
	reason string,
) error {
	call.Outcome, call.Status, call.Fault, call.Raw = annotator.CallOutcome(fault.Kind), fault.Status, fault.Error(),
		fault.Raw
	call.FirstByte, call.Duration = fault.FirstByte, fault.Duration
	call.Decision, call.Reason = decision, reason
	if ctx.Err() != nil {
		call.Outcome, call.Decision, call.Reason = annotator.CallOutcome(annotator.Interrupted),
			annotator.DecisionInterrupted, "stopped by a signal"
	}
	if err := c.end(ctx, call); err != nil {
		return err
	}
	if call.Decision == annotator.DecisionAdapt && c.OnAdapt != nil {
		if err := c.OnAdapt(ctx); err != nil {
			return err
		}
	}
	return context.Cause(ctx)
}

// Adopt takes in a workaround that no refusal asked for, and reports whether it is new. See Capabilities.Adopt.
func (c *Client) Adopt(ctx context.Context, needs Workarounds) (bool, error) {
	if !c.Capabilities.Adopt(needs, c.Wire.Refusals()) {
		return false, nil
	}
	if c.OnAdapt != nil {
		return true, c.OnAdapt(ctx)
	}
	return true, nil
}

// EndProbe ends a call that was only made to see whether the server answers, and did.
func (c *Client) EndProbe(ctx context.Context, call *annotator.Call) error {
	call.Outcome = annotator.CallOK
	return c.end(ctx, call)
}

func (c *Client) end(ctx context.Context, call *annotator.Call) error {
	if c.Recorder != nil {
		if err := c.Recorder.Fail(ctx, call); err != nil {
			return err
		}
	}
	c.notifyEnd(call)
	return nil
}
