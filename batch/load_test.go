package batch_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"annotator/batch"
	"annotator/model"
)

// TestRoom: the places of a server are those that its cache has room for, else its slots, else the setting.
func TestRoom(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		load       model.Load
		err        error
		most, want int
	}{
		"pool":                {load: model.Load{PoolTokens: 100_000}, want: 8}, // 0.85 * 100,000 / 10,000
		"a small pool":        {load: model.Load{PoolTokens: 5_000}, want: 1},
		"pool and limit":      {load: model.Load{PoolTokens: 100_000}, most: 3, want: 3},
		"slots":               {load: model.Load{Slots: 6}, want: 6},
		"slots below pool":    {load: model.Load{Slots: 6, PoolTokens: 100_000}, want: 6},
		"slots and limit":     {load: model.Load{Slots: 6}, most: 9, want: 6},
		"nothing":             {want: 4},
		"nothing and a limit": {most: 7, want: 7},
		"no answer":           {err: context.DeadlineExceeded, want: 4},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := follow(t, batch.Watch{Most: c.most, Unknown: 4, Context: 10_000}, c.load, c.err)
			f.await(c.want)
		})
	}
}

// followed is Admission that follows a server which the test plays. As many stories as possible are in it.
type followed struct {
	*testing.T
	mu   sync.Mutex
	load model.Load
	held map[int]*batch.Place
}

func follow(t *testing.T, w batch.Watch, load model.Load, err error) *followed {
	f := &followed{T: t, load: load, held: map[int]*batch.Place{}}
	a := batch.NewAdmission(1, "one")
	w.Every = time.Millisecond
	w.Servers = []func(context.Context) (model.Load, error){func(context.Context) (model.Load, error) {
		f.mu.Lock()
		defer f.mu.Unlock()
		return f.load, err
	}}
	ctx, end := context.WithCancel(t.Context())
	t.Cleanup(end)
	go a.Follow(ctx, &w)
	for i := range 20 {
		go func() {
			for p := a.Queue(i, "key"); ; {
				if p.Enter(ctx) != nil {
					return
				}
				f.hold(i, p)
				for ctx.Err() == nil {
					time.Sleep(time.Millisecond)
					f.hold(i, nil)
					if p.Turn(ctx) != nil {
						return
					}
					f.hold(i, p)
				}
			}
		}()
	}
	return f
}

func (f *followed) hold(i int, p *batch.Place) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.held[i] = p; p == nil {
		delete(f.held, i)
	}
}

// await waits until a number of stories have read for a while, or fails.
func (f *followed) await(want int) {
	f.Helper()
	last := 0
	for range 600 {
		seen := map[int]bool{}
		for range 15 {
			time.Sleep(2 * time.Millisecond)
			f.mu.Lock()
			for i := range f.held {
				seen[i] = true
			}
			f.mu.Unlock()
		}
		if last = len(seen); last == want {
			return
		}
	}
	f.Errorf("%d stories read at once, not %d", last, want)
}

// TestPlacesFollowTrouble: a place is taken away while requests wait, and given back when none do.
func TestPlacesFollowTrouble(t *testing.T) {
	t.Parallel()
	f := follow(t, batch.Watch{Context: 10_000}, model.Load{PoolTokens: 100_000}, nil)
	f.await(8)
	f.set(model.Load{PoolTokens: 100_000, Waiting: 3})
	f.await(1)
	f.set(model.Load{PoolTokens: 100_000})
	f.await(8)
}

func (f *followed) set(load model.Load) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.load = load
}
