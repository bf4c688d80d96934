package model_test

import (
	"math"
	"testing"
	"time"

	"pgregory.net/rapid"

	"annotator"
	"annotator/model"
)

func middle() float64 { return 0.5 }

func TestPolicyDecides(t *testing.T) {
	t.Parallel()
	p := model.Policy{Attempts: 3, Base: time.Second, Max: 10 * time.Second, Patience: time.Minute}
	first, second, third := model.Attempts{Number: 1}, model.Attempts{Number: 2}, model.Attempts{Number: 3}
	waited := func(d time.Duration) model.Attempts { return model.Attempts{Number: 1, Waited: d} }
	const ms = time.Millisecond
	tests := []struct {
		name  string
		fault model.Fault
		tried model.Attempts
		want  model.Decision
	}{
		{
			"first",
			model.Fault{Kind: annotator.Transient},
			first,
			model.Decision{Action: annotator.DecisionRetry, Delay: 750 * ms, Charged: true},
		},
		{
			"second doubles, and probes",
			model.Fault{Kind: annotator.Transient},
			second,
			model.Decision{Action: annotator.DecisionRetry, Delay: 1500 * ms, Probe: true, Charged: true},
		},
		{
			"silence probes at once",
			model.Fault{Kind: annotator.Transient, Code: model.CodeSilent},
			first,
			model.Decision{Action: annotator.DecisionRetry, Delay: 750 * ms, Probe: true, Charged: true},
		},
		{
			"no answer again and again",
			model.Fault{Kind: annotator.Transient},
			third,
			model.Decision{Action: annotator.DecisionHalt, Charged: true},
		},
		{
			"a living server, again and again",
			model.Fault{Kind: annotator.Transient},
			model.Attempts{Number: 3, Alive: true},
			model.Decision{Action: annotator.DecisionQuarantine, Charged: true},
		},
		{
			"a server's own failure again and again",
			model.Fault{Kind: annotator.Transient, Status: 500},
			third,
			model.Decision{Action: annotator.DecisionQuarantine, Charged: true},
		},
		{
			"unusable",
			model.Fault{Kind: annotator.Malformed},
			second,
			model.Decision{Action: annotator.DecisionRetry, Delay: 1500 * ms, Charged: true},
		},
		{
			"unusable again and again",
			model.Fault{Kind: annotator.Malformed},
			third,
			model.Decision{Action: annotator.DecisionQuarantine, Charged: true},
		},
		{
			"thought too long",
			model.Fault{Kind: annotator.Malformed, Code: model.CodeThinking},
			first,
			model.Decision{Action: annotator.DecisionGrowReply, Charged: true},
		},
		{
			"thought too long again",
			model.Fault{Kind: annotator.Malformed, Code: model.CodeThinking},
			model.Attempts{Number: 2, Grown: true},
			model.Decision{Action: annotator.DecisionQuarantine, Charged: true},
		},
		{
			"waits are not charged",
			model.Fault{Kind: annotator.Overloaded},
			model.Attempts{Number: 99},
			model.Decision{Action: annotator.DecisionWait, Delay: 750 * ms, Probe: true, Watch: true},
		},
		{
			"a server that takes short prompts only, for now",
			model.Fault{Kind: annotator.Overloaded},
			model.Attempts{Number: 3, Alive: true},
			model.Decision{Action: annotator.DecisionWait, Delay: 750 * ms, Probe: true, Watch: true},
		},
		{
			"limits on the rate are sat out",
			model.Fault{Kind: annotator.Overloaded, Status: 429},
			model.Attempts{Number: 99, Alive: true},
			model.Decision{Action: annotator.DecisionWait, Delay: 750 * ms},
		},
		{
			"waits grow",
			model.Fault{Kind: annotator.Unreachable},
			waited(3 * time.Second),
			model.Decision{Action: annotator.DecisionWait, Delay: 3 * time.Second, Probe: true, Watch: true},
		},
		{
			"the server's word",
			model.Fault{Kind: annotator.Overloaded, RetryAfter: 7 * time.Second},
			first,
			model.Decision{Action: annotator.DecisionWait, Delay: 7 * time.Second, Probe: true},
		},
		{
			"the server's word is capped",
			model.Fault{Kind: annotator.Overloaded, RetryAfter: math.MaxInt64},
			first,
			model.Decision{Action: annotator.DecisionWait, Delay: 10 * time.Second, Probe: true},
		},
		{
			"patience is not passed",
			model.Fault{Kind: annotator.Unreachable},
			waited(59 * time.Second),
			model.Decision{Action: annotator.DecisionWait, Delay: time.Second, Probe: true, Watch: true},
		},
		{
			"patience ends",
			model.Fault{Kind: annotator.Unreachable},
			waited(time.Minute),
			model.Decision{Action: annotator.DecisionHalt},
		},
		{
			"a prompt that brings the server down",
			model.Fault{Kind: annotator.Unreachable},
			model.Attempts{Number: 2, Alive: true},
			model.Decision{Action: annotator.DecisionWait, Delay: 750 * ms, Probe: true, Watch: true, Charged: true},
		},
		{
			"and again",
			model.Fault{Kind: annotator.Unreachable},
			model.Attempts{Number: 3, Alive: true},
			model.Decision{Action: annotator.DecisionQuarantine, Charged: true},
		},
		{
			"too long",
			model.Fault{Kind: annotator.PromptTooLong, Message: "too long"},
			model.Attempts{Number: 9},
			model.Decision{Action: annotator.DecisionShrink, Charged: true},
		},
		{
			"perhaps too long",
			model.Fault{Kind: annotator.PromptTooLong, Status: 400},
			first,
			model.Decision{Action: annotator.DecisionShrink, Charged: true},
		},
		{
			"not too long",
			model.Fault{Kind: annotator.PromptTooLong, Status: 400},
			model.Attempts{Number: 1, Shrunk: 1},
			model.Decision{Action: annotator.DecisionQuarantine, Charged: true},
		},
		{
			"always too long",
			model.Fault{Kind: annotator.PromptTooLong, Status: 400, Message: "too long"},
			model.Attempts{Number: 1, Shrunk: 24},
			model.Decision{Action: annotator.DecisionQuarantine, Charged: true},
		},
		{
			"reply too long",
			model.Fault{Kind: annotator.PromptTooLong, Param: "max_tokens"},
			first,
			model.Decision{Action: annotator.DecisionShrinkReply, Charged: true},
		},
		{
			"refused",
			model.Fault{Kind: annotator.Refused},
			first,
			model.Decision{Action: annotator.DecisionQuarantine, Charged: true},
		},
		{
			"misconfigured",
			model.Fault{Kind: annotator.Misconfigured},
			first,
			model.Decision{Action: annotator.DecisionHalt, Charged: true},
		},
		{
			"hostile",
			model.Fault{Kind: annotator.Unsafe},
			first,
			model.Decision{Action: annotator.DecisionHalt, Charged: true},
		},
		{
			"not an API at first",
			model.Fault{Kind: annotator.Misconfigured, NotAnAPI: true},
			first,
			model.Decision{Action: annotator.DecisionRetry, Delay: 750 * ms, Charged: true},
		},
		{
			"not an API again and again",
			model.Fault{Kind: annotator.Transient, NotAnAPI: true},
			third,
			model.Decision{Action: annotator.DecisionHalt, Charged: true},
		},
		{
			"a proxy in the server's place",
			model.Fault{Kind: annotator.Misconfigured, NotAnAPI: true},
			model.Attempts{Number: 3, Known: true},
			model.Decision{Action: annotator.DecisionWait, Delay: 750 * ms, Probe: true, Watch: true},
		},
		{
			"that stays",
			model.Fault{Kind: annotator.Malformed, NotAnAPI: true},
			model.Attempts{Number: 1, Known: true, Waited: time.Minute},
			model.Decision{Action: annotator.DecisionHalt},
		},
		{
			"that comes for one request alone",
			model.Fault{Kind: annotator.Malformed, NotAnAPI: true},
			model.Attempts{Number: 3, Known: true, Alive: true},
			model.Decision{Action: annotator.DecisionQuarantine, Charged: true},
		},
		{
			"cancelled",
			model.Fault{Kind: annotator.Interrupted},
			first,
			model.Decision{Action: annotator.DecisionHalt, Charged: true},
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			got := p.Next(test.tried, &test.fault, middle)
			if got.Reason == "" {
				t.Error("nothing is said of why")
			}
			if got.Reason = ""; got != test.want {
				t.Errorf("%+v, want %+v", got, test.want)
			}
		})
	}
}

// TestMaxTokensIsShrunkAlone: a server's refusal of max_tokens leads to a shorter reply, not a shorter prompt.
func TestMaxTokensIsShrunkAlone(t *testing.T) {
	t.Parallel()
	const body = `{"error":{"message":"'max_tokens' or 'max_completion_tokens' is too large: 8192.","code":400}}`
	decision := model.DefaultPolicy().Next(model.Attempts{Number: 1}, model.Classify(400, nil, []byte(body)), middle)
	if decision.Action != annotator.DecisionShrinkReply {
		t.Errorf("decision is %q, want %q", decision.Action, annotator.DecisionShrinkReply)
	}
}

// TestWaitingEndsWithPatience: under any policy, waiting ends with the patience, retrying with the attempts, and no
// delay exceeds the limit.
func TestWaitingEndsWithPatience(t *testing.T) {
	t.Parallel()
	kinds := []annotator.Kind{annotator.Transient, annotator.Overloaded, annotator.Malformed, annotator.Unreachable}
	rapid.Check(t, func(t *rapid.T) {
		p := model.Policy{
			Attempts: rapid.IntRange(-1, 6).Draw(t, "attempts"),
			Base:     time.Duration(rapid.Int64Range(-1, int64(time.Minute)).Draw(t, "base")),
			Max:      time.Duration(rapid.Int64Range(0, int64(time.Minute)).Draw(t, "max")),
			Patience: time.Duration(rapid.Int64Range(0, int64(time.Second)).Draw(t, "patience")),
		}
		longest := max(p.Max, p.Base, time.Millisecond)
		tried := model.Attempts{Number: 1, Known: rapid.Bool().Draw(t, "known")}
		for calls := 1; ; calls++ {
			if calls > 2000 {
				t.Fatalf("no end after %d calls", calls)
			}
			f := &model.Fault{
				Kind:       rapid.SampledFrom(kinds).Draw(t, "kind"),
				NotAnAPI:   rapid.Bool().Draw(t, "not an API"),
				RetryAfter: time.Duration(rapid.Int64Min(0).Draw(t, "after")),
			}
			decision := p.Next(tried, f, func() float64 { return rapid.Float64Range(0, 0.999).Draw(t, "random") })
			if decision.Delay < 0 || decision.Delay > longest {
				t.Fatalf("delay %v is out of bounds", decision.Delay)
			}
			if decision.Action != annotator.DecisionRetry && decision.Action != annotator.DecisionWait {
				if tried.Number > max(1, p.Attempts) || tried.Waited > p.Patience {
					t.Fatalf("ended at attempt %d of %d, after %v of %v", tried.Number, p.Attempts, tried.Waited,
						p.Patience)
				}
				return
			}
			if decision.Charged {
				tried.Number++
			}
			if decision.Action == annotator.DecisionWait {
				tried.Waited += decision.Delay
			}
			tried.Alive = decision.Probe && rapid.Bool().Draw(t, "alive")
		}
	})
}

func TestParseRetryAfter(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 20, 10, 0, 0, 0, time.UTC)
	for value, want := range map[string]time.Duration{
		"":                              0,
		"5":                             5 * time.Second,
		" 5 ":                           5 * time.Second,
		"0":                             0,
		"-1":                            0,
		"1.5":                           1500 * time.Millisecond,
		"5s":                            5 * time.Second,
		"1m30s":                         90 * time.Second,
		"-5s":                           0,
		"99999999999999999999":          math.MaxInt64,
		"1e999":                         math.MaxInt64,
		"NaN":                           0,
		"soon":                          0,
		"Fri, 20 Nov 2026 10:00:05 GMT": 5 * time.Second,
		"Fri, 20 Nov 2026 09:59:00 GMT": 0,
	} {
		if got := model.ParseRetryAfter(value, now); got != want {
			t.Errorf("ParseRetryAfter(%q) = %v, want %v", value, got, want)
		}
	}
}

func FuzzParseRetryAfter(f *testing.F) {
	for _, value := range []string{"5", "1.5", "5s", "-1", "1e999", "Fri, 20 Nov 2026 10:00:05 GMT", "\x00"} {
		f.Add(value, int64(1_800_000_000))
	}
	f.Fuzz(func(t *testing.T, value string, now int64) {
		if d := model.ParseRetryAfter(value, time.Unix(now, 0)); d < 0 {
			t.Errorf("ParseRetryAfter(%q) = %v", value, d)
		}
	})
}

// TestFailedDeviceIsWaitedFor: a server that reports a failed device is waited for, although it answers probes. No
// scene is given up.
func TestFailedDeviceIsWaitedFor(t *testing.T) {
	t.Parallel()
	fault := model.Classify(400, nil,
		[]byte(`{"object":"error","message":"RuntimeError: CUDA error: unspecified launch failure","code":400}`))
	if !fault.ServerFailed || fault.Advice == "" {
		t.Errorf("%+v", fault)
	}
	p := model.DefaultPolicy()
	tried := model.Attempts{Number: p.Attempts, Alive: true}
	if d := p.Next(tried, fault, middle); d.Action != annotator.DecisionWait || !d.Probe || d.Charged {
		t.Errorf("%+v", d)
	}
	tried.Waited = p.Patience
	if d := p.Next(tried, fault, middle); d.Action != annotator.DecisionHalt {
		t.Errorf("%+v", d)
	}
}
