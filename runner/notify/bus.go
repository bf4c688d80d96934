// Package notify delivers the notices of a run to its subscribers, none of which can delay the run.
package notify

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"

	"annotator"
)

// queueLength is the capacity of a subscriber's queue: minutes of a run with a model, about a second of one without.
// A queue that has once been full keeps about 4 MB allocated.
const queueLength = 8192

// Subscriber receives the notices of a run. Its functions are called one at a time, on a goroutine of its own.
type Subscriber struct {
	Name   string                 // for error messages; empty if lost notices need not be reported
	Notice func(annotator.Notice) // called with each notice, in the order of publishing
	Close  func() error           // called after the last notice; may be nil
}

// Bus delivers notices to its subscribers. A subscriber that is slow, blocked or panics neither delays nor ends the
// run. Its notices wait in a queue, and while the queue is full, new ones are dropped. A NoticeLost takes the place of
// the dropped notices and counts them. A NoticeStream replaces the one before it if that is still the newest in the
// queue, because only the latest counts.
//
// The zero Bus is ready to use and runs no goroutine while its queues are empty. Its methods are safe for concurrent
// use.
type Bus struct {
	mu     sync.Mutex // also guards the queues
	queues []*queue
	closed bool
}

// queue holds the notices that wait for one subscriber.
type queue struct {
	Subscriber
	waiting    []annotator.Notice
	batch      []annotator.Notice // being delivered; only the delivering goroutine uses it
	lost       annotator.Notice   // follows the waiting notices; none if its Lost is 0
	delivering bool               // a goroutine delivers, or the subscriber is closed
	err        error              // the subscriber's failures
	done       chan struct{}      // closed after the subscriber's Close
}

// Subscribe adds a subscriber. It receives every later notice.
func (b *Bus) Subscribe(s Subscriber) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.queues = append(b.queues, &queue{Subscriber: s, done: make(chan struct{})})
}

// Publish queues a notice for every subscriber without waiting. After Close it does nothing.
func (b *Bus) Publish(n annotator.Notice) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed {
		return
	}
	for _, q := range b.queues {
		if q.err == nil {
			q.enqueue(&n)
			b.startDelivery(q)
		}
	}
}

// Close delivers what is queued and closes the subscribers. It waits for them until the context ends. The error joins
// the subscribers' failures and names those that have not finished. Close may be called again to learn the state then.
func (b *Bus) Close(ctx context.Context) error {
	b.mu.Lock()
	b.closed = true
	queues := b.queues
	for _, q := range queues {
		b.startDelivery(q)
	}
	b.mu.Unlock()
	var errs []error
	for _, q := range queues {
		select {
		case <-q.done:
		case <-ctx.Done():
		}
		errs = append(errs, b.result(q))
	}
	return errors.Join(errs...)
}

// result returns a subscriber's failures, or an error if it has not finished.
func (b *Bus) result(q *queue) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	select {
	case <-q.done:
		return q.err
	default:
	}
	if q.Name == "" {
		return nil
	}
	return annotator.Errorf(annotator.Storage, "%s has not read its notices: at least %d are lost", q.Name,
		len(q.waiting)+q.lost.Lost)
}

// startDelivery starts a goroutine that empties a queue, unless one runs.
func (b *Bus) startDelivery(q *queue) {
	if q.delivering {
		return
	}
	q.delivering = true
	go func() {
		for b.nextBatch(q) {
			b.call(q, q.deliver)
			clear(q.batch) // releases what the notices refer to
		}
	}()
}

// nextBatch moves the waiting notices to the batch. It returns false if there are none: the goroutine then ends, after
// closing the subscriber if the bus is closed.
func (b *Bus) nextBatch(q *queue) bool {
	b.mu.Lock()
	if q.lost.Lost > 0 {
		q.waiting = append(q.waiting, q.lost)
		q.lost = annotator.Notice{}
	}
	if q.err != nil {
		q.waiting = q.waiting[:0]
	}
	q.batch, q.waiting = q.waiting, q.batch[:0]
	more, closed := len(q.batch) > 0, b.closed
	q.delivering = more || closed
	b.mu.Unlock()
	if !more && closed {
		if q.Close != nil {
			b.call(q, q.Close)
		}
		close(q.done)
	}
	return more
}

// call calls a function of a subscriber. After an error or a panic the subscriber receives no more notices but is still
// closed.
func (b *Bus) call(q *queue, f func() error) {
	var err error
	defer func() {
		if fault := recover(); fault != nil {
			err = fmt.Errorf("%s panicked: %v", cmp.Or(q.Name, "a subscriber"), fault)
		}
		b.mu.Lock()
		defer b.mu.Unlock()
		q.err = errors.Join(q.err, err)
	}()
	err = f()
}

// enqueue adds a notice, or counts it as lost.
func (q *queue) enqueue(n *annotator.Notice) {
	switch last := len(q.waiting) - 1; {
	case n.Kind == annotator.NoticeStream && last >= 0 && q.waiting[last].Kind == annotator.NoticeStream &&
		q.lost.Lost == 0:
		q.waiting[last] = *n
	case last+1 < queueLength && q.lost.Lost == 0:
		q.waiting = append(q.waiting, *n)
	default:
		q.lost = annotator.Notice{
			Kind: annotator.NoticeLost, Time: n.Time, Scene: n.Scene, Turn: n.Turn, Total: n.Total, Done: n.Done,
			Lost: q.lost.Lost + 1,
		}
	}
}

// deliver calls the subscriber with each notice of the batch.
func (q *queue) deliver() error {
	for i := range q.batch {
		q.Notice(q.batch[i])
	}
	return nil
}
