package runner

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"annotator"
	"annotator/context/tokens"
	"annotator/model"
)

// Ledger keeps account of calls to the model.
type Ledger interface {
	// Open writes that a call is about to be made.
	Open(ctx context.Context, c *annotator.Call) error
	// Fail ends a call that brought no usable reply.
	Fail(ctx context.Context, c *annotator.Call) error
}

// Caller makes calls to the model: again and again, as the retry policy says, and each attempt on record.
type Caller struct {
	Wire     model.Wire
	Ledger   Ledger
	Endpoint string // as the user knows it
	Model    string // that probes ask
	Policy   *model.Policy
	Random   func() float64         // of [0, 1): the jitter of waiting
	Publish  func(annotator.Notice) // tells whoever watches
	Now      func() time.Time       // tells how a reply comes in; nil: nobody wants to know
	Hurry    <-chan struct{}        // closed when a wait must not be sat out; nil: never

	Context     int   // tokens that a prompt and its reply may have together; 0: not known
	Known       *bool // set once the endpoint has answered as one does; nil where that does not matter
	DoubtCounts bool  // a count of the prompt that cannot be right is passed over; else it is a fault
	StrictModel bool  // an answer of another model than the one that was asked is a fault
}

func (r *Runner) caller() *Caller {
	return &Caller{
		Wire: r.Wire, Ledger: r.Store.Calls, Endpoint: r.Config.Endpoint, Model: r.Config.Model, Policy: &r.Config.Retry, Random: r.Random,
		Publish: r.publish, Now: r.Now, Hurry: r.hurry, Context: r.Config.ContextBudget - r.Config.SafetyMargin,
		Known: &r.answered, DoubtCounts: r.Config.Accept["counts"], StrictModel: r.Config.StrictModel,
	}
}

// trial is a request under way: how often it was tried, how long it has waited, and what is to be done next.
type trial struct {
	attempt int           // failed ones that count
	shrunk  int           // how often the request was made smaller
	waited  time.Duration // for a server that is not there or not ready
	alive   bool          // the server has answered a probe since the newest failure
	grown   bool          // the reply is allowed more tokens
	adapted int           // how often the wire has adapted
	ruling  model.Ruling
	reason  string
}

// mostAdaptations is how often a wire may adapt to one request: one that always learns something new would never end.
const mostAdaptations = 16

// failed decides what to do about a fault: the wire may know better what the server wants, else the policy says.
func (t *trial) failed(fault *model.Fault, c *Caller) {
	t.reason = fault.Error()
	if t.adapted < mostAdaptations {
		if what := c.adapt(fault); what != "" {
			t.adapted++
			t.ruling = model.Ruling{Decision: model.Adapt, Why: what}
			return
		}
	}
	t.ruling = c.Policy.Next(model.Tried{
		Attempt: t.attempt + 1, Shrunk: t.shrunk, Waited: t.waited, Alive: t.alive, Grown: t.grown, Known: c.knows(),
	}, fault, c.Random)
	t.alive = false
	if t.ruling.Charged {
		t.attempt++
	}
	switch t.ruling.Decision {
	case model.Wait:
		t.waited += t.ruling.Delay + fault.Duration
	case model.Shrink, model.ShrinkReply: // that makes another request of it
		t.attempt, t.shrunk = 0, t.shrunk+1
	case model.GrowReply:
		t.grown = true
	}
}

// adapt has the wire take in what a fault says of the server; empty where that is nothing, or nothing new.
func (c *Caller) adapt(fault *model.Fault) string {
	adapter, ok := c.Wire.(model.Adapter)
	if !ok {
		return ""
	}
	return adapter.Adapt(fault)
}

// knows reports whether the endpoint has answered before. Who asks once does not wait for what may never have been there.
func (c *Caller) knows() bool { return c.Known != nil && *c.Known }

// noAnswer is the fault for which a request got no answer: whatever it was for has to do without.
type noAnswer struct{ *model.Fault }

// Is makes it one of the errors for which a step of compaction is given up.
func (noAnswer) Is(target error) bool { return target == errNotBetter }

// grownReply is how many times longer a reply may be once it was cut before its first word.
const grownReply = 4

// grown is how long a reply may be then, in tokens, as far as the prompt leaves room for it.
func (c *Caller) grown(most, prompt int) int {
	longer := grownReply * most
	if c.Context > 0 {
		longer = min(longer, c.Context-prompt)
	}
	return max(most, longer)
}

// insist makes a call, tries again as the retry policy says, and returns the attempt that brought the reply, which is the
// caller's to end. The error is noAnswer where there is none to be had.
func (c *Caller) insist(ctx context.Context, call annotator.Call, request *model.Request) (*annotator.Call, *model.Reply, error) {
	var t trial
	for {
		attempt := call
		attempt.Attempt = t.attempt + 1
		reply, fault, err := c.attempt(ctx, &attempt, request, &t)
		if err != nil {
			return nil, nil, err
		}
		if reply != nil {
			return &attempt, reply, nil
		}
		switch t.ruling.Decision {
		case model.Retry, model.Wait, model.Adapt:
		case model.GrowReply:
			request.MaxTokens = c.grown(request.MaxTokens, call.Estimate)
		case model.ShrinkReply:
			if request.MaxTokens /= 2; request.MaxTokens == 0 {
				return nil, nil, noAnswer{fault}
			}
		case model.Halt:
			return nil, nil, c.halt(ctx, fault, t.waited)
		default:
			return nil, nil, noAnswer{fault}
		}
		if err := c.ready(ctx, &attempt, &t); err != nil {
			return nil, nil, err
		}
	}
}

// attempt makes one call. A failed one is on record with what is to be done about it, and why; one that brought a reply is the
// caller's to end. Reply and fault are both nil only with an error. Each attempt that counts is sampled anew.
func (c *Caller) attempt(ctx context.Context, call *annotator.Call, request *model.Request, t *trial) (*model.Reply, *model.Fault, error) {
	request.Seed = t.attempt
	reply, fault, err := c.complete(ctx, call, request)
	if err != nil || fault == nil {
		return reply, nil, err
	}
	t.failed(fault, c)
	call.Decision, call.Reason = t.ruling.Decision, t.ruling.Why
	if err := c.fail(ctx, call, fault); err != nil {
		return nil, nil, err
	}
	return nil, fault, nil
}

// complete makes a call that is on record before it is made. A reply that cannot be used is a fault like any other.
func (c *Caller) complete(ctx context.Context, call *annotator.Call, request *model.Request) (*model.Reply, *model.Fault, error) {
	if err := c.Ledger.Open(ctx, call); err != nil {
		return nil, nil, err
	}
	c.begins(call)
	request.Heard, request.SameModel = c.heard(call), c.StrictModel
	reply, err := c.Wire.Complete(ctx, request)
	if err != nil {
		fault := asFault(err)
		call.Usage = fault.Usage
		return nil, fault, nil
	}
	if reply.Settle(); c.Known != nil {
		*c.Known = true
	}
	if c.DoubtCounts && reply.Usage.Prompt < request.LeastPrompt {
		reply.Usage.Exact = false
	}
	call.Model, call.Finish, call.Usage = reply.Model, reply.Finish, accounted(call, reply)
	call.FirstByte, call.Duration = reply.FirstByte, reply.Duration
	if call.Purpose == annotator.PurposeProbe {
		return reply, nil, nil
	}
	if fault := model.Inspect(request, reply); fault != nil {
		return nil, fault, nil
	}
	c.ended(call)
	return reply, nil, nil
}

// fail ends a call that brought nothing.
func (c *Caller) fail(ctx context.Context, call *annotator.Call, fault *model.Fault) error {
	call.Outcome, call.Status, call.Fault, call.Raw = annotator.CallOutcome(fault.Kind), fault.Status, fault.Error(), fault.Raw
	call.FirstByte, call.Duration = fault.FirstByte, fault.Duration
	if ctx.Err() != nil {
		call.Outcome, call.Decision, call.Reason = annotator.CallOutcome(annotator.Interrupted), annotator.DecisionInterrupted, "stopped by a signal"
	}
	if err := c.Ledger.Fail(ctx, call); err != nil {
		return err
	}
	c.ended(call)
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return nil
}

// accounted is what a call cost: as the server reports it, else as it is estimated here.
func accounted(call *annotator.Call, reply *model.Reply) annotator.Usage {
	if reply.Usage.Exact {
		return reply.Usage
	}
	written := tokens.Estimate(reply.Text) + tokens.Estimate(reply.Reasoning)
	for i := range reply.Calls {
		written += tokens.Estimate(reply.Calls[i].Arguments) + tokens.PerCall
	}
	return annotator.Usage{Prompt: call.Estimate, Completion: written}
}

// halt makes a fault the reason for which the run stops, which may have waited for it to pass.
func (c *Caller) halt(ctx context.Context, fault *model.Fault, waited time.Duration) error {
	return annotator.Errorf(annotator.Halted, "%s: %w%s", c.Endpoint, fault, inVain(waited)).WithAdvice("%s", c.advice(ctx, fault))
}

// inVain adds to an error how long was waited.
func inVain(waited time.Duration) string {
	if waited < time.Second {
		return ""
	}
	return fmt.Sprintf(", and %s of waiting did not help", waited.Round(time.Second))
}

func (c *Caller) advice(ctx context.Context, f *model.Fault) string {
	const resume = ", then run again to resume"
	switch {
	case f.Param == model.ParamModel:
		return f.Advice + c.served(ctx) + resume
	case f.Advice != "":
		return f.Advice + resume
	case f.Kind == annotator.Overloaded:
		return "see what keeps the server busy, or wait longer for it with --patience" + resume
	}
	return "see whether the server is well, and what stands between" + resume
}

// served names what the endpoint serves, as far as it says.
func (c *Caller) served(ctx context.Context) string {
	const most = 10
	models, err := listModels(ctx, c.Wire)
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

func asFault(err error) *model.Fault {
	if f := (*model.Fault)(nil); errors.As(err, &f) {
		return f
	}
	return &model.Fault{Kind: annotator.Refused, Message: err.Error(), Err: err}
}
