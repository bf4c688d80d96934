package model_test

import (
	"context"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"annotator"
	"annotator/model"
)

// restarted is a server that is down until one time, and refuses requests until another.
type restarted struct {
	wire
	began          time.Time
	listens, ready time.Duration // after it began
	fault          model.Fault   // before it is ready
	tellsHealth    bool
	looks          int // how often it was asked for its health or its models
}

func (w *restarted) is(up time.Duration) bool { return time.Since(w.began) >= up }

func (w *restarted) Complete(context.Context, *model.Request) (*model.Reply, error) {
	switch {
	case !w.is(w.listens):
		return nil, &model.Fault{Kind: annotator.Unreachable, Message: "nobody is there"}
	case !w.is(w.ready):
		return nil, &w.fault
	}
	return says("yes"), nil
}

func (w *restarted) Models(context.Context) ([]model.Model, error) {
	w.looks++
	if !w.is(w.listens) {
		return nil, &model.Fault{Kind: annotator.Unreachable, Message: "nobody is there"}
	}
	return nil, nil
}

func (w *restarted) Health(context.Context) error {
	w.looks++
	switch {
	case !w.is(w.listens):
		return &model.Fault{Kind: annotator.Unreachable}
	case !w.tellsHealth:
		return &model.Fault{Kind: annotator.Misconfigured, Status: http.StatusNotFound}
	case !w.is(w.ready):
		return &model.Fault{Kind: annotator.Overloaded, Status: http.StatusServiceUnavailable}
	}
	return nil
}

// TestWaitEndsWhenTheServerIsBack: a wait ends within seconds after the health check or the list of models succeeds. It
// does not end before the server's own delay, or because of an answer that succeeds all along.
func TestWaitEndsWhenTheServerIsBack(t *testing.T) {
	t.Parallel()
	loading := model.Fault{Kind: annotator.Overloaded, Status: http.StatusServiceUnavailable, Message: "Loading model"}
	for name, test := range map[string]struct {
		server      restarted
		least, most time.Duration
		looks       int // at most
	}{
		"gone":                   {restarted{listens: 10 * time.Minute}, 0, 5 * time.Second, 700},
		"gone, and knows health": {restarted{listens: 10 * time.Minute, tellsHealth: true}, 0, 5 * time.Second, 700},
		"loading, knows health": {
			restarted{ready: 10 * time.Minute, fault: loading, tellsHealth: true},
			0,
			5 * time.Second, 700,
		},
		"gone, then loading": {restarted{
			listens: 5 * time.Minute, ready: 10 * time.Minute, fault: loading,
			tellsHealth: true,
		}, 0, 5 * time.Second, 700},
		"loading, lists its model": {
			restarted{ready: 10*time.Minute + time.Second, fault: loading},
			5 * time.Second,
			time.Minute, 400,
		},
		"wants to be left alone": {restarted{ready: 10*time.Minute + time.Second, tellsHealth: true, fault: model.Fault{
			Kind: annotator.Overloaded, Status: http.StatusServiceUnavailable, RetryAfter: 50 * time.Second,
		}}, 5 * time.Second, time.Minute, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				w := &test.server
				w.began = time.Now()
				c := clientOf(&w.wire, &ledger{t: t}, &patient)
				c.Wire = w
				x := c.Begin(&model.Request{})
				for reply, err := x.Try(t.Context()); reply == nil; reply, err = x.Try(t.Context()) {
					if err == nil {
						err = x.Wait(t.Context())
					}
					if err != nil {
						t.Fatal(err)
					}
				}
				late := time.Since(w.began) - max(w.listens, w.ready)
				if late < test.least || late > test.most || w.looks > test.looks {
					t.Errorf("it is answered %s after the server is back, and was asked %d times", late, w.looks)
				}
			})
		})
	}
}

// TestWatchedWaitIsInterrupted: an interrupt ends a wait at once, while a health check hangs.
func TestWatchedWaitIsInterrupted(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := &restarted{began: time.Now(), listens: time.Hour}
		c := clientOf(&w.wire, &ledger{t: t}, &patient)
		c.Wire = hanging{w}
		interrupt := make(chan struct{})
		c.Interrupt = interrupt
		time.AfterFunc(100*time.Second+time.Millisecond, func() { close(interrupt) })
		if _, err := c.Complete(t.Context(), &model.Request{}); annotator.KindOf(err) != annotator.Interrupted {
			t.Error(err)
		}
		if waited := time.Since(w.began); waited > 101*time.Second {
			t.Errorf("it took %s", waited)
		}
	})
}

// hanging is a server that never answers health checks.
type hanging struct{ *restarted }

func (hanging) Health(ctx context.Context) error {
	<-ctx.Done()
	return &model.Fault{Kind: annotator.Transient, Err: ctx.Err()}
}
