package store_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"annotator/fleet/store"

	"github.com/klauspost/compress/zstd"
)

const ttl = 90 * time.Second

// world is a simulated store with a clock of its own. It checks each manifest that is written.
type world struct {
	t *testing.T
	*sync.Mutex
	random  *rand.Rand
	objects map[string]stored
	writes  int
	trusts  map[string]func() bool // by token of an acquisition: its worker could go on now
	calm    bool                   // no more faults
}

type stored struct {
	data []byte
	tag  string
	at   time.Time
}

func (w *world) chance(percent int) bool { return !w.calm && w.random.IntN(100) < percent }

func (w *world) delay(most time.Duration) time.Duration {
	w.Lock()
	defer w.Unlock()
	return time.Duration(w.random.Int64N(int64(most)))
}

// put applies a write at this moment.
func (w *world) put(key string, data []byte, condition string) (string, error) {
	w.Lock()
	defer w.Unlock()
	old, exists := w.objects[key]
	switch {
	case condition == store.Absent && exists, len(condition) > 1 && old.tag != condition:
		return "", store.ErrChanged
	case w.chance(2):
		return "", store.ErrConflict
	}
	w.writes++
	if strings.HasSuffix(key, ".json") {
		w.check(old.data, data)
	}
	sum := sha256.Sum256(data) // as S3 has it: the same data has the same tag
	w.objects[key] = stored{data, hex.EncodeToString(sum[:]), time.Now()}
	return w.objects[key].tag, nil
}

// check compares a manifest with the one that it replaces.
func (w *world) check(old, now []byte) {
	var before, after store.Manifest
	if old != nil {
		if err := json.Unmarshal(old, &before); err != nil {
			w.t.Fatal(err)
		}
	}
	if err := json.Unmarshal(now, &after); err != nil {
		w.t.Fatal(err)
	}
	if after.Version != before.Version+1 || after.Fence < before.Fence || after.Scene < before.Scene {
		w.t.Errorf("%+v is followed by %+v", before, after)
	}
	if trusts := w.trusts[before.Token]; after.Token != before.Token && trusts != nil && trusts() {
		w.t.Errorf("%s takes a story from %s, who trusts the lease", after.Owner, before.Owner)
	}
	fence := before.Fence
	if after.Token != before.Token {
		fence++
	}
	if after.Fence != fence {
		w.t.Errorf("fence %d is followed by %d", before.Fence, after.Fence)
	}
	if after.Copy == before.Copy {
		return
	}
	if !strings.Contains(after.Copy, fmt.Sprintf("/fence-%06d/", after.Fence)) {
		w.t.Errorf("fence %d names %s", after.Fence, after.Copy)
	}
	if text := w.read(after.Copy); !bytes.HasPrefix(text, w.read(before.Copy)) || len(text) != after.Scene {
		w.t.Errorf("scene %d: %q does not go on from %q", after.Scene, text, w.read(before.Copy))
	}
}

// read returns the content of a copy.
func (w *world) read(key string) []byte {
	if key == "" {
		return nil
	}
	reader, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1))
	if err != nil {
		w.t.Fatal(err)
	}
	defer reader.Close()
	data, err := reader.DecodeAll(w.objects[key].data, nil)
	if err != nil || w.objects[key].data == nil {
		w.t.Errorf("%s is named, and cannot be read: %v", key, err)
	}
	return data
}

// link is how one worker reaches the store. Requests are late, lost, sent twice, and arrive after their sender's death.
type link struct {
	*world
	dead    context.Context
	resumes time.Time // a stopped process sends nothing until then
}

var errNoAnswer = errors.New("no answer")

// travel is the way of a request. An error says that its sender no longer waits.
func (l *link) travel(ctx context.Context) error {
	l.Lock()
	if l.chance(1) {
		l.resumes = time.Now().Add(time.Duration(l.random.Int64N(int64(4 * ttl))))
	}
	stopped, late := time.Until(l.resumes), l.chance(5)
	l.Unlock()
	time.Sleep(max(0, stopped))
	wait := l.delay(300 * time.Millisecond)
	if late {
		wait = l.delay(ttl)
	}
	select {
	case <-time.After(wait):
		return nil
	case <-ctx.Done():
	case <-l.dead.Done():
	}
	return errNoAnswer
}

func (l *link) Put(ctx context.Context, key string, data []byte, condition string) (string, error) {
	l.Lock()
	lost, twice, unheard := l.chance(4), l.chance(4), l.chance(4)
	l.Unlock()
	err := l.travel(ctx)
	if twice || err != nil && !lost {
		go func() { // it arrives though nobody waits for it
			time.Sleep(l.delay(2 * ttl))
			_, _ = l.put(key, data, condition)
		}()
	}
	if err != nil || lost {
		return "", errNoAnswer
	}
	tag, err := l.put(key, data, condition)
	if failed := l.travel(ctx); failed != nil || unheard {
		return "", errNoAnswer
	}
	return tag, err
}

func (l *link) Get(ctx context.Context, key string) ([]byte, string, error) {
	if err := l.travel(ctx); err != nil {
		return nil, "", err
	}
	l.Lock()
	defer l.Unlock()
	object, exists := l.objects[key]
	if ctx.Err() != nil || l.chance(3) {
		return nil, "", errNoAnswer
	}
	if !exists {
		return nil, "", store.ErrMissing
	}
	return object.data, object.tag, nil
}

func (l *link) List(ctx context.Context, prefix string) (all []store.Object, err error) {
	if err := l.travel(ctx); err != nil {
		return nil, err
	}
	l.Lock()
	defer l.Unlock()
	for key, o := range l.objects {
		if strings.HasPrefix(key, prefix) {
			all = append(all, store.Object{Key: key, Size: int64(len(o.data)), Changed: o.at})
		}
	}
	return all, nil
}

func (l *link) Delete(ctx context.Context, key string) error {
	if err := l.travel(ctx); err != nil {
		return err
	}
	l.Lock()
	defer l.Unlock()
	delete(l.objects, key)
	return nil
}

const scenes = 60

// work is a worker until its death, or until the story is finished. Each scene adds a letter, which says who read it.
func (l *link) work(name byte) (finished bool) {
	s := store.New(l, "x", ttl)
	for l.dead.Err() == nil {
		lease, _, err := s.Acquire(l.dead, "story", string(name))
		if errors.Is(err, store.ErrFinished) {
			return true
		}
		if err != nil {
			time.Sleep(ttl / 5)
			continue
		}
		token := lease.Manifest().Token
		l.Lock()
		l.trusts[token] = func() bool {
			return lease.Context().Err() == nil && l.dead.Err() == nil && time.Now().After(l.resumes)
		}
		l.Unlock()
		l.use(s, lease, name)
	}
	return false
}

func (l *link) use(s *store.Store, lease *store.Lease, name byte) {
	m := lease.Manifest()
	text, err := s.Database(l.dead, &m)
	for err == nil && len(text) < scenes && lease.Context().Err() == nil {
		time.Sleep(l.delay(40 * time.Second))
		text = append(text, name)
		if l.delay(100) < 40 {
			err = lease.Commit(l.dead, text, len(text), scenes)
		}
	}
	switch {
	case err == nil && len(text) == scenes:
		if lease.Commit(l.dead, text, scenes, scenes) == nil {
			_ = lease.Finish(l.dead, 0)
		}
	case l.delay(2) == 0:
		_ = lease.Release(l.dead)
	default:
		<-lease.Context().Done() // it has lost it, or it waits until it does
	}
}

// TestWorkersNeverMeet runs workers that are killed, stopped and cut off, on one story. World.check has what must hold.
func TestWorkersNeverMeet(t *testing.T) {
	cases := 40
	if os.Getenv("ANNOTATOR_LONG") == "1" {
		cases = 150
	}
	for seed := range cases {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { meet(t, uint64(seed)) })
		})
	}
}

func meet(t *testing.T, seed uint64) {
	w := &world{
		t: t, Mutex: new(sync.Mutex), random: rand.New(rand.NewPCG(seed, 1)),
		objects: map[string]stored{}, trusts: map[string]func() bool{},
	}
	var workers sync.WaitGroup
	var finished bool
	for i := range 3 {
		workers.Go(func() {
			for life := 0; ; life++ {
				ctx, kill := context.WithCancel(context.Background())
				if life < 6 {
					time.AfterFunc(w.delay(20*time.Minute), kill)
				}
				l := &link{world: w, dead: ctx}
				ended := l.work(byte('a' + i))
				kill()
				if ended {
					w.Lock()
					finished = true
					w.Unlock()
					return
				}
			}
		})
	}
	go func() { // at last everything works, else a story may be given up for its misfortunes only
		time.Sleep(12 * time.Hour)
		w.Lock()
		w.calm = true
		w.Unlock()
	}()
	workers.Wait()
	time.Sleep(24 * time.Hour) // what is under way arrives
	var m store.Manifest
	if err := json.Unmarshal(w.objects["x/manifests/story.json"].data, &m); err != nil || !finished {
		t.Fatal(err)
	}
	switch {
	case m.State == store.Done && len(w.read(m.Copy)) == scenes && w.writes > scenes/10:
	case m.State == store.Failed && len(m.Abandoned) == 5:
	default:
		t.Errorf("at the end the manifest is %+v", m)
	}
}
