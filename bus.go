package annotator

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
)

// queueLength is how many notices may wait for a subscriber: minutes of a run with a model, about a second of one without. A
// queue that was full keeps its room, about 4 MB.
const queueLength = 8192

// Subscriber is somebody who watches a run. Its functions are called one at a time, on a goroutine of its own.
type Subscriber struct {
	Name   string       // in errors; empty for one whose notices nobody misses
	Notice func(Notice) // is called with each notice, in the order of publishing
	Close  func() error // is called behind the last notice; nil where nothing is to be done
}

// Bus hands notices to those who subscribed. A subscriber that is slow, stuck or panics neither delays the run nor brings it down:
// notices wait in its queue, and once that is full, new ones are lost to it until it has worked the queue off. A NoticeLost then
// stands where they are missing and says how many there were. A notice of a reply under way takes the place of the one before
// it where that is still the newest in the queue, since only the latest counts.
//
// The zero Bus is ready to use, and has no goroutine while there is nothing to hand over. Its methods may be called from any
// goroutine.
type Bus struct {
	mu     sync.Mutex // guards the queues, too
	queues []*queue
	closed bool
}

// queue is what a subscriber has yet to be told.
type queue struct {
	Subscriber
	waiting    []Notice
	batch      []Notice      // is being handed over; its goroutine's alone
	lost       Notice        // comes behind those that wait; none where its Lost is 0
	delivering bool          // by a goroutine; or it never will be again
	err        error         // what went wrong in the subscriber
	done       chan struct{} // closed behind the subscriber's Close
}

// Subscribe adds a subscriber, which is told of every later notice.
func (b *Bus) Subscribe(s Subscriber) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.queues = append(b.queues, &queue{Subscriber: s, done: make(chan struct{})})
}

// Publish queues a notice for all subscribers, and waits for none of them. Behind Close it does nothing.
func (b *Bus) Publish(n Notice) {
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

// Close hands over what is queued, closes the subscribers, and waits for that until the context ends. The error tells what went
// wrong in them, and which of them were not done by then. It may be called again, and then says how things stand.
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

// outcome is what went wrong in a subscriber, or that it is not done.
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
	return Errorf(Storage, "%s does not take in what it is told: %d notices or more are lost to it", q.Name, len(q.waiting)+q.lost.Lost)
}

// serve has a goroutine hand over what a queue holds, unless one does.
func (b *Bus) startDelivery(q *queue) {
	if q.delivering {
		return
	}
	q.delivering = true
	go func() {
		for b.nextBatch(q) {
			b.addError(q, q.deliver())
			clear(q.batch) // what it refers to need not stay in memory
		}
	}()
}

// take makes what waits in a queue its next batch, and reports false where there is nothing: its goroutine has to end, and if
// the bus is closed, the subscriber is, too.
func (b *Bus) nextBatch(q *queue) bool {
	b.mu.Lock()
	if q.lost.Lost > 0 {
		q.waiting = append(q.waiting, q.lost)
		q.lost = Notice{}
	}
	if q.err != nil {
		q.waiting = q.waiting[:0]
	}
	q.batch, q.waiting = q.waiting, q.batch[:0]
	goOn, closed := len(q.batch) > 0, b.closed
	q.delivering = goOn || closed
	b.mu.Unlock()
	if !goOn && closed {
		b.addError(q, q.closeSubscriber())
		close(q.done)
	}
	return goOn
}

// failed notes what went wrong in a subscriber. It is told nothing from then on, but still closed in the end.
func (b *Bus) addError(q *queue, err error) {
	if err == nil {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	q.err = errors.Join(q.err, err)
}

// put adds a notice to those that wait.
func (q *queue) enqueue(n *Notice) {
	switch last := len(q.waiting) - 1; {
	case n.Kind == NoticeStream && last >= 0 && q.waiting[last].Kind == NoticeStream && q.lost.Lost == 0:
		q.waiting[last] = *n
	case last+1 < queueLength && q.lost.Lost == 0:
		q.waiting = append(q.waiting, *n)
	default:
		q.lost = Notice{Kind: NoticeLost, Time: n.Time, Scene: n.Scene, Turn: n.Turn, Total: n.Total, Done: n.Done, Lost: q.lost.Lost + 1}
	}
}

// hand tells a subscriber of a batch. A panic of its own fails nobody else.
func (q *queue) deliver() (err error) {
	defer q.recoverPanic(&err)
	for i := range q.batch {
		q.Notice(q.batch[i])
	}
	return nil
}

func (q *queue) closeSubscriber() (err error) {
	defer q.recoverPanic(&err)
	if q.Close == nil {
		return nil
	}
	return q.Close()
}

// caught makes a panic an error.
func (q *queue) recoverPanic(err *error) {
	if fault := recover(); fault != nil {
		*err = fmt.Errorf("%s panicked: %v", cmp.Or(q.Name, "a subscriber"), fault)
	}
}
