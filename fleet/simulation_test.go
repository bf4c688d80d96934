package main

import (
	"context"
	"errors"
	"fmt"
	"hash/crc32"
	"os"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"annotator/fleet/store"
)

const (
	latency  = 50 * time.Millisecond // of a request
	perScene = time.Minute
)

var errDead = errors.New("the server is lost")

// cloud is a store in memory, which many servers use. Time is that of a synctest bubble.
type cloud struct {
	sync.Mutex
	began   time.Time
	sources []store.Object
	folders map[string]map[string]object
	seconds map[int]int // requests in each second
	kinds   map[string]int
}

type object struct {
	data []byte
	tag  string
	at   time.Time
}

// folder is what is listed at once.
func folder(key string) string {
	parts := strings.SplitAfterN(key, "/", 3)
	if parts[0] == "copies/" {
		return parts[0] + parts[1]
	}
	return parts[0]
}

// request counts one, and takes its time.
func (c *cloud) request(ctx context.Context, kind string) error {
	c.Lock()
	c.kinds[kind]++
	c.seconds[int(time.Since(c.began)/time.Second)]++
	c.Unlock()
	time.Sleep(latency)
	return ctx.Err()
}

// machine is one of the machines: its worker, and its way to the store, which ends when the server is lost.
type machine struct {
	*cloud
	alive context.Context
	read  int // scenes
}

func (s *machine) do(ctx context.Context, kind string, do func()) error {
	if s.alive.Err() != nil {
		return errDead
	}
	if err := s.request(ctx, kind); err != nil || s.alive.Err() != nil {
		return errors.Join(err, s.alive.Err())
	}
	s.Lock()
	defer s.Unlock()
	do()
	return nil
}

func (s *machine) Get(ctx context.Context, key string) (data []byte, tag string, err error) {
	missing := false
	err = s.do(ctx, "GET", func() {
		o, exists := s.folders[folder(key)][key]
		data, tag, missing = o.data, o.tag, !exists
	})
	if err == nil && missing {
		err = store.ErrMissing
	}
	return data, tag, err
}

func (s *machine) Put(ctx context.Context, key string, data []byte, condition string) (tag string, err error) {
	changed := false
	err = s.do(ctx, "PUT", func() {
		in := s.folders[folder(key)]
		if in == nil {
			in = map[string]object{}
			s.folders[folder(key)] = in
		}
		old, exists := in[key]
		if changed = condition == store.Absent && exists || len(condition) > 1 && old.tag != condition; !changed {
			tag = fmt.Sprint(len(s.seconds), " ", s.kinds["PUT"])
			in[key] = object{data, tag, time.Now()}
		}
	})
	if err == nil && changed {
		err = store.ErrChanged
	}
	return tag, err
}

func (s *machine) List(ctx context.Context, prefix string) (objects []store.Object, err error) {
	err = s.do(ctx, "LIST", func() {
		if prefix == "sources/" {
			objects = s.sources
		}
		for key, o := range s.folders[folder(prefix)] {
			objects = append(objects, store.Object{Key: key, Size: int64(len(o.data)), Changed: o.at})
		}
	})
	for range len(objects) / 1000 { // a list has a thousand objects
		err = errors.Join(err, s.request(ctx, "LIST"))
	}
	return objects, err
}

func (s *machine) Delete(ctx context.Context, key string) error {
	return s.do(ctx, "DELETE", func() { delete(s.folders[folder(key)], key) })
}

// lengthOf is how many scenes a story has: 10 to 60.
func lengthOf(story string) int { return 10 + int(crc32.ChecksumIEEE([]byte(story))%51) }

// work reads a story, one scene in each minute, and takes copies as a worker does.
func (s *machine) work(ctx context.Context, story string, lease *store.Lease, before *store.Manifest) error {
	last, total := time.Now(), lengthOf(story)
	for scene := before.Scene + 1; scene <= total; scene++ {
		select {
		case <-time.After(perScene):
		case <-ctx.Done():
			return errDead
		case <-lease.Context().Done():
			return context.Cause(lease.Context())
		}
		s.read++
		if m := lease.Manifest(); scene == total || isDue(&m, scene, time.Since(last)) {
			if err := lease.Commit(ctx, make([]byte, 1000*scene), scene, total); err != nil {
				return err
			}
			last = time.Now()
		}
	}
	return lease.Finish(ctx, 0)
}

// outcome is what a simulation tells.
type outcome struct {
	makespan, bound time.Duration
	again           int // scenes that were read again
	perSecond       float64
	peak            int // requests in a second
	kinds           map[string]int
}

// simulate has servers read stories. Some are lost, one after the other, at equal distances of time.
func simulate(t *testing.T, stories, servers, lost int) (o outcome) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		c := &cloud{
			began: time.Now(), folders: map[string]map[string]object{}, seconds: map[int]int{}, kinds: map[string]int{},
		}
		scenes := 0
		for i := range stories {
			story := fmt.Sprintf("story%05d.epub", i)
			c.sources = append(c.sources, store.Object{Key: "sources/" + story})
			scenes += lengthOf(story)
		}
		work := time.Duration(scenes) * perScene / time.Duration(servers)
		var all sync.WaitGroup
		machines := make([]*machine, servers)
		for i := range machines {
			ctx, lose := context.WithCancel(context.Background())
			machines[i] = &machine{cloud: c, alive: ctx}
			if i < lost {
				time.AfterFunc(work*time.Duration(i+1)/time.Duration(lost+1), lose)
			}
			w := &worker{name: fmt.Sprint("server", i), store: store.New(machines[i], "", 90*time.Second)}
			all.Go(func() {
				defer lose()
				if err := w.claim(ctx, -1, machines[i].work); err != nil && i >= lost {
					t.Errorf("server %d ends with %v", i, err)
				}
			})
		}
		all.Wait()
		o.makespan, o.kinds = time.Since(c.began), c.kinds
		for _, m := range machines {
			o.again += m.read
		}
		o.again -= scenes
		// What lost servers would have read is left to the others, from the middle of the run on the average.
		o.bound = time.Duration(scenes) * perScene / time.Duration(servers-lost) * time.Duration(2*servers-lost) /
			time.Duration(2*servers)
		total := 0
		for _, n := range c.seconds {
			total, o.peak = total+n, max(o.peak, n)
		}
		o.perSecond = float64(total) / o.makespan.Seconds()
		for _, manifest := range c.folders["manifests/"] {
			if strings.Contains(string(manifest.data), `"state": "done"`) {
				stories--
			}
		}
		if stories != 0 {
			t.Errorf("%d stories are not done", stories)
		}
	})
	return o
}

// TestSimulation compares the makespan with what no fleet can beat: all servers read all the time, and nothing twice.
func TestSimulation(t *testing.T) {
	stories, servers := 300, 10
	if os.Getenv("ANNOTATOR_LONG") == "1" {
		stories, servers = 10_000, 100
	}
	for _, lost := range []int{0, 1, servers / 5} {
		t.Run(fmt.Sprint(lost), func(t *testing.T) {
			o := simulate(t, stories, servers, lost)
			t.Logf("%d stories, %d servers, %d lost: %s, bound %s (%.1f %% more)", stories, servers, lost,
				o.makespan.Round(time.Minute), o.bound.Round(time.Minute), 100*(float64(o.makespan)/float64(o.bound)-1))
			t.Logf("%d scenes read again; %.1f requests a second, at most %d in one; %v", o.again, o.perSecond, o.peak,
				o.kinds)
			if o.makespan < o.bound || o.makespan > o.bound+o.bound/50+time.Hour {
				t.Errorf("it takes %s, and the bound is %s", o.makespan, o.bound)
			}
			if o.again > 10*lost || o.again < 0 {
				t.Errorf("%d scenes are read again", o.again)
			}
		})
	}
}
