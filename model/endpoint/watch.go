package endpoint

import (
	"context"
	"fmt"
	"time"

	"annotator"
	"annotator/model"
)

// maxDuration is how long a call may take: some proxies keep the connection to a dead server alive forever.
const maxDuration = 4 * time.Hour

// watch ends a call when nothing has arrived for too long: it ends the context, and with it the connection.
type watch struct {
	cancel context.CancelCauseFunc
	timer  *time.Timer
	last   *time.Timer // ends the call whatever arrives
	idle   time.Duration
	begun  bool // the first byte has arrived
}

func newWatch(ctx context.Context, first, idle time.Duration) (context.Context, *watch) {
	ctx, cancel := context.WithCancelCause(ctx)
	timer := time.AfterFunc(first, func() {
		cancel(silence(fmt.Sprintf("the endpoint sent nothing for %s", first)))
	})
	last := time.AfterFunc(maxDuration, func() {
		cancel(silence(fmt.Sprintf("the endpoint did not come to the end of its answer in %s", maxDuration)))
	})
	return ctx, &watch{cancel: cancel, timer: timer, last: last, idle: idle}
}

// received restarts the timeout after a piece of the body.
func (w *watch) received() {
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

// within shortens the timeout for all that follows.
func (w *watch) within(d time.Duration) { w.timer.Reset(min(d, w.idle)) }

func (w *watch) stop() {
	w.timer.Stop()
	w.last.Stop()
	w.cancel(nil)
}

func silence(message string) *model.Fault {
	return &model.Fault{Kind: annotator.Transient, Code: model.CodeSilent, Message: message}
}
