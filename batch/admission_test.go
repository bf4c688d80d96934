package batch_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"annotator"
	"annotator/batch"
)

// TestPlaces: no more stories than places read at once, each ends, and the first are admitted first.
func TestPlaces(t *testing.T) {
	t.Parallel()
	a := batch.NewAdmission(3, "one")
	var reading, most, begun atomic.Int32
	var places []*batch.Place
	for i := range 20 {
		places = append(places, a.Queue(i, fmt.Sprint(i)))
	}
	errs := batch.Run(20, func(i int) error {
		place := places[i]
		if err := place.Enter(t.Context()); err != nil {
			return err
		}
		defer place.Leave()
		begun.Add(1)
		for range 3 {
			if err := place.Turn(t.Context()); err != nil {
				return err
			}
			n := reading.Add(1)
			for m := most.Load(); n > m && !most.CompareAndSwap(m, n); m = most.Load() {
			}
			time.Sleep(time.Millisecond)
			reading.Add(-1)
		}
		return nil
	})
	if err := errors.Join(errs...); err != nil || most.Load() != 3 || begun.Load() != 20 {
		t.Errorf("%d stories read at once, %d began: %v", most.Load(), begun.Load(), err)
	}
}

// TestFewerPlaces: the last story waits before its next scene, and goes on at the same server when there is a place.
func TestFewerPlaces(t *testing.T) {
	t.Parallel()
	a := batch.NewAdmission(2, "one")
	first, last := enter(t, a, 0), enter(t, a, 1)
	a.Limit(0, 1)
	if err := first.Turn(t.Context()); err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() { done <- last.Turn(t.Context()) }()
	select {
	case <-done:
		t.Fatal("the last story went on")
	case <-time.After(20 * time.Millisecond):
	}
	first.Leave()
	if err := <-done; err != nil || last.Server() != 0 {
		t.Error(err, last.Server())
	}
}

func enter(t *testing.T, a *batch.Admission, number int) *batch.Place {
	t.Helper()
	p := a.Queue(number, fmt.Sprint("story ", number))
	if err := p.Enter(t.Context()); err != nil {
		t.Fatal(err)
	}
	return p
}

// TestStopEndsWaiting: what waits to begin does not, what waits between scenes goes on to its end.
func TestStopEndsWaiting(t *testing.T) {
	t.Parallel()
	a := batch.NewAdmission(2, "one")
	enter(t, a, 0)
	second := enter(t, a, 1)
	a.Limit(0, 1)
	turn, begin := make(chan error, 1), make(chan error, 1)
	go func() { turn <- second.Turn(t.Context()) }()
	go func() { begin <- a.Queue(2, "third").Enter(t.Context()) }()
	a.Stop()
	if err := <-turn; err != nil {
		t.Error(err)
	}
	if err := <-begin; annotator.KindOf(err) != annotator.Interrupted {
		t.Error(err)
	}
}

// TestCancelled: a cancelled story leaves no place behind.
func TestCancelled(t *testing.T) {
	t.Parallel()
	a := batch.NewAdmission(1, "one")
	first := enter(t, a, 0)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := a.Queue(1, "second").Enter(ctx); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	first.Leave()
	enter(t, a, 2)
}

// TestServers: stories are spread, are at the same server in each run, and a further server takes only its own share.
func TestServers(t *testing.T) {
	t.Parallel()
	at := func(names ...string) (servers []string) {
		a := batch.NewAdmission(100, names...)
		for i := range 60 {
			servers = append(servers, names[enter(t, a, i).Server()])
		}
		return servers
	}
	two, again, three := at("a", "b"), at("b", "a"), at("a", "b", "c")
	if !slices.Equal(two, again) {
		t.Error("the order of the servers matters")
	}
	counts := map[string]int{}
	for i := range three {
		counts[three[i]]++
		if three[i] != "c" && three[i] != two[i] {
			t.Errorf("story %d moved from %s to %s", i, two[i], three[i])
		}
	}
	for name, n := range counts {
		if n < 8 || n > 35 {
			t.Errorf("%d of 60 stories are at %s", n, name)
		}
	}
}

// TestFullServer: a story that has not begun goes to a server with a free place.
func TestFullServer(t *testing.T) {
	t.Parallel()
	a := batch.NewAdmission(4, "a", "b")
	counts := [2]int{}
	for i := range 8 {
		counts[enter(t, a, i).Server()]++
	}
	if counts != [2]int{4, 4} {
		t.Error(counts)
	}
}

// TestMoves: a story moves after the second failure in a row, not after two apart, and not back.
func TestMoves(t *testing.T) {
	t.Parallel()
	a := batch.NewAdmission(4, "a", "b")
	p := enter(t, a, 0)
	from := p.Server()
	var moves []bool
	for _, ok := range []bool{false, true, false, false, true, false} {
		moves = append(moves, p.Answered(ok))
	}
	if want := []bool{false, false, false, true, false, false}; !slices.Equal(moves, want) || p.Server() == from {
		t.Errorf("it moved %v, from server %d to %d", moves, from, p.Server())
	}
	for i := 1; i < 5; i++ { // the server that failed is avoided while the other has places
		if at := enter(t, a, i).Server(); i < 4 && at == from || i == 4 && at != from {
			t.Errorf("story %d began at server %d", i, at)
		}
	}
	if p.Answered(false); p.Server() == from {
		t.Error("it moved back to the server that fails")
	}
}

// TestPanics: a panic in one story is its own error.
func TestPanics(t *testing.T) {
	t.Parallel()
	errs := batch.Run(3, func(i int) error {
		if i == 1 {
			panic("no")
		}
		return nil
	})
	if errs[0] != nil || errs[2] != nil || errs[1] == nil || !strings.Contains(errs[1].Error(), "no") {
		t.Error(errs)
	}
}
