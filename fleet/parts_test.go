package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"annotator/fleet/store"
)

// TestKilledParts has two workers read the parts of a story and join them. They are killed, stopped and drained while
// they read parts. The codex is that of a run in parts on one machine.
func TestKilledParts(t *testing.T) {
	disturbParts(t, 60, 2, func(_ context.Context, _ *store.Store, _ string, random *rand.Rand) <-chan time.Time {
		return time.After(time.Duration(1000+random.IntN(3000)) * time.Millisecond)
	})
}

// TestKilledJoin has a worker read the parts of a story. It is killed, stopped and drained when it has begun to join
// them. The join is taken again, and the codex is that of a run in parts on one machine.
func TestKilledJoin(t *testing.T) {
	s := disturbParts(t, 20, 1, atJoin)
	if m, _, err := s.Read(t.Context(), "tale.txt"); err != nil || m.Fence < 2 {
		t.Errorf("the join was taken %d times: %v", m.Fence, err)
	}
}

// disturbParts has workers read a story of some scenes in three parts, and disturbs each of them at five moments.
func disturbParts(t *testing.T, scenes, workers int,
	moment func(ctx context.Context, s *store.Store, worker string, random *rand.Rand) <-chan time.Time,
) *store.Store {
	serve(t)
	source := story(t, "tale.txt", scenes)
	want := undisturbed(t, source, "--parts", "3")
	if out, status := fleet(t, "store", "add", "--parts", "3", source); status != exitDone {
		t.Fatal(out)
	}
	s, err := store.Open(t.Context(), "s3://fleet/test", ttl)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
	defer cancel()
	folder, ended := t.TempDir(), make(chan error, workers)
	for i := range workers {
		name := fmt.Sprintf("worker%d", i)
		random := rand.New(rand.NewPCG(uint64(i), 3))
		moment := func() <-chan time.Time { return moment(ctx, s, name, random) }
		start := func() *exec.Cmd { return workerCommand(filepath.Join(folder, name)) }
		go func() { ended <- manage(ctx, start, 5, moment) }()
	}
	for range workers {
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}
	db := filepath.Join(t.TempDir(), "tale.annotator.db")
	if out, status := fleet(t, "store", "get", "tale.txt", db); status != exitDone {
		t.Fatal(out)
	}
	if got := export(t, db); got != want {
		t.Errorf("the codex has %d bytes, and that of a run on one machine %d", len(got), len(want))
	}
	out, err := exec.Command(filepath.Join(programs, "annotator"), "verify", "--db", db).CombinedOutput()
	if err != nil || strings.Contains(string(out), "not at") {
		t.Errorf("verify: %v: %s", err, out)
	}
	list, _ := fleet(t, "store", "list", "--json")
	t.Log(list)
	if strings.Count(list, `"state":"done"`) != 4 {
		t.Error("not all is done")
	}
	return s
}

// TestPartsAreTaken has a worker take parts until all are read or one has failed, and then the join.
func TestPartsAreTaken(t *testing.T) {
	serve(t)
	s, err := store.Open(t.Context(), "s3://fleet/test", ttl)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(s.Add(t.Context(), "a", nil), s.Cut(t.Context(), "a", 3)); err != nil {
		t.Fatal(err)
	}
	one, two := &worker{store: s, name: "one"}, &worker{store: s, name: "two"}
	_, held, _, err := two.take(t.Context(), "a")
	if err != nil {
		t.Fatal(err)
	}
	var taken []string
	work := func(ctx context.Context, name string, lease *store.Lease, _ *store.Manifest) error {
		taken = append(taken, name)
		if len(taken) == 1 {
			return lease.Fail(ctx, "no chapters")
		}
		if len(taken) == 2 { // until then, one is left that is held
			if _, _, _, err := one.take(ctx, "a"); !errors.Is(err, store.ErrHeld) {
				t.Errorf("while a part is held: %v", err)
			}
			return errors.Join(held.Finish(ctx, 0), lease.Finish(ctx, 0))
		}
		return lease.Finish(ctx, 0)
	}
	if err := one.claim(t.Context(), -1, work); !errors.Is(err, errFailed) {
		t.Errorf("with a part that has failed, a worker ends with %v", err)
	}
	if err := s.Release(t.Context(), "a/part2of3"); err != nil {
		t.Fatal(err)
	}
	if err := one.claim(t.Context(), 0, work); err != nil {
		t.Error(err)
	}
	if want := []string{"a/part2of3", "a/part3of3", "a/part2of3", "a"}; !slices.Equal(taken, want) {
		t.Errorf("taken are %q, not %q", taken, want)
	}
}

// atJoin gives the moment at which a worker has taken the join.
func atJoin(ctx context.Context, s *store.Store, worker string, _ *rand.Rand) <-chan time.Time {
	moment := make(chan time.Time, 1)
	first, _, _ := s.Read(ctx, "tale.txt")
	go func() {
		for ctx.Err() == nil {
			m, _, err := s.Read(ctx, "tale.txt")
			if err == nil && m.State == store.Held && m.Owner == worker && m.Fence > first.Fence {
				moment <- time.Now()
				return
			}
			time.Sleep(20 * time.Millisecond)
		}
	}()
	return moment
}
