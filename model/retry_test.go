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
	tests := []struct {
		name    string
		fault   model.Fault
		attempt int
		waited  time.Duration
		delay   time.Duration
		want    model.Decision
	}{
		{"first", model.Fault{Kind: annotator.Transient}, 1, 0, 750 * time.Millisecond, model.Retry},
		{"second doubles", model.Fault{Kind: annotator.Transient}, 2, 0, 1500 * time.Millisecond, model.Retry},
		{"no answer again and again", model.Fault{Kind: annotator.Transient}, 3, 0, 0, model.Halt},
		{"a server's own failure again and again", model.Fault{Kind: annotator.Transient, Status: 500}, 3, 0, 0, model.Quarantine},
		{"unusable", model.Fault{Kind: annotator.Malformed}, 1, 0, 750 * time.Millisecond, model.Retry},
		{"unusable again and again", model.Fault{Kind: annotator.Malformed}, 3, 0, 0, model.Quarantine},
		{"waits are not charged", model.Fault{Kind: annotator.Overloaded}, 99, 0, 750 * time.Millisecond, model.Wait},
		{"waits grow", model.Fault{Kind: annotator.Gone}, 1, 3 * time.Second, 3 * time.Second, model.Wait},
		{"the server's word", model.Fault{Kind: annotator.Overloaded, RetryAfter: 7 * time.Second}, 1, 0, 7 * time.Second, model.Wait},
		{"the server's word is capped", model.Fault{Kind: annotator.Overloaded, RetryAfter: math.MaxInt64}, 1, 0, 10 * time.Second, model.Wait},
		{"patience is not passed", model.Fault{Kind: annotator.Gone}, 1, 59 * time.Second, time.Second, model.Wait},
		{"patience ends", model.Fault{Kind: annotator.Gone}, 1, time.Minute, 0, model.Halt},
		{"too long", model.Fault{Kind: annotator.Shrink, Message: "too long"}, 9, 0, 0, model.Shrink},
		{"perhaps too long", model.Fault{Kind: annotator.Shrink, Status: 400}, 1, 0, 0, model.Shrink},
		{"not too long", model.Fault{Kind: annotator.Shrink, Status: 400}, 2, 0, 0, model.Quarantine},
		{"reply too long", model.Fault{Kind: annotator.Shrink, Param: "max_tokens"}, 1, 0, 0, model.ShrinkReply},
		{"refused", model.Fault{Kind: annotator.Refused}, 1, 0, 0, model.Quarantine},
		{"misconfigured", model.Fault{Kind: annotator.Misconfigured}, 1, 0, 0, model.Halt},
		{"hostile", model.Fault{Kind: annotator.Hostile}, 1, 0, 0, model.Halt},
		{"cancelled", model.Fault{Kind: annotator.Interrupted}, 1, 0, 0, model.Halt},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			delay, decision := p.Next(test.attempt, &test.fault, test.waited, middle)
			if delay != test.delay || decision != test.want {
				t.Errorf("%v %s, want %v %s", delay, decision, test.delay, test.want)
			}
		})
	}
}

// TestMaxTokensIsShrunkAlone goes from the server's words to the decision.
func TestMaxTokensIsShrunkAlone(t *testing.T) {
	t.Parallel()
	const body = `{"error":{"message":"'max_tokens' or 'max_completion_tokens' is too large: 8192.","code":400}}`
	_, decision := model.DefaultPolicy().Next(1, model.Classify(400, nil, []byte(body)), 0, middle)
	if decision != model.ShrinkReply {
		t.Errorf("decision is %q, want %q", decision, model.ShrinkReply)
	}
}

// TestPolicyEnds follows decisions under any policy: waiting ends when patience does, retrying after the attempts, and no
// delay passes the limit.
func TestPolicyEnds(t *testing.T) {
	t.Parallel()
	kinds := []annotator.Kind{annotator.Transient, annotator.Overloaded, annotator.Malformed, annotator.Gone}
	rapid.Check(t, func(t *rapid.T) {
		p := model.Policy{
			Attempts: rapid.IntRange(-1, 6).Draw(t, "attempts"),
			Base:     time.Duration(rapid.Int64Range(-1, int64(time.Minute)).Draw(t, "base")),
			Max:      time.Duration(rapid.Int64Range(0, int64(time.Minute)).Draw(t, "max")),
			Patience: time.Duration(rapid.Int64Range(0, int64(time.Second)).Draw(t, "patience")),
		}
		longest := max(p.Max, p.Base, time.Millisecond)
		attempt, waited := 1, time.Duration(0)
		for calls := 1; ; calls++ {
			if calls > 2000 {
				t.Fatalf("no end after %d calls", calls)
			}
			f := &model.Fault{
				Kind:       rapid.SampledFrom(kinds).Draw(t, "kind"),
				RetryAfter: time.Duration(rapid.Int64Min(0).Draw(t, "after")),
			}
			delay, decision := p.Next(attempt, f, waited, func() float64 { return rapid.Float64Range(0, 0.999).Draw(t, "random") })
			if delay < 0 || delay > longest {
				t.Fatalf("delay %v is out of bounds", delay)
			}
			switch decision {
			case model.Retry:
				attempt++
			case model.Wait:
				waited += delay
			default:
				if attempt > max(1, p.Attempts) || waited > p.Patience {
					t.Fatalf("ended at attempt %d of %d, after %v of %v", attempt, p.Attempts, waited, p.Patience)
				}
				return
			}
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
