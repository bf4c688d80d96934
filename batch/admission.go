// Package batch runs several stories in one process. Admission says how many may use each server at once, and at which
// server each is. What a story does depends on neither: a story without a place waits between two scenes.
package batch

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"slices"
	"sync"

	"annotator"
)

// Admission holds the places that servers have for stories. A story keeps its place from scene to scene, so that the
// server keeps its prefix. Stories are admitted in the order of their numbers, so that the first are done first. All
// methods are safe for concurrent use.
type Admission struct {
	mu      sync.Mutex
	servers []*server
	waiting []*Place // by number
	stopped chan struct{}
	stop    sync.Once
}

// server is what Admission knows of a server.
type server struct {
	name     string
	limit    int
	held     []*Place // by number
	failures int      // since its newest success, of any story
	contexts []int    // of the newest replies, in tokens
	evicted  int      // prefixes, since Admission last looked
}

// failuresToMove is how often in a row a server must fail before a story leaves it.
const failuresToMove = 2

// NewAdmission returns the admission to servers, by name, each with the same number of places.
func NewAdmission(places int, servers ...string) *Admission {
	a := &Admission{stopped: make(chan struct{})}
	for _, name := range servers {
		a.servers = append(a.servers, &server{name: name, limit: max(places, 1)})
	}
	return a
}

// Limit sets the number of places at a server. With fewer, the last stories give theirs back before their next scene.
func (a *Admission) Limit(server, places int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.servers[server].limit = max(places, 1)
	a.admit()
}

// Stop ends all waiting: no further story begins, and those that have begun go on to see that they are stopped.
func (a *Admission) Stop() { a.stop.Do(func() { close(a.stopped) }) }

// Place is a story's place at a server.
type Place struct {
	admission *Admission
	number    int
	key       string // for the choice of a server
	server    *server
	failures  int // in a row, of this story at its server
	taken     int // how often it was given a place
	given     chan struct{}
}

// Queue asks for a place. number is the story's position among all stories, key is the same in each run of it.
func (a *Admission) Queue(number int, key string) *Place {
	p := &Place{admission: a, number: number, key: key}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.queue(p)
	return p
}

// queue lets a story wait for a place. The caller holds the mutex.
func (a *Admission) queue(p *Place) {
	p.given = make(chan struct{})
	at, _ := slices.BinarySearchFunc(a.waiting, p, byNumber)
	a.waiting = slices.Insert(a.waiting, at, p)
	a.admit()
}

// Enter waits until the place that was asked for is given. The error is of kind annotator.Interrupted after Stop.
func (p *Place) Enter(ctx context.Context) error {
	if err := p.wait(ctx); err != nil {
		return err
	}
	select {
	case <-p.admission.stopped:
		p.Leave()
		return annotator.Errorf(annotator.Interrupted, "stopped before it began")
	default:
		return nil
	}
}

// wait returns when the place is given, or after Stop.
func (p *Place) wait(ctx context.Context) error {
	select {
	case <-p.given:
		return nil
	case <-p.admission.stopped:
		return nil
	case <-ctx.Done():
		p.Leave()
		return context.Cause(ctx)
	}
}

func byNumber(a, b *Place) int { return cmp.Compare(a.number, b.number) }

// admit gives free places to those that wait, the first story first. The caller holds the mutex.
func (a *Admission) admit() {
	a.waiting = slices.DeleteFunc(a.waiting, func(p *Place) bool {
		s := a.free(p)
		if s == nil {
			return false
		}
		p.take(s)
		close(p.given)
		return true
	})
}

// take enters a story into a server's places.
func (p *Place) take(s *server) {
	if p.server != s {
		p.server, p.failures = s, 0
	}
	p.taken++
	at, _ := slices.BinarySearchFunc(s.held, p, byNumber)
	s.held = slices.Insert(s.held, at, p)
}

// free returns the server with a place for a story; nil if there is none. A story that was at a server stays there:
// that is where its prefix is.
func (a *Admission) free(p *Place) *server {
	if p.server != nil {
		if len(p.server.held) < p.server.limit {
			return p.server
		}
		return nil
	}
	for _, s := range a.ranked(p.key) {
		if len(s.held) < s.limit {
			return s
		}
	}
	return nil
}

// ranked returns the servers in a story's own order, those that fail last. The order is a rendezvous hash: it is the
// same in each run, and a server more or less changes nothing between the others.
func (a *Admission) ranked(key string) []*server {
	weight := func(s *server) uint64 {
		h := fnv.New64a()
		fmt.Fprintf(h, "%s\x00%s", s.name, key)
		return mix(h.Sum64())
	}
	fails := func(s *server) int { return min(s.failures/failuresToMove, 1) }
	return slices.SortedFunc(slices.Values(a.servers), func(s, t *server) int {
		return cmp.Or(cmp.Compare(fails(s), fails(t)), cmp.Compare(weight(t), weight(s)))
	})
}

// mix spreads a hash over all its bits: the last bytes of a text hardly change the high bits of FNV.
func mix(x uint64) uint64 {
	x = (x ^ x>>33) * 0xff51afd7ed558ccd
	x = (x ^ x>>33) * 0xc4ceb9fe1a85ec53
	return x ^ x>>33
}

// Turn is called between two scenes. It waits if the story's server has too many stories and this is the last of them.
// After Stop it returns at once.
func (p *Place) Turn(ctx context.Context) error {
	a := p.admission
	a.mu.Lock()
	s := p.server
	stays := len(s.held) <= s.limit || s.held[len(s.held)-1] != p
	if !stays {
		p.release()
		a.queue(p)
	}
	a.mu.Unlock()
	return p.wait(ctx)
}

// Leave gives the place back. It may be called again.
func (p *Place) Leave() {
	a := p.admission
	a.mu.Lock()
	defer a.mu.Unlock()
	a.waiting = slices.DeleteFunc(a.waiting, func(q *Place) bool { return q == p })
	p.release()
	a.admit()
}

// release removes the place from those held. The caller holds the mutex.
func (p *Place) release() {
	if p.server != nil {
		p.server.held = slices.DeleteFunc(p.server.held, func(q *Place) bool { return q == p })
	}
}

// Server returns the number of the server that the story is at.
func (p *Place) Server() int {
	a := p.admission
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.Index(a.servers, p.server)
}

// Answered records whether the story's server has answered. After the second failure in a row the story moves to the
// next server that does not fail, if there is one. It stays there, also when the former one is back: its prefix has
// moved, too. It reports whether it has moved.
func (p *Place) Answered(ok bool) (moved bool) {
	a := p.admission
	a.mu.Lock()
	defer a.mu.Unlock()
	if ok {
		p.failures, p.server.failures = 0, 0
		return false
	}
	p.failures++
	p.server.failures++
	next := a.ranked(p.key)[0]
	if p.failures < failuresToMove || next == p.server || next.failures >= failuresToMove {
		return false
	}
	p.release()
	p.take(next) // above the limit for the time being: a scene is open
	a.admit()
	return true
}

// Run does something for each of a number of stories at the same time, and returns what came of each. A panic in one is
// its error, and stops no other.
func Run(n int, do func(i int) error) []error {
	errs := make([]error, n)
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() {
			defer func() {
				if fault := recover(); fault != nil {
					errs[i] = errors.Join(errs[i], fmt.Errorf("internal error: %v", fault))
				}
			}()
			errs[i] = do(i)
		})
	}
	wg.Wait()
	return errs
}
