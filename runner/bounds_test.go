package runner_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"annotator"
	"annotator/internal/longtest"
	"annotator/internal/scripted"
	"annotator/runner"
)

// TestBoundsEndARun: a run begins no scene once a bound is reached, and sends nothing when it is started with it
// again. When it goes on without, it has the rows of an unbounded run.
func TestBoundsEndARun(t *testing.T) {
	t.Parallel()
	s := newStage(t, story{threads: 3, scenes: 3}, scripted.Options{Strict: true})
	if err := s.run("calm"); err != nil {
		t.Fatal(err)
	}
	calm, total := dump(t, s.db("calm")), s.state("calm").Usage
	price := runner.Price{In: 3, Cached: 0.5, Out: 15}
	for n := range longtest.Pick(4, 12) {
		share := 0.8 * rand.Float64()
		bounds := runner.Bounds{Tokens: 1 + int(share*float64(total.Prompt+total.Completion))}
		if n%2 == 1 {
			bounds = runner.Bounds{Cost: share * price.Of(total), Price: price}
		}
		name := fmt.Sprintf("bounded-%d", n)
		s.endsAtBound(name, bounds)
		s.config.Bounds = runner.Bounds{}
		if err := s.run(name); err != nil {
			t.Fatal(err)
		}
		s.compare(name, calm)
	}
}

// endsAtBound runs the story twice with a bound, and demands that no scene was begun beyond it.
func (s *stage) endsAtBound(name string, bounds runner.Bounds) {
	s.t.Helper()
	s.config.Bounds = bounds
	for range 2 {
		err := s.run(name)
		run := s.state(name)
		switch reached := bounds.Reached(run.Usage, time.Time{}) != nil; {
		case err == nil && run.Recorded == run.Corpus.Scenes: // the last scene may reach it
		case !errors.Is(err, annotator.Bounded):
			s.t.Fatalf("with %+v the run ends with %v", bounds, err)
		case !reached:
			s.t.Fatalf("it ends at %+v, before its bound %+v", run.Usage, bounds)
		}
		if before := s.usedBeforeLastScene(name); bounds.Reached(before, time.Time{}) != nil {
			s.t.Fatalf("a scene was begun at %+v, beyond the bound %+v", before, bounds)
		}
	}
}

// usedBeforeLastScene adds up the calls before the newest scene.
func (s *stage) usedBeforeLastScene(name string) annotator.Usage {
	sum := func(column string) int {
		return s.count(name, `SELECT coalesce(sum(`+column+`), 0) FROM call WHERE id < (SELECT min(id) FROM call
			WHERE scene = (SELECT scene FROM call ORDER BY id DESC LIMIT 1))`)
	}
	return annotator.Usage{
		Prompt: sum("prompt_tokens"), Cached: sum("cached_tokens"), Completion: sum("completion_tokens"),
	}
}

// TestBoundedRunIsKilled: a run with a bound that is killed stops at the same scene, and goes on as an undisturbed one.
func TestBoundedRunIsKilled(t *testing.T) {
	t.Parallel()
	s := newStage(t, story{threads: 2, scenes: 3}, scripted.Options{Strict: true})
	if err := s.run("calm"); err != nil {
		t.Fatal(err)
	}
	calm, total := dump(t, s.db("calm")), s.state("calm").Usage
	bounds := runner.Bounds{Tokens: (total.Prompt + total.Completion) / 2}
	s.config.Bounds = bounds
	s.spawn("stopped", 0, never, 0)
	stopped := dump(t, s.db("stopped"))
	for _, n := range killsOf(s.lines, longtest.Pick(7, 1)) {
		name := fmt.Sprintf("killed-%d", n)
		s.config.Bounds = bounds
		s.spawn(name, n, func(told int) bool { return told == n }, 0)
		s.spawn(name, 0, never, 0)
		s.compareBut(name, stopped, "run_state ") // its state is where the newest process wrote
		s.config.Bounds = runner.Bounds{}
		s.spawn(name, 0, never, 0)
		s.compare(name, calm)
	}
}

// TestUntil: a run begins no scene after its time, and sends nothing when it is started later.
func TestUntil(t *testing.T) {
	t.Parallel()
	s := crashStage(t)
	began := time.Date(2020, 1, 1, 22, 0, 0, 0, time.UTC)
	s.config.Bounds.Until = began.Add(3*time.Hour + time.Minute)
	now := began
	s.bus.Subscribe(func(n annotator.Notice) {
		if n.Kind == annotator.NoticeScene {
			now = now.Add(time.Hour)
		}
	})
	for range 2 {
		r := s.runner("timed")
		r.Client.Now = func() time.Time { return now }
		err := r.Run(context.Background())
		if !errors.Is(err, annotator.Bounded) || !strings.Contains(err.Error(), "after scene 4 of 20") {
			t.Errorf("the run ends with %v", err)
		}
		if err := r.Store.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if now != began.Add(4*time.Hour) {
		t.Errorf("it has read until %s", now)
	}
}

// TestUntilWhileWaiting: the time of a run also ends its wait for a server.
func TestUntilWhileWaiting(t *testing.T) {
	t.Parallel()
	s := newStage(t, story{threads: 1, scenes: 1}, scripted.Options{Fault: func(int, scripted.Request) *scripted.Fault {
		return &scripted.Fault{
			Status: 503, Header: map[string][]string{"Retry-After": {"300"}},
			Body: `{"error":{"message":"Loading model"}}`,
		}
	}})
	s.config.Bounds.Until = time.Now().Add(time.Second)
	began := time.Now()
	err := s.run("waiting")
	if kind := annotator.KindOf(err); kind != annotator.Interrupted && kind != annotator.Bounded {
		t.Errorf("the run ends with %v", err)
	}
	if took := time.Since(began); took > time.Minute {
		t.Errorf("it waited %s", took)
	}
}

// TestLedger: runs that have a bound together count as one.
func TestLedger(t *testing.T) {
	t.Parallel()
	var ledger runner.Ledger
	ledger.Note("one", annotator.Usage{Prompt: 10, Completion: 1})
	ledger.Note("two", annotator.Usage{Prompt: 20, Completion: 2})
	ledger.Note("one", annotator.Usage{Prompt: 30, Completion: 3})
	if sum := ledger.Sum(); sum.Prompt != 50 || sum.Completion != 5 {
		t.Errorf("the sum is %+v", sum)
	}
}
