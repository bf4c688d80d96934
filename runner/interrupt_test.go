package runner_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"testing"
	"time"

	"annotator"
	"annotator/internal/scripted"
)

// TestStopWhileListing: a stop does not sit out the listing of the scenes, and the next run lists them anew.
func TestStopWhileListing(t *testing.T) {
	t.Parallel()
	s := newStage(t, story{threads: 4, scenes: 50, blank: true}, scripted.Options{Strict: true})
	if err := s.run("calm"); err != nil {
		t.Fatal(err)
	}
	first := s.runner("stopped")
	first.Stop()
	if err := first.Run(context.Background()); !errors.Is(err, annotator.Interrupted) {
		t.Fatalf("a run that is stopped before it begins ends with %v", err)
	}
	if n := s.count("stopped", `SELECT count(*) FROM scene`); n != 0 {
		t.Errorf("%d scenes are listed nevertheless", n)
	}
	if err := first.Store.Close(); err != nil {
		t.Fatal(err)
	}
	stops := 0
	// however slow the machine, a dozen or two stops are enough
	for limit := 10 * time.Millisecond; ; limit += limit / 3 {
		r, end, err := prepare(s.job("stopped"), &s.bus, nil)
		if err != nil {
			t.Fatal(err)
		}
		later := time.AfterFunc(rand.N(limit), r.Stop)
		err = r.Run(context.Background())
		later.Stop()
		end()
		if err == nil {
			break
		}
		if stops++; !errors.Is(err, annotator.Interrupted) || stops > 500 {
			t.Fatalf("stop %d: %v", stops, err)
		}
	}
	if stops == 0 {
		t.Error("no run was stopped in time")
	}
	s.compareBut("stopped", dump(t, s.db("calm")), "run_state ")
}
