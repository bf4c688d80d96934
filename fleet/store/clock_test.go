package store_test

import (
	"context"
	"encoding/json"
	"errors"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"annotator/fleet/store"
)

// skewed is the store as it looks to a process whose wall clock is ahead. Times that it reads are behind by as much.
type skewed struct {
	*link
	ahead time.Duration
}

func (s *skewed) Put(ctx context.Context, key string, data []byte, condition string) (string, error) {
	if err := s.travel(ctx); err != nil {
		return "", err
	}
	return s.put(key, s.shift(key, data, s.ahead), condition)
}

func (s *skewed) Get(ctx context.Context, key string) ([]byte, string, error) {
	data, tag, err := s.link.Get(ctx, key)
	return s.shift(key, data, -s.ahead), tag, err
}

func (s *skewed) List(ctx context.Context, prefix string) ([]store.Object, error) {
	all, err := s.link.List(ctx, prefix)
	for i := range all {
		all[i].Changed = all[i].Changed.Add(-s.ahead)
	}
	return all, err
}

// shift changes the only time in a manifest.
func (s *skewed) shift(key string, data []byte, by time.Duration) []byte {
	if data == nil || !strings.HasSuffix(key, ".json") {
		return data
	}
	var m store.Manifest
	err := json.Unmarshal(data, &m)
	if err == nil {
		m.Expires = m.Expires.Add(by)
		data, err = json.Marshal(m)
	}
	if err != nil {
		s.t.Error(err)
	}
	return data
}

// TestClocksApart has two observers of a lease, whose clocks are 48 hours apart. None takes it while it is renewed.
// When its holder is dead, one takes it after one TTL.
func TestClocksApart(t *testing.T) {
	for name, holder := range map[string]time.Duration{"ahead": 24 * time.Hour, "behind": -24 * time.Hour} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { observe(t, holder) })
		})
	}
}

func observe(t *testing.T, holder time.Duration) {
	w := &world{
		t: t, Mutex: new(sync.Mutex), random: rand.New(rand.NewPCG(1, 1)), objects: map[string]stored{}, calm: true,
	}
	process := func(ctx context.Context, ahead time.Duration) *store.Store {
		return store.New(&skewed{&link{world: w, dead: ctx}, ahead}, "x", ttl)
	}
	alive, kill := context.WithCancel(t.Context())
	if _, _, err := process(alive, holder).Acquire(alive, "story", "holder"); err != nil {
		t.Fatal(err)
	}
	const look = 5 * time.Second
	observers := []*store.Store{process(t.Context(), -24*time.Hour), process(t.Context(), 24*time.Hour)}
	take := func() (leases []*store.Lease) {
		for _, o := range observers {
			lease, _, err := o.Acquire(t.Context(), "story", "observer")
			if err == nil {
				leases = append(leases, lease)
			} else if !errors.Is(err, store.ErrHeld) {
				t.Fatal(err)
			}
		}
		time.Sleep(look)
		return leases
	}
	for began := time.Now(); time.Since(began) < time.Hour; {
		if len(take()) > 0 {
			t.Fatalf("a lease that is renewed is taken after %s", time.Since(began))
		}
	}
	kill()
	renewed := w.objects["x/manifests/story.json"].at
	taken := take()
	for len(taken) == 0 && time.Since(renewed) < 2*ttl {
		taken = take()
	}
	if since := time.Since(renewed); len(taken) != 1 || since < ttl || since > ttl+3*look {
		t.Fatalf("%d observers have the lease of a dead holder, %s after its last renewal", len(taken), since)
	}
	if err := taken[0].Release(t.Context()); err != nil {
		t.Fatal(err)
	}
}
