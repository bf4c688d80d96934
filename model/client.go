package model

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"annotator"
)

// Recorder keeps the record of calls. Each call that is opened is ended once: a failed one and a probe by the client, one that
// brought a reply by the caller, together with what follows from the reply.
type Recorder interface {
	// Open records that a call is about to be made. It sets the call's id.
	Open(ctx context.Context, c *annotator.Call) error
	// Fail ends a call that brought no usable reply, or a probe.
	Fail(ctx context.Context, c *annotator.Call) error
}

// Client makes calls to one endpoint: it retries as the policy says, waits for a server that is not ready, learns what the server
// needs, and records each attempt. It is used by one goroutine at a time.
type Client struct {
	Wire         Wire
	Endpoint     string // as the user knows it, for messages
	Model        string // that is called; empty: not known yet
	Policy       *Policy
	Capabilities *Capabilities          // what is known of the server; it grows
	Recorder     Recorder               // nil: calls are not recorded
	Notify       func(annotator.Notice) // nil: notices are dropped
	Now          func() time.Time       // measures the progress of replies; nil: progress is not reported
	Random       func() float64         // of [0, 1), for the jitter of delays
	Interrupt    <-chan struct{}        // closed when no delay must be waited out; nil: never
	Estimate     func(*Reply) int       // tokens of a reply that the server has not counted; nil: 0
	IgnoreCounts bool                   // a count of the prompt that is too low is ignored; otherwise it is a fault
	StrictModel  bool                   // a reply of another model than the one called is a fault
}

// Unanswered is the error of a request that is given up: it alone fails, not the server.
type Unanswered struct {
	*Fault
	Action annotator.CallDecision // Quarantine, Shrink where the prompt is too long, or ShrinkReply where no shorter reply is possible
}

// Unwrap returns the fault.
func (u *Unanswered) Unwrap() error { return u.Fault }

// Complete makes a call, retries as the policy says, and returns the reply. The caller ends Reply.Call. The error is *Unanswered
// where the request was given up, and of kind annotator.Halted where the run has to stop.
func (c *Client) Complete(ctx context.Context, r *Request) (*Reply, error) {
	for x := c.Begin(r); ; {
		if reply, err := x.Try(ctx); reply != nil || err != nil {
			return reply, err
		}
		if err := x.Wait(ctx); err != nil {
			return nil, err
		}
	}
}

// listTimeout is how long a server may take to list its models. A server that hangs must not delay a run that knows its model.
const listTimeout = 30 * time.Second

// Models lists the models of the endpoint. Where the client has a model, an endpoint that cannot list is no error. Where it has
// none, a server that is not ready is waited for. The error is of kind annotator.Halted.
func (c *Client) Models(ctx context.Context) (models []Model, err error) {
	var waited time.Duration
	fault, err := c.await(ctx, &waited, func() (*annotator.Call, *Fault, error) {
		models, err = c.list(ctx)
		switch {
		case ctx.Err() != nil:
			return nil, nil, context.Cause(ctx)
		case err == nil || c.Model != "":
			return nil, nil, nil
		}
		return nil, ClassifyTransport(err), nil
	})
	if fault != nil {
		err = c.unlisted(fault, waited)
	}
	return models, err
}

func (c *Client) list(ctx context.Context) ([]Model, error) {
	ctx, cancel := context.WithTimeout(ctx, listTimeout)
	defer cancel()
	return c.Wire.Models(ctx)
}

// send makes one call, which is on record before it is made. A reply that cannot be used is a fault. The call of a reply stays open.
func (c *Client) send(ctx context.Context, call *annotator.Call, r *Request) (*Reply, *Fault, error) {
	if c.Recorder != nil {
		if err := c.Recorder.Open(ctx, call); err != nil {
			return nil, nil, err
		}
	}
	c.notify(call, annotator.Notice{Kind: annotator.NoticeCalling, Usage: annotator.Usage{Prompt: call.Estimate}})
	r.Model, r.Workarounds = cmp.Or(r.Model, c.Model), c.Capabilities.Workarounds
	r.OnProgress, r.SameModel = c.progress(call), c.StrictModel
	reply, err := c.Wire.Complete(ctx, r)
	if err != nil {
		fault := ClassifyTransport(err)
		call.Usage = fault.Usage
		return nil, fault, nil
	}
	c.learnReply(r, reply)
	if c.IgnoreCounts && reply.Usage.Prompt < r.LeastPrompt {
		reply.Usage.Exact = false
	}
	call.Model, call.Finish, call.Usage = reply.Model, reply.Finish, c.usage(call, reply)
	call.FirstByte, call.Duration = reply.FirstByte, reply.Duration
	reply.Call = call
	if call.Purpose != annotator.PurposeProbe {
		if fault := Inspect(r, reply); fault != nil {
			return nil, fault, nil
		}
		c.notifyEnd(call)
		c.warnOfOtherModel(r.Model, reply.Model)
	}
	return reply, nil, c.readCalls(r, reply)
}

// readCalls adds the calls in the text of a reply to its calls. The text keeps the rest, so that no later request shows the same thing
// twice. All of it is on record with the call.
func (c *Client) readCalls(r *Request, reply *Reply) error {
	if r.Rules == nil {
		return nil
	}
	calls, rest, problem, err := ReadCalls(reply.Text, len(reply.Calls) > 0, r.Rules)
	if len(CallsOf(calls, annotator.OriginText)) > 0 {
		reply.Call.Raw, reply.Text = []byte(reply.Text), rest
		if !c.Capabilities.TextCalls {
			c.Capabilities.TextCalls = true
			c.warn("the endpoint leaves tool calls in the text of replies; they are read from there. " +
				"`annotator doctor` says how to have the server read them")
		}
	}
	reply.Calls, reply.Problem = append(reply.Calls, calls...), problem
	return err
}

// maxOtherModels is how many models a warning is given about: some servers put a new name on each reply.
const maxOtherModels = 8

// warnOfOtherModel warns of a model that answers in place of the one that was called, once for each.
func (c *Client) warnOfOtherModel(called, answered string) {
	k := c.Capabilities
	if answered == "" || answered == called || slices.Contains(k.OtherModels, answered) || len(k.OtherModels) == maxOtherModels {
		return
	}
	k.OtherModels = append(k.OtherModels, answered)
	c.warn(fmt.Sprintf("it was asked for the model %s, and %s answers; --strict-model has the run halt then", called, answered))
}

// learnReply normalizes a reply, and takes in what it says of the server.
func (c *Client) learnReply(r *Request, reply *Reply) {
	text := reply.Text
	reply.Normalize(r)
	k := c.Capabilities
	k.Answered = true
	k.Reasons = k.Reasons || reply.Reasoning != ""
	k.MixedText = k.MixedText || reply.Text != text
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
func (c *Client) fail(ctx context.Context, call *annotator.Call, fault *Fault, decision annotator.CallDecision, reason string) error {
	call.Outcome, call.Status, call.Fault, call.Raw = annotator.CallOutcome(fault.Kind), fault.Status, fault.Error(), fault.Raw
	call.FirstByte, call.Duration = fault.FirstByte, fault.Duration
	call.Decision, call.Reason = decision, reason
	if ctx.Err() != nil {
		call.Outcome, call.Decision, call.Reason = annotator.CallOutcome(annotator.Interrupted), annotator.DecisionInterrupted, "stopped by a signal"
	}
	if err := c.end(ctx, call); err != nil {
		return err
	}
	return context.Cause(ctx)
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

// await asks until it is answered, within the patience. waited is the time that was waited before, and grows. The fault is the one
// for which nothing more is waited.
func (c *Client) await(ctx context.Context, waited *time.Duration, ask func() (*annotator.Call, *Fault, error)) (*Fault, error) {
	for {
		call, fault, err := ask()
		if err != nil || fault == nil {
			return nil, err
		}
		passing := *fault
		if passing.Kind == annotator.Transient { // whatever may pass is waited for
			passing.Kind = annotator.Unreachable
		}
		attempts := Attempts{Number: c.Policy.Attempts, Waited: *waited, Known: c.Capabilities.Answered}
		decision := c.Policy.Next(attempts, &passing, c.Random)
		if call != nil {
			if err := c.fail(ctx, call, fault, decision.Action, decision.Reason); err != nil {
				return nil, err
			}
		}
		if decision.Action != annotator.DecisionWait {
			return fault, nil
		}
		if err := c.pause(ctx, decision.Delay, fault.Error()); err != nil {
			return nil, err
		}
		*waited += decision.Delay + fault.Duration
	}
}

const (
	probeTimeout = 2 * time.Minute // for one token
	probeTokens  = 10              // of a probe's prompt, about
)

// probe has the server generate one token. A health check is not enough: servers pass it while requests hang. A refusal counts as
// an answer. The call is returned with a fault only, and is then open. failed is the call for which the server is probed.
func (c *Client) probe(ctx context.Context, failed *annotator.Call) (*annotator.Call, *Fault, error) {
	history, err := c.Wire.Encode([]annotator.Message{{Role: annotator.RoleUser, Content: "Say yes."}})
	if err != nil {
		return nil, nil, err
	}
	short, cancel := context.WithTimeout(ctx, probeTimeout)
	defer cancel()
	call := &annotator.Call{Turn: failed.Turn, Scene: failed.Scene, Purpose: annotator.PurposeProbe, Attempt: 1, Estimate: probeTokens}
	reply, fault, err := c.send(short, call, &Request{History: history, MaxTokens: 1})
	switch {
	case err != nil:
		return nil, nil, err
	case reply != nil:
		return nil, nil, c.EndProbe(ctx, call)
	case fault.NotAnAPI: // something answers, but no model
		return call, fault, nil
	}
	if what := c.Capabilities.Learn(fault, c.Wire.Refusals()); what != "" { // the probe may be the first request that the server reads
		return nil, nil, c.fail(ctx, call, fault, annotator.DecisionAdapt, what)
	}
	switch fault.Kind {
	case annotator.Malformed, annotator.Refused, annotator.PromptTooLong:
		return nil, nil, c.fail(ctx, call, fault, annotator.DecisionAnswered, "the server is there")
	}
	return call, fault, nil
}

// pause waits for a delay, or until it is interrupted.
func (c *Client) pause(ctx context.Context, delay time.Duration, reason string) error {
	if delay <= 0 {
		return context.Cause(ctx)
	}
	c.publish(annotator.Notice{Kind: annotator.NoticeWait, Duration: delay, Reason: reason})
	timer := time.NewTimer(delay)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-c.Interrupt:
		return annotator.Errorf(annotator.Interrupted, "stopped while waiting for the endpoint (%s)", reason).
			WithAdvice("run again to go on")
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func (c *Client) publish(n annotator.Notice) {
	if c.Notify != nil {
		c.Notify(n)
	}
}

func (c *Client) warn(text string) {
	c.publish(annotator.Notice{Kind: annotator.NoticeWarning, Reason: text})
}

func (c *Client) notify(call *annotator.Call, n annotator.Notice) {
	n.Purpose, n.Attempt = call.Purpose, call.Attempt
	c.publish(n)
}

func (c *Client) notifyEnd(call *annotator.Call) {
	decision := string(call.Decision)
	if call.Reason != "" {
		decision += ": " + call.Reason
	}
	c.notify(call, annotator.Notice{
		Kind: annotator.NoticeCall, Usage: call.Usage, Duration: call.Duration, Decision: decision, Reason: call.Fault,
	})
}

// progressInterval is the least time between two notices of a reply under way: a server may stream hundreds of pieces a second.
const progressInterval = time.Second

// progress returns what reports how much of a reply has come.
func (c *Client) progress(call *annotator.Call) func(bytes int) {
	if c.Now == nil {
		return nil
	}
	began := c.Now()
	reported := began
	return func(bytes int) {
		now := c.Now()
		if now.Sub(reported) < progressInterval {
			return
		}
		reported = now
		c.notify(call, annotator.Notice{Kind: annotator.NoticeStream, Bytes: bytes, Duration: now.Sub(began)})
	}
}

// halt makes a fault the error for which the run stops.
func (c *Client) halt(ctx context.Context, fault *Fault, waited time.Duration) error {
	return annotator.Errorf(annotator.Halted, "%s: %w%s", c.Endpoint, fault, inVain(waited)).WithAdvice("%s, then run again to resume", c.advice(ctx, fault))
}

func (c *Client) advice(ctx context.Context, f *Fault) string {
	switch {
	case f.Param == ParamModel:
		return f.Advice + c.offers(ctx)
	case f.Advice != "":
		return f.Advice
	case f.Kind == annotator.Overloaded:
		return "see what keeps the server busy, or wait longer for it with --patience"
	}
	return "see whether the server is well, and what stands between"
}

// inVain adds to an error how long was waited.
func inVain(waited time.Duration) string {
	if waited < time.Second {
		return ""
	}
	return fmt.Sprintf(", and %s of waiting did not help", waited.Round(time.Second))
}

// offers names the models of the endpoint, as far as it lists them.
func (c *Client) offers(ctx context.Context) string {
	const most = 10
	models, err := c.list(ctx)
	if err != nil || len(models) == 0 {
		return ""
	}
	var names []string
	for _, m := range models[:min(len(models), most)] {
		names = append(names, m.ID)
	}
	if len(models) > most {
		names = append(names, fmt.Sprintf("%d more", len(models)-most))
	}
	return " (it serves " + strings.Join(names, ", ") + ")"
}

// unlisted says that an endpoint does not list its models, and none is named.
func (c *Client) unlisted(fault *Fault, waited time.Duration) error {
	advice := cmp.Or(fault.Advice, "see to the endpoint")
	switch {
	case fault.Status == http.StatusNotFound: // or it has no such list
		advice += ", or name the model with --model"
	case fault.Kind == annotator.Malformed:
		advice = "check the endpoint's address and --wire"
	}
	return annotator.Errorf(annotator.Halted, "ask %s for its models: %w%s", c.Endpoint, fault, inVain(waited)).
		WithAdvice("%s, then run again to resume", advice)
}
