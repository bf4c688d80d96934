package batch

import (
	"context"
	"slices"
	"time"

	"annotator/model"
)

// poolShare is the share of a server's KV cache that the stories' contexts may take: replies need the rest.
const poolShare = 0.85

// remembered is how many of the newest contexts at a server count.
const remembered = 256

// Watch says how Admission follows what servers tell of their work.
type Watch struct {
	Most    int           // stories at a server at once; 0: by its room
	Unknown int           // the same, of a server that tells nothing of its room
	Context int           // tokens that a story is assumed to take, until its server has counted some
	Every   time.Duration // between two looks
	// Servers read what each server tells. One may be nil.
	Servers []func(context.Context) (model.Load, error)
}

// The number of looks.
const (
	looksToGrow   = 12 // without trouble, before a server gets another place
	looksToShrink = 6  // after a place was taken away, before the next is
	looksWaiting  = 2  // in a row with waiting requests
)

// look is what is known of a server when its places are set anew.
type look struct {
	load    model.Load
	begun   bool
	context int // the 95th percentile; 0 if none was seen
	evicted int // prefixes since the look before
	trouble int // looks in a row with waiting requests
	calm    int // looks without trouble
	since   int // looks since a place was taken away
	former  int // preempted requests at the look before
}

// Follow sets the places of each server until the context ends.
func (a *Admission) Follow(ctx context.Context, w *Watch) {
	looks := make([]look, len(w.Servers))
	for i := range looks {
		looks[i].since = looksToShrink
	}
	for {
		for i := range looks {
			a.look(ctx, w, i, &looks[i])
		}
		select {
		case <-time.After(w.Every):
		case <-ctx.Done():
			return
		}
	}
}

// look reads a server, and sets its places.
func (a *Admission) look(ctx context.Context, w *Watch, i int, l *look) {
	if w.Servers[i] != nil {
		short, cancel := context.WithTimeout(ctx, max(w.Every, time.Second))
		load, err := w.Servers[i](short)
		cancel()
		if err == nil {
			l.load = load
		}
	}
	l.context, l.evicted = a.seen(i)
	if l.context == 0 {
		l.context = w.Context
	}
	limit := a.limitOf(i)
	if l.begun {
		limit = l.next(limit, w)
	} else {
		l.begun, l.former, limit = true, l.load.Preempted, l.room(w)
	}
	a.Limit(i, limit)
}

// next returns how many places a server has from now on. One is taken away if prefixes are evicted, requests are put
// back or wait. One is added after a time without that.
func (l *look) next(limit int, w *Watch) int {
	if l.since++; l.load.Waiting > 0 {
		l.trouble++
	} else {
		l.trouble = 0
	}
	inTrouble := l.trouble >= looksWaiting || l.evicted > 0 || l.load.Preempted > l.former
	l.former = l.load.Preempted
	switch l.calm++; {
	case inTrouble:
		if l.calm = 0; l.since >= looksToShrink {
			l.since = 0
			limit--
		}
	case l.load.Waiting > 0:
		l.calm = 0
	case l.calm >= looksToGrow:
		l.calm = 0
		limit++
	}
	return max(1, min(limit, l.room(w)))
}

// room returns how many stories a server has room for.
func (l *look) room(w *Watch) int {
	room := 0
	if l.load.PoolTokens > 0 && l.context > 0 {
		room = max(1, int(poolShare*float64(l.load.PoolTokens)/float64(l.context)))
	}
	if l.load.Slots > 0 && (room == 0 || l.load.Slots < room) {
		room = l.load.Slots
	}
	switch {
	case room == 0 && w.Most == 0:
		return max(1, w.Unknown)
	case room == 0, w.Most > 0 && w.Most < room:
		return w.Most
	}
	return room
}

// seen returns the 95th percentile of the contexts at a server, 0 without any, and the prefixes that were evicted since
// it was last called.
func (a *Admission) seen(i int) (context, evicted int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	s := a.servers[i]
	evicted, s.evicted = s.evicted, 0
	if len(s.contexts) == 0 {
		return 0, evicted
	}
	sorted := slices.Sorted(slices.Values(s.contexts))
	return sorted[(len(sorted)*95-1)/100], evicted
}

func (a *Admission) limitOf(i int) int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.servers[i].limit
}

// observe records the context of a story's newest reply, and whether its prefix had been evicted.
func (p *Place) observe(tokens int, evicted bool) {
	a := p.admission
	a.mu.Lock()
	defer a.mu.Unlock()
	s := p.server
	if len(s.contexts) == remembered {
		s.contexts = s.contexts[1:]
	}
	s.contexts = append(s.contexts, tokens)
	if evicted {
		s.evicted++
	}
}

// stays counts how often the story was given a place. A prefix may be lost from one to the next.
func (p *Place) stays() int {
	p.admission.mu.Lock()
	defer p.admission.mu.Unlock()
	return p.taken
}
