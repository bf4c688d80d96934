package model_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"annotator"
	"annotator/model"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// wire answers with the function of the test.
type wire struct {
	complete func(*model.Request) (*model.Reply, error)
	models   func() ([]model.Model, error)
	asked    []model.Request
}

func (w *wire) Complete(_ context.Context, r *model.Request) (*model.Reply, error) {
	w.asked = append(w.asked, *r)
	return w.complete(r)
}

func (w *wire) Models(context.Context) ([]model.Model, error) {
	if w.models == nil {
		return nil, nil
	}
	return w.models()
}

func (*wire) Encode([]annotator.Message) ([]byte, error) { return []byte("probe"), nil }

func (*wire) EncodeTools([]annotator.ToolDefinition) ([]byte, error) { return nil, nil }

func (*wire) Refusals() []model.Refusal {
	return []model.Refusal{
		{Needs: model.NoSeed, Pattern: regexp.MustCompile("seed"), Effect: "no seed is sent"},
		{Needs: model.NoNamedTool, Pattern: regexp.MustCompile("object"), Effect: "a tool is not chosen by name"},
		{Needs: model.NoTemperature, Pattern: regexp.MustCompile("temperature"), Effect: "no temperature is sent"},
	}
}

// ledger records calls, and requires that each is opened once and ended once.
type ledger struct {
	t     rapid.TB
	calls []*annotator.Call
	open  int
}

func (l *ledger) Open(_ context.Context, c *annotator.Call) error {
	if c.ID != 0 {
		l.t.Fatalf("call %d is opened again", c.ID)
	}
	l.calls, l.open = append(l.calls, c), l.open+1
	c.ID, c.Outcome = int64(len(l.calls)), annotator.CallOpen
	return nil
}

func (l *ledger) Fail(_ context.Context, c *annotator.Call) error {
	switch {
	case l.calls[c.ID-1] != c || c.Outcome == annotator.CallOpen:
		l.t.Fatalf("call %d has no outcome: %+v", c.ID, c)
	case c.Outcome != annotator.CallOK && (c.Decision == "" || c.Reason == "" || c.Fault == ""):
		l.t.Fatalf("call %d does not say why it failed: %+v", c.ID, c)
	}
	l.open--
	return nil
}

func clientOf(w *wire, l *ledger, p *model.Policy) *model.Client {
	return &model.Client{
		Wire: w, Endpoint: "here", Model: "m", Policy: p, Capabilities: new(model.Capabilities), Recorder: l,
		Now:    time.Now,
		Random: func() float64 { return 0.5 },
	}
}

var patient = model.Policy{Attempts: 3, Base: time.Second, Max: time.Minute, Patience: time.Hour}

func says(text string) *model.Reply { return &model.Reply{Text: text, Finish: "stop", Model: "m"} }

// TestCompleteEndsWithinThePolicy: with any faults, Complete ends within the limits of the policy. Each call is
// recorded as opened and ended once, except that of the reply, which the caller ends.
func TestCompleteEndsWithinThePolicy(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		synctest.Test(t, func(*testing.T) { completeEnds(rt) })
	})
}

func completeEnds(t *rapid.T) {
	faults := []model.Fault{
		{Kind: annotator.Transient, Status: 502},
		{Kind: annotator.Transient, Status: 500},
		{Kind: annotator.Transient, Code: model.CodeSilent},
		{Kind: annotator.Overloaded, Status: 503},
		{Kind: annotator.Overloaded, Status: 429, RetryAfter: time.Minute},
		{Kind: annotator.Unreachable},
		{Kind: annotator.Malformed},
		{Kind: annotator.Malformed, Code: model.CodeThinking},
		{Kind: annotator.Malformed, NotAnAPI: true},
		{Kind: annotator.Refused, Status: 400, Message: "seed is not wanted"},
		{Kind: annotator.Refused, Status: 400, Message: "temperature is not wanted"},
		{Kind: annotator.PromptTooLong, Param: "max_tokens", Message: "too large"},
		{Kind: annotator.PromptTooLong, Message: "too long"},
		{Kind: annotator.Refused, Status: 422},
		{Kind: annotator.Misconfigured, Status: 401},
		{Kind: annotator.Unsafe},
	}
	weights := rapid.SliceOfN(rapid.IntRange(0, len(faults)-1), 1, 4).Draw(t, "which faults")
	policy := model.Policy{
		Attempts: rapid.IntRange(1, 4).Draw(t, "attempts"), Base: time.Second, Max: time.Minute,
		Patience: time.Duration(rapid.IntRange(0, 600).Draw(t, "patience")) * time.Second,
	}
	w, l := &wire{}, &ledger{t: t}
	w.models = func() ([]model.Model, error) { // the server is asked so while it is waited for
		if rapid.Bool().Draw(t, "is back") {
			return nil, nil
		}
		return nil, &model.Fault{Kind: annotator.Unreachable}
	}
	w.complete = func(r *model.Request) (*model.Reply, error) {
		if rapid.IntRange(0, 3).Draw(t, "answers") == 0 {
			return says("So it was."), nil
		}
		f := faults[weights[rapid.IntRange(0, len(weights)-1).Draw(t, "fault")]]
		f.Duration = time.Duration(rapid.IntRange(0, 60).Draw(t, "seconds")) * time.Second
		time.Sleep(f.Duration)
		return nil, &f
	}
	c := clientOf(w, l, &policy)
	began, waits := time.Now(), time.Duration(0)
	c.Notify = func(n annotator.Notice) {
		if n.Kind == annotator.NoticeWait {
			waits += n.Duration
		}
	}
	reply, err := c.Complete(context.Background(),
		&model.Request{MaxTokens: 64, Call: annotator.Call{Purpose: annotator.PurposeAnnotate, Scene: 3}})
	switch unanswered := (*model.Unanswered)(nil); {
	case err == nil:
		if reply.Call.Scene != 3 || reply.Call.Outcome != annotator.CallOpen || l.calls[reply.Call.ID-1] != reply.Call {
			t.Fatalf("the call of the reply is %+v", reply.Call)
		}
		reply.Call.Outcome = annotator.CallOK
		l.open--
	case errors.As(err, &unanswered):
		if !slices.Contains([]annotator.CallDecision{
			annotator.DecisionQuarantine, annotator.DecisionShrink,
			annotator.DecisionShrinkReply,
		}, unanswered.Action) {
			t.Fatalf("unanswered by %q", unanswered.Action)
		}
	case annotator.KindOf(err) != annotator.Halted:
		t.Fatalf("it ends with %v", err)
	}
	if l.open != 0 || len(l.calls) != len(w.asked) {
		t.Fatalf("%d calls are open; %d are on record of %d", l.open, len(l.calls), len(w.asked))
	}
	retries := time.Duration(24*policy.Attempts) * policy.Max // a reply may be halved as often
	if took := time.Since(began); waits > policy.Patience+retries || took > 48*time.Hour {
		t.Fatalf("it waited %v with a patience of %v, and took %v", waits, policy.Patience, took)
	}
	wantAttempts(t, l.calls, policy.Attempts)
}

// wantAttempts requires that attempts are numbered from 1, according to the decisions.
func wantAttempts(t *rapid.T, calls []*annotator.Call, most int) {
	allowed := []int{1}
	for _, c := range calls {
		if c.Purpose == annotator.PurposeProbe {
			continue
		}
		n := c.Attempt
		if !slices.Contains(allowed, n) || n > most+1 { // a reply may be allowed more tokens after the last attempt
			t.Fatalf("attempt %d, want one of %d, at most %d", n, allowed, most)
		}
		switch c.Decision {
		case annotator.DecisionRetry, annotator.DecisionGrowReply:
			allowed = []int{n + 1}
		case annotator.DecisionWait: // it is charged where the server answered a probe right before
			allowed = []int{n, n + 1}
		case annotator.DecisionAdapt:
			allowed = []int{n}
		case annotator.DecisionShrinkReply:
			allowed = []int{1}
		}
	}
}

// TestStepwiseIsTheSame: with any faults, Try and Wait make the calls that Complete makes.
func TestStepwiseIsTheSame(t *testing.T) {
	t.Parallel()
	script := []error{
		&model.Fault{Kind: annotator.Transient, Status: 502, Message: "bad gateway"},
		&model.Fault{Kind: annotator.Refused, Status: 400, Message: "no seed, please"},
		&model.Fault{Kind: annotator.Unreachable, Message: "gone"},
		&model.Fault{Kind: annotator.Overloaded, Message: "loading"}, nil,
		&model.Fault{Kind: annotator.Malformed, Message: "garbled"},
	}
	run := func(by func(*model.Client, *model.Request) (*model.Reply, error)) (calls []annotator.Call) {
		w, l := &wire{}, &ledger{t: t}
		w.complete = func(*model.Request) (*model.Reply, error) {
			if n := len(w.asked); n <= len(script) && script[n-1] != nil {
				return nil, script[n-1]
			}
			return says("So it was."), nil
		}
		reply, err := by(clientOf(w, l, &patient),
			&model.Request{Call: annotator.Call{Purpose: annotator.PurposeAnnotate}})
		if err != nil || reply.Text != "So it was." {
			t.Errorf("%+v, %v", reply, err)
		}
		for _, c := range l.calls {
			calls = append(calls, *c)
		}
		return calls
	}
	synctest.Test(t, func(t *testing.T) {
		whole := run(func(c *model.Client, r *model.Request) (*model.Reply, error) {
			return c.Complete(t.Context(), r)
		})
		stepwise := run(func(c *model.Client, r *model.Request) (*model.Reply, error) {
			x := c.Begin(r)
			for {
				x.Replace(r)
				if reply, err := x.Try(t.Context()); reply != nil || err != nil {
					return reply, err
				}
				if err := x.Wait(t.Context()); err != nil {
					return nil, err
				}
			}
		})
		if diff := cmp.Diff(whole, stepwise); diff != "" || len(whole) != 7 {
			t.Errorf("%d calls: %s", len(whole), diff)
		}
	})
}

// TestCutReplyMayBeLongerOnce: after a reply was cut before its first word, the limit grows once, within the context.
// It is never a limit that the server has refused.
func TestCutReplyMayBeLongerOnce(t *testing.T) {
	t.Parallel()
	w, l := &wire{}, &ledger{t: t}
	cut := &model.Reply{Reasoning: "Hm.", Finish: "length"}
	w.complete = func(r *model.Request) (*model.Reply, error) {
		switch {
		case r.MaxTokens == 100:
			return cut, nil
		case r.MaxTokens > 150:
			return nil, &model.Fault{Kind: annotator.PromptTooLong, Param: "max_tokens", Message: "too large"}
		}
		return says("So."), nil
	}
	c := clientOf(w, l, &patient)
	c.Capabilities.Budget.Wanted = 310
	c.Capabilities.Budget.Begin()
	x := c.Begin(&model.Request{MaxTokens: 100, Call: annotator.Call{Purpose: annotator.PurposeAnnotate, Estimate: 10}})
	for {
		reply, err := x.Try(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if reply != nil {
			break
		}
	}
	var limits []int
	for i := range w.asked {
		limits = append(limits, w.asked[i].MaxTokens)
	}
	if !slices.Equal(limits, []int{100, 300, 150}) || x.ReplyLimit() != 150 {
		t.Errorf("limits %d, then %d", limits, x.ReplyLimit())
	}
}

// TestModelsAreWaitedFor: without a configured model, the list is waited for, within the patience. With one, an
// endpoint that cannot list models is no error.
func TestModelsAreWaitedFor(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		failures := 3
		w := &wire{models: func() ([]model.Model, error) {
			if failures--; failures >= 0 {
				return nil, &model.Fault{Kind: annotator.Unreachable, Message: "nobody is there"}
			}
			return []model.Model{{ID: "m", MaxContext: 4096}}, nil
		}}
		c := clientOf(w, &ledger{t: t}, &patient)
		if models, err := c.Models(t.Context()); models != nil || err != nil {
			t.Errorf("%v, %v", models, err)
		}
		c.Model = ""
		models, err := c.Models(t.Context())
		if err != nil || !c.Capabilities.SetListed(models, "m") || c.Capabilities.Budget.Server() != 4096 {
			t.Errorf("%v, %v", models, err)
		}
		failures = 1 << 30
		if _, err := c.Models(t.Context()); annotator.KindOf(err) != annotator.Halted ||
			!strings.Contains(err.Error(), "1h0m0s of waiting") {
			t.Errorf("%v", err)
		}
		interrupted := make(chan struct{})
		close(interrupted)
		c.Interrupt = interrupted
		if _, err := c.Models(t.Context()); annotator.KindOf(err) != annotator.Interrupted {
			t.Errorf("%v", err)
		}
	})
}

// TestCallsInTheText: calls in the text become calls of the reply. The text keeps the rest, and the recorded call the
// whole text. A warning is published once.
func TestCallsInTheText(t *testing.T) {
	t.Parallel()
	w, l := &wire{}, &ledger{t: t}
	w.complete = func(*model.Request) (*model.Reply, error) {
		return &model.Reply{Text: "<think>Hm.</think>So: " + hermes, Finish: "stop", Model: "other"}, nil
	}
	c := clientOf(w, l, &patient)
	var warnings []string
	c.Notify = func(n annotator.Notice) {
		if n.Kind == annotator.NoticeWarning {
			warnings = append(warnings, n.Reason)
		}
	}
	for range 2 {
		reply, err := c.Complete(t.Context(),
			&model.Request{Rules: callRules(""), Call: annotator.Call{Purpose: annotator.PurposeAnnotate}})
		if err != nil {
			t.Fatal(err)
		}
		want := []annotator.ToolCall{{Name: "a", Arguments: "{}", Origin: annotator.OriginText}}
		if diff := cmp.Diff(want, reply.Calls); diff != "" || reply.Text != "So:" ||
			string(reply.Call.Raw) != "So: "+hermes || reply.Reasoning != "Hm." {
			t.Errorf("%s%+v", diff, reply)
		}
	}
	if len(warnings) != 2 || !c.Capabilities.TextCalls || !c.Capabilities.MixedText ||
		!slices.Equal(c.Capabilities.OtherModels, []string{"other"}) {
		t.Errorf("%q, %+v", warnings, c.Capabilities)
	}
}

// counter is a wire whose server counts tokens, until it fails.
type counter struct {
	wire
	counted int
	err     error
}

func (c *counter) CountTokens(context.Context, string, string) (int, error) {
	c.counted++
	return 7, c.err
}

// TestServerThatCannotCountIsNotAskedAgain: a server that cannot count, or fails once, is not asked again.
func TestServerThatCannotCountIsNotAskedAgain(t *testing.T) {
	t.Parallel()
	c := clientOf(&wire{}, &ledger{t: t}, &patient)
	if _, err := c.CountTokens(t.Context(), "text"); err == nil {
		t.Error("a wire without a tokenizer counts")
	}
	able := &counter{}
	c.Wire = able
	if n, err := c.CountTokens(t.Context(), "text"); n != 7 || err != nil || c.Capabilities.NoTokenizer {
		t.Errorf("%d, %v", n, err)
	}
	able.err = &model.Fault{Kind: annotator.Misconfigured}
	for range 2 {
		if _, err := c.CountTokens(t.Context(), "text"); err == nil || !c.Capabilities.NoTokenizer {
			t.Errorf("%v, %+v", err, c.Capabilities)
		}
	}
	if able.counted != 2 {
		t.Errorf("it was asked %d times", able.counted)
	}
}

// TestSilenceIsNoticed: a wire's report of silence is published as a notice of the call.
func TestSilenceIsNoticed(t *testing.T) {
	t.Parallel()
	w := &wire{}
	w.complete = func(r *model.Request) (*model.Reply, error) {
		r.OnSilence(2*time.Minute, 15*time.Minute)
		return &model.Reply{Text: "So.", Finish: "stop"}, nil
	}
	c := clientOf(w, &ledger{t: t}, &patient)
	var notices []annotator.Notice
	c.Notify = func(n annotator.Notice) {
		if n.Kind == annotator.NoticeSilence {
			notices = append(notices, n)
		}
	}
	if _, err := c.Complete(t.Context(),
		&model.Request{Call: annotator.Call{Purpose: annotator.PurposeCurate}}); err != nil {
		t.Fatal(err)
	}
	want := []annotator.Notice{{
		Kind: annotator.NoticeSilence, Purpose: annotator.PurposeCurate, Attempt: 1, Duration: 2 * time.Minute,
		Reason: "no token has come from the endpoint for 2m0s; after 15m0s the call is given up",
	}}
	if diff := cmp.Diff(want, notices); diff != "" {
		t.Error(diff)
	}
}

// TestNoSeedAfterACrash: after a request with a seed crashed the server, the next one has no seed. vLLM's engine for
// the CPU ends if a long prompt has a seed. After an unusable reply, the next request has another seed.
func TestNoSeedAfterACrash(t *testing.T) {
	t.Parallel()
	dead := model.Classify(500, nil,
		[]byte(`{"error":{"message":"EngineCore encountered an issue. See stack trace (above) for the root cause.","type":"InternalServerError","param":null,"code":500}}`))
	for name, death := range map[string]*model.Fault{
		"the engine": dead, "the connection": model.ClassifyTransport(io.ErrUnexpectedEOF),
	} {
		synctest.Test(t, func(t *testing.T) {
			var seeds []int
			w := &wire{}
			w.complete = func(r *model.Request) (*model.Reply, error) {
				if r.Call.Purpose == "" { // a probe
					return says("Yes."), nil
				}
				if r.Workarounds.Has(model.NoSeed) {
					r.Seed = 0
				}
				switch seeds = append(seeds, r.Seed); {
				case len(seeds) <= 2:
					return nil, &model.Fault{Kind: annotator.Malformed}
				case r.Seed != 0:
					f := *death
					return nil, &f
				}
				return says("So it was."), nil
			}
			policy := model.DefaultPolicy()
			c := clientOf(w, &ledger{t: t}, &policy)
			reply, err := c.Complete(t.Context(),
				&model.Request{MaxTokens: 64, Call: annotator.Call{Purpose: annotator.PurposeAnnotate}})
			if err != nil || reply == nil || !slices.Equal(seeds, []int{0, 1, 2, 0}) {
				t.Errorf("%s died: seeds %v, %v", name, seeds, err)
			}
		})
	}
}

// TestAnAddressThatNeverAnsweredIsGivenUp: a URL without a server is given up after a minute, not after the patience
// with a server that loads. A server that has answered once in the process is waited for with the whole patience.
func TestAnAddressThatNeverAnsweredIsGivenUp(t *testing.T) {
	t.Parallel()
	refused := model.ClassifyTransport(fmt.Errorf("dial: %w", syscall.ECONNREFUSED))
	for name, test := range map[string]struct {
		first  []error // what is answered before nothing listens any more; nil: a reply
		policy model.Policy
		waits  time.Duration
		reason annotator.Reason
	}{
		"a dead port": {nil, model.DefaultPolicy(), time.Minute, annotator.ReasonNeverReached},
		"patience is asked of": {
			nil,
			model.Policy{Attempts: 3, Max: time.Minute, Patience: 2 * time.Hour},
			2 * time.Hour, annotator.ReasonNeverReached,
		},
		"less patience": {nil, model.Policy{
			Attempts: 3, Max: time.Second, Patience: time.Second,
			FirstContact: time.Minute,
		}, time.Second, annotator.ReasonNeverReached},
		"loading": {
			[]error{&model.Fault{Kind: annotator.Overloaded, Status: 503}},
			model.DefaultPolicy(),
			45 * time.Minute, annotator.ReasonUnreachable,
		},
		"it worked before": {[]error{nil}, model.DefaultPolicy(), 45 * time.Minute, annotator.ReasonUnreachable},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for asked, ask := range map[string]func(context.Context, *model.Client) error{
				"a call": func(ctx context.Context, c *model.Client) error {
					_, err := c.Complete(ctx, &model.Request{MaxTokens: 9})
					return err
				},
				"the models": func(ctx context.Context, c *model.Client) error {
					c.Model = ""
					_, err := c.Models(ctx)
					return err
				},
			} {
				synctest.Test(t, func(t *testing.T) {
					answered := 0
					next := func() error {
						if answered++; answered <= len(test.first) {
							return test.first[answered-1]
						}
						return refused
					}
					w := &wire{
						complete: func(*model.Request) (*model.Reply, error) {
							if err := next(); err != nil {
								return nil, err
							}
							return says("yes"), nil
						},
						models: func() ([]model.Model, error) { return nil, next() },
					}
					c := clientOf(w, nil, &test.policy)
					c.Recorder = nil
					began := time.Now()
					err := ask(t.Context(), c)
					for err == nil {
						err = ask(t.Context(), c)
					}
					took, least := time.Since(began), test.waits
					if took < least || took > least+least/10+time.Second {
						t.Errorf("%s: it waited %s, not %s", asked, took, test.waits)
					}
					if e := (*annotator.Error)(nil); !errors.As(err, &e) || e.Kind != annotator.Halted ||
						e.Reason != test.reason {
						t.Errorf("%s: %v", asked, err)
					}
				})
			}
		})
	}
}
