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
	first, second, third := model.Tried{Attempt: 1}, model.Tried{Attempt: 2}, model.Tried{Attempt: 3}
	waited := func(d time.Duration) model.Tried { return model.Tried{Attempt: 1, Waited: d} }
	const ms = time.Millisecond
	tests := []struct {
		name  string
		fault model.Fault
		tried model.Tried
		want  model.Ruling
	}{
		{"first", model.Fault{Kind: annotator.Transient}, first, model.Ruling{Decision: model.Retry, Delay: 750 * ms, Charged: true}},
		{"second doubles, and probes", model.Fault{Kind: annotator.Transient}, second, model.Ruling{Decision: model.Retry, Delay: 1500 * ms, Probe: true, Charged: true}},
		{"silence probes at once", model.Fault{Kind: annotator.Transient, Code: model.CodeSilent}, first, model.Ruling{Decision: model.Retry, Delay: 750 * ms, Probe: true, Charged: true}},
		{"no answer again and again", model.Fault{Kind: annotator.Transient}, third, model.Ruling{Decision: model.Halt, Charged: true}},
		{"a living server, again and again", model.Fault{Kind: annotator.Transient}, model.Tried{Attempt: 3, Alive: true}, model.Ruling{Decision: model.Quarantine, Charged: true}},
		{"a server's own failure again and again", model.Fault{Kind: annotator.Transient, Status: 500}, third, model.Ruling{Decision: model.Quarantine, Charged: true}},
		{"unusable", model.Fault{Kind: annotator.Malformed}, second, model.Ruling{Decision: model.Retry, Delay: 1500 * ms, Charged: true}},
		{"unusable again and again", model.Fault{Kind: annotator.Malformed}, third, model.Ruling{Decision: model.Quarantine, Charged: true}},
		{"thought too long", model.Fault{Kind: annotator.Malformed, Code: model.CodeThinking}, first, model.Ruling{Decision: model.GrowReply, Charged: true}},
		{"thought too long again", model.Fault{Kind: annotator.Malformed, Code: model.CodeThinking}, model.Tried{Attempt: 2, Grown: true}, model.Ruling{Decision: model.Quarantine, Charged: true}},
		{"waits are not charged", model.Fault{Kind: annotator.Overloaded}, model.Tried{Attempt: 99}, model.Ruling{Decision: model.Wait, Delay: 750 * ms, Probe: true}},
		{"a server that takes short prompts only, for now", model.Fault{Kind: annotator.Overloaded}, model.Tried{Attempt: 3, Alive: true}, model.Ruling{Decision: model.Wait, Delay: 750 * ms, Probe: true}},
		{"limits on the rate are sat out", model.Fault{Kind: annotator.Overloaded, Status: 429}, model.Tried{Attempt: 99, Alive: true}, model.Ruling{Decision: model.Wait, Delay: 750 * ms}},
		{"waits grow", model.Fault{Kind: annotator.Unreachable}, waited(3 * time.Second), model.Ruling{Decision: model.Wait, Delay: 3 * time.Second, Probe: true}},
		{"the server's word", model.Fault{Kind: annotator.Overloaded, RetryAfter: 7 * time.Second}, first, model.Ruling{Decision: model.Wait, Delay: 7 * time.Second, Probe: true}},
		{"the server's word is capped", model.Fault{Kind: annotator.Overloaded, RetryAfter: math.MaxInt64}, first, model.Ruling{Decision: model.Wait, Delay: 10 * time.Second, Probe: true}},
		{"patience is not passed", model.Fault{Kind: annotator.Unreachable}, waited(59 * time.Second), model.Ruling{Decision: model.Wait, Delay: time.Second, Probe: true}},
		{"patience ends", model.Fault{Kind: annotator.Unreachable}, waited(time.Minute), model.Ruling{Decision: model.Halt}},
		{"a prompt that brings the server down", model.Fault{Kind: annotator.Unreachable}, model.Tried{Attempt: 2, Alive: true}, model.Ruling{Decision: model.Wait, Delay: 750 * ms, Probe: true, Charged: true}},
		{"and again", model.Fault{Kind: annotator.Unreachable}, model.Tried{Attempt: 3, Alive: true}, model.Ruling{Decision: model.Quarantine, Charged: true}},
		{"too long", model.Fault{Kind: annotator.PromptTooLong, Message: "too long"}, model.Tried{Attempt: 9}, model.Ruling{Decision: model.Shrink, Charged: true}},
		{"perhaps too long", model.Fault{Kind: annotator.PromptTooLong, Status: 400}, first, model.Ruling{Decision: model.Shrink, Charged: true}},
		{"not too long", model.Fault{Kind: annotator.PromptTooLong, Status: 400}, model.Tried{Attempt: 1, Shrunk: 1}, model.Ruling{Decision: model.Quarantine, Charged: true}},
		{"always too long", model.Fault{Kind: annotator.PromptTooLong, Status: 400, Message: "too long"}, model.Tried{Attempt: 1, Shrunk: 24}, model.Ruling{Decision: model.Quarantine, Charged: true}},
		{"reply too long", model.Fault{Kind: annotator.PromptTooLong, Param: "max_tokens"}, first, model.Ruling{Decision: model.ShrinkReply, Charged: true}},
		{"refused", model.Fault{Kind: annotator.Refused}, first, model.Ruling{Decision: model.Quarantine, Charged: true}},
		{"misconfigured", model.Fault{Kind: annotator.Misconfigured}, first, model.Ruling{Decision: model.Halt, Charged: true}},
		{"hostile", model.Fault{Kind: annotator.Unsafe}, first, model.Ruling{Decision: model.Halt, Charged: true}},
		{"a stranger at first", model.Fault{Kind: annotator.Misconfigured, NotAnAPI: true}, first, model.Ruling{Decision: model.Retry, Delay: 750 * ms, Charged: true}},
		{"a stranger again and again", model.Fault{Kind: annotator.Transient, NotAnAPI: true}, third, model.Ruling{Decision: model.Halt, Charged: true}},
		{"a stranger in the server's place", model.Fault{Kind: annotator.Misconfigured, NotAnAPI: true}, model.Tried{Attempt: 3, Known: true}, model.Ruling{Decision: model.Wait, Delay: 750 * ms, Probe: true}},
		{"that stays", model.Fault{Kind: annotator.Malformed, NotAnAPI: true}, model.Tried{Attempt: 1, Known: true, Waited: time.Minute}, model.Ruling{Decision: model.Halt}},
		{"that comes for one request alone", model.Fault{Kind: annotator.Malformed, NotAnAPI: true}, model.Tried{Attempt: 3, Known: true, Alive: true}, model.Ruling{Decision: model.Quarantine, Charged: true}},
		{"cancelled", model.Fault{Kind: annotator.Interrupted}, first, model.Ruling{Decision: model.Halt, Charged: true}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			got := p.Next(test.tried, &test.fault, middle)
			if got.Why == "" {
				t.Error("nothing is said of why")
			}
			if got.Why = ""; got != test.want {
				t.Errorf("%+v, want %+v", got, test.want)
			}
		})
	}
}

// TestMaxTokensIsShrunkAlone goes from the server's words to the decision.
func TestMaxTokensIsShrunkAlone(t *testing.T) {
	t.Parallel()
	const body = `{"error":{"message":"'max_tokens' or 'max_completion_tokens' is too large: 8192.","code":400}}`
	ruling := model.DefaultPolicy().Next(model.Tried{Attempt: 1}, model.Classify(400, nil, []byte(body)), middle)
	if ruling.Decision != model.ShrinkReply {
		t.Errorf("decision is %q, want %q", ruling.Decision, model.ShrinkReply)
	}
}

// TestPolicyEnds follows decisions under any policy: waiting ends when patience does, retrying after the attempts, and no
// delay passes the limit.
func TestPolicyEnds(t *testing.T) {
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
		tried := model.Tried{Attempt: 1, Known: rapid.Bool().Draw(t, "known")}
		for calls := 1; ; calls++ {
			if calls > 2000 {
				t.Fatalf("no end after %d calls", calls)
			}
			f := &model.Fault{
				Kind:       rapid.SampledFrom(kinds).Draw(t, "kind"),
				NotAnAPI:   rapid.Bool().Draw(t, "stranger"),
				RetryAfter: time.Duration(rapid.Int64Min(0).Draw(t, "after")),
			}
			ruling := p.Next(tried, f, func() float64 { return rapid.Float64Range(0, 0.999).Draw(t, "random") })
			if ruling.Delay < 0 || ruling.Delay > longest {
				t.Fatalf("delay %v is out of bounds", ruling.Delay)
			}
			if ruling.Decision != model.Retry && ruling.Decision != model.Wait {
				if tried.Attempt > max(1, p.Attempts) || tried.Waited > p.Patience {
					t.Fatalf("ended at attempt %d of %d, after %v of %v", tried.Attempt, p.Attempts, tried.Waited, p.Patience)
				}
				return
			}
			if ruling.Charged {
				tried.Attempt++
			}
			if ruling.Decision == model.Wait {
				tried.Waited += ruling.Delay
			}
			tried.Alive = ruling.Probe && rapid.Bool().Draw(t, "alive")
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
