package endpoint

import (
	"context"
	"fmt"
	"sync"
	"time"

	"annotator"
	"annotator/model"
)

const (
	// maxDuration is the time limit of a call.
	maxDuration = 4 * time.Hour

	// perByte is the average time limit for a byte of a reply. The slowest machine is several times faster. A slower
	// reply would occupy a call for hours.
	perByte = 5 * time.Second

	// reportInterval is the time between two reports of silence.
	reportInterval = time.Minute
)

// watch ends a call when no token has arrived for too long: it cancels the context, which closes the connection.
// Comments between the events of a stream, which keep a connection open, are no tokens.
type watch struct {
	cancel context.CancelCauseFunc
	first  time.Duration // before the first token, from the request on
	next   time.Duration // after a token
	report func(silent, limit time.Duration)

	mu        sync.Mutex // guards what follows, which the timer's goroutine reads
	timer     *time.Timer
	began     time.Time
	begun     time.Time // when the first token arrived; zero: none has
	lastToken time.Time // when the newest token arrived, or the call began
	deadline  time.Time // the call ends unless another token comes
	size      int       // bytes of the reply
	stopped   bool
}

func newWatch(ctx context.Context, first, next time.Duration,
	report func(silent, limit time.Duration),
) (context.Context, *watch) {
	ctx, cancel := context.WithCancelCause(ctx)
	now := time.Now()
	w := &watch{
		cancel: cancel, first: first, next: next, report: report, began: now, lastToken: now,
		deadline: now.Add(first),
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.timer = time.AfterFunc(min(first, reportInterval), w.check)
	return ctx, w
}

// check runs when a deadline may have passed, or when silence is to be reported.
func (w *watch) check() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.stopped {
		return
	}
	left := time.Until(w.deadline)
	if left <= 0 {
		w.cancel(&model.Fault{
			Kind: annotator.Transient, Code: model.CodeSilent, Message: w.problem(),
			Reason: annotator.ReasonNoToken,
		})
		return
	}
	if silent := time.Since(w.lastToken); w.report != nil && silent >= reportInterval {
		w.report(silent, w.deadline.Sub(w.lastToken))
	}
	w.timer.Reset(min(left, reportInterval))
}

// problem returns why a call is ended.
func (w *watch) problem() string {
	switch took := time.Since(w.began); {
	case took >= maxDuration:
		return fmt.Sprintf("the endpoint did not come to the end of its answer in %s", maxDuration)
	case w.begun.IsZero():
		return fmt.Sprintf("the endpoint sent no token of a reply for %s", took.Round(100*time.Millisecond))
	case time.Since(w.lastToken) < w.next:
		return fmt.Sprintf("the endpoint sent only %d bytes of a reply in %s", w.size, took.Round(100*time.Millisecond))
	}
	return fmt.Sprintf("the endpoint sent no token for %s, in the middle of a reply", w.next)
}

// recordSize records the size of the reply after a piece of the answer, and moves the deadline.
func (w *watch) recordSize(size int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if size <= w.size {
		return
	}
	w.size, w.lastToken = size, time.Now()
	if w.begun.IsZero() {
		w.begun = w.lastToken
	}
	deadline := w.lastToken.Add(w.next)
	if slowest := w.begun.Add(w.next + time.Duration(size)*perByte); slowest.Before(deadline) {
		deadline = slowest
	}
	w.setDeadline(deadline)
}

// extendForBody extends the deadline for an answer in one piece, which is sent after its last token.
func (w *watch) extendForBody() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if arrived := time.Now().Add(w.next); arrived.After(w.deadline) {
		w.setDeadline(arrived)
	}
}

// limitRest sets the time limit for the rest of the call.
func (w *watch) limitRest(d time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.setDeadline(time.Now().Add(min(d, w.next)))
}

func (w *watch) setDeadline(deadline time.Time) {
	if last := w.began.Add(maxDuration); last.Before(deadline) {
		deadline = last
	}
	w.deadline = deadline
	w.timer.Reset(min(time.Until(deadline), reportInterval))
}

// stop ends the watch. Nothing is reported after it returns.
func (w *watch) stop() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.stopped = true
	w.timer.Stop()
	w.cancel(nil)
}
