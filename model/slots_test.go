package model_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"

	"annotator"
	"annotator/model"
	"annotator/model/textcalls"
)

// TestNameIsIgnored: after a server ignored a tool required by name, later requests require any tool.
func TestNameIsIgnored(t *testing.T) {
	t.Parallel()
	rules := &model.CallRules{Tools: textcalls.Tools{Names: []string{"declare"}}}
	choice := model.Choice{Mode: model.ChoiceRequired, Allowed: []string{"declare"}}
	for name, test := range map[string]struct {
		reply model.Reply
		want  bool
	}{
		"words": {*says("I would rather not."), true},
		"call": {
			model.Reply{Finish: "tool_calls", Calls: []annotator.ToolCall{{Name: "declare", Arguments: "{}"}}},
			false,
		},
		"cut": {model.Reply{Text: "I will", Finish: "length"}, false},
	} {
		w, l := &wire{}, &ledger{t: t}
		w.complete = func(*model.Request) (*model.Reply, error) { return &test.reply, nil }
		c := clientOf(w, l, &patient)
		r := &model.Request{
			Choice: choice, Rules: rules, MaxTokens: 500,
			Call: annotator.Call{Purpose: annotator.PurposeAnnotate},
		}
		if _, err := c.Complete(t.Context(), r); err != nil {
			t.Fatal(err)
		}
		if got := c.Capabilities.Workarounds.Has(model.NoNamedTool); got != test.want {
			t.Errorf("%s: learned %v", name, got)
		}
	}
}

// TestSharedCacheIsOverload: a server without room for a prompt that fits its context is waited for. A prompt that does
// not fit, or of a server with an unknown context, is too long.
func TestSharedCacheIsOverload(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		context, status int
		want            annotator.CallDecision
	}{
		"fits":       {10_000, 500, annotator.DecisionWait},
		"in a reply": {10_000, 200, annotator.DecisionWait}, // as an event of the stream, in the middle of a reply
		"too long":   {4_000, 500, annotator.DecisionShrink},
		"not known":  {0, 500, annotator.DecisionShrink},
		"is refused": {10_000, 400, annotator.DecisionShrink},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				w, l := &wire{}, &ledger{t: t}
				w.complete = func(r *model.Request) (*model.Reply, error) {
					if len(w.asked) > 1 {
						return says("So it was."), nil
					}
					body := `{"error":{"code":500,"message":"Context size has been exceeded.","type":"server_error"}}`
					if test.status == 400 {
						body = `{"error":{"code":400,"message":"Context size has been exceeded.",` +
							`"type":"server_error"}}`
					}
					return nil, model.Classify(test.status, nil, []byte(body))
				}
				c := clientOf(w, l, &patient)
				c.Capabilities.Budget.Listed = test.context
				_, err := c.Complete(context.Background(),
					&model.Request{MaxTokens: 500, Call: annotator.Call{Estimate: 5_000}})
				if got := l.calls[0].Decision; got != test.want {
					t.Errorf("it is decided to %s", got)
				}
				if unanswered := (*model.Unanswered)(nil); (test.want == annotator.DecisionWait) != (err == nil) ||
					err != nil && !errors.As(err, &unanswered) {
					t.Error(err)
				}
			})
		})
	}
}
