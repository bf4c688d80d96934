package model_test

import (
	"context"
	"errors"
	"testing"

	"annotator"
	"annotator/model"
)

// counting is a wire whose server has counters of its cache.
type counting struct {
	wire
	counts model.CacheCounts
	err    error
	asked  int
}

func (c *counting) CacheCounts(context.Context) (model.CacheCounts, error) {
	c.asked++
	return c.counts, c.err
}

// TestCachedByTheServersCounts: cached tokens that a reply does not report are known if the server's counters have
// grown by its prompt alone. Otherwise they are unknown, which is not the same as 0.
func TestCachedByTheServersCounts(t *testing.T) {
	t.Parallel()
	w := &counting{counts: model.CacheCounts{Prompt: 5000, Cached: 100}}
	usage, others := annotator.Usage{}, 0
	w.complete = func(*model.Request) (*model.Reply, error) {
		reply := says("So it was.")
		reply.Usage = usage
		w.counts.Prompt += usage.Prompt + others
		w.counts.Cached += usage.Prompt * 9 / 10
		return reply, nil
	}
	c := clientOf(&w.wire, &ledger{t: t}, &patient)
	c.Wire = w
	ask := func(u annotator.Usage, otherPrompts int) annotator.Usage {
		t.Helper()
		usage, others = u, otherPrompts
		reply, err := c.Complete(t.Context(),
			&model.Request{MaxTokens: 64, Call: annotator.Call{Purpose: annotator.PurposeAnnotate}})
		if err != nil {
			t.Fatal(err)
		}
		reply.Call.Outcome = annotator.CallOK
		return reply.Call.Usage
	}
	untold := annotator.Usage{Prompt: 1000, Completion: 3, Exact: true}
	told := annotator.Usage{Prompt: 1000, Told: 1000, Cached: 900, Completion: 3, Exact: true}
	none := annotator.Usage{Prompt: 1000, Told: 1000, Completion: 3, Exact: true}
	for i, test := range []struct {
		sent   annotator.Usage
		others int
		want   annotator.Usage
	}{
		{untold, 0, untold}, // from where the counts rose is not known
		{untold, 0, told},
		{untold, 7, untold}, // somebody else asked, too
		{untold, 0, told},
		{none, 0, none}, // the reply reports that nothing was cached
	} {
		if got := ask(test.sent, test.others); got != test.want {
			t.Errorf("call %d: %+v, want %+v", i, got, test.want)
		}
	}
	w.err, w.asked = errors.New("404"), 0
	for range 2 {
		if got := ask(untold, 0); got != untold {
			t.Errorf("a server without counts: %+v", got)
		}
	}
	if w.asked != 1 {
		t.Errorf("a server without counts is asked %d times", w.asked)
	}
}
