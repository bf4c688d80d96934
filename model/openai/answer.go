package openai

import (
	"context"
	"fmt"
	"io"
	"time"

	"annotator"
	"annotator/model"
)

// Limits on an answer, in bytes. No reply of use comes near them.
const (
	answerLimit = 64 << 20
	lineLimit   = 16 << 20
)

// answer is the body of a response. It keeps its beginning, tells the watch of each piece, and ends where it is too long.
type answer struct {
	body  io.ReadCloser
	watch *watch
	kept  []byte // the first model.RawLimit bytes
	left  int    // how many bytes may still come
}

// Read reads the next piece.
func (a *answer) Read(p []byte) (int, error) {
	n, err := a.body.Read(p)
	if n > 0 {
		a.watch.heard()
	}
	a.kept = append(a.kept, p[:min(n, model.RawLimit-len(a.kept))]...)
	a.left -= n
	if a.left < 0 {
		return 0, tooLong("an answer", answerLimit)
	}
	return n, err
}

// Close ends the answer. If more of it was to come, the connection is closed.
func (a *answer) Close() error { return a.body.Close() }

// drain reads what little stands behind the end of a stream, so that the connection can be used again.
func (a *answer) drain() {
	const most, wait = 4 << 10, time.Second
	a.watch.within(wait)
	_, _ = io.CopyN(io.Discard, a.body, most) // a connection that breaks now is no loss
}

func tooLong(what string, limit int) *model.Fault {
	return &model.Fault{Kind: annotator.Refused, Message: fmt.Sprintf("%s is longer than %d MiB", what, limit>>20)}
}

// watch ends a call when nothing has come for too long: the context ends, and with it the connection.
type watch struct {
	cancel context.CancelCauseFunc
	timer  *time.Timer
	idle   time.Duration
	begun  bool // the first byte has come
}

func newWatch(ctx context.Context, first, idle time.Duration) (context.Context, *watch) {
	ctx, cancel := context.WithCancelCause(ctx)
	timer := time.AfterFunc(first, func() {
		cancel(silence(fmt.Sprintf("the endpoint sent nothing for %s", first)))
	})
	return ctx, &watch{cancel: cancel, timer: timer, idle: idle}
}

// heard notes that something has come.
func (w *watch) heard() {
	if w.begun {
		w.timer.Reset(w.idle)
		return
	}
	w.begun = true
	w.timer.Stop()
	w.timer = time.AfterFunc(w.idle, func() {
		w.cancel(silence(fmt.Sprintf("the endpoint stopped in the middle of its answer for %s", w.idle)))
	})
}

// within leaves so much time for all that follows.
func (w *watch) within(d time.Duration) { w.timer.Reset(min(d, w.idle)) }

func (w *watch) stop() {
	w.timer.Stop()
	w.cancel(nil)
}

func silence(message string) *model.Fault {
	return &model.Fault{Kind: annotator.Transient, Message: message}
}
