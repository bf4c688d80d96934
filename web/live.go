package web

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"hash/fnv"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"annotator"
	"annotator/storage"
	"annotator/view"
)

// live is the state of a run on live pages. Each page polls for changes, because the run is another process. A state is
// rendered once for all pages with the same limit.
type live struct {
	pages    atomic.Int64 // that are open
	mu       sync.Mutex
	pulse    storage.Pulse
	running  bool
	rendered map[view.Moment]event // for the current pulse
}

// event is a rendered state. Its id is its hash, so that a page does not receive the same state twice.
type event struct{ id, html string }

// state returns the state of the run under a limit.
func (d *servedDatabase) state(ctx context.Context, l limit) (event, error) {
	pulse, err := d.DB.Run.Pulse(ctx)
	running, lockErr := storage.Running(d.DB.Path())
	if err = cmp.Or(err, lockErr); err != nil {
		return event{}, err
	}
	d.live.mu.Lock()
	defer d.live.mu.Unlock()
	if pulse != d.live.pulse || running != d.live.running || len(d.live.rendered) >= maxStreams {
		d.live.pulse, d.live.running, d.live.rendered = pulse, running, map[view.Moment]event{}
	}
	e, ok := d.live.rendered[l.moment]
	if ok {
		return e, nil
	}
	if e, err = d.render(ctx, l); err == nil {
		d.live.rendered[l.moment] = e
	}
	return e, err
}

// render renders the state of the run under a limit.
func (d *servedDatabase) render(ctx context.Context, l limit) (event, error) {
	r := &request{Request: (&http.Request{}).WithContext(ctx), db: d, limit: l, view: newView(ctx, d, l.moment)}
	state, err := r.view.readProgress(ctx)
	if err != nil {
		return event{}, err
	}
	var html bytes.Buffer
	if err := d.server.templates["run"].t.ExecuteTemplate(&html, "live",
		&page{request: r, Data: state}); err != nil {
		return event{}, err
	}
	sum := fnv.New64a()
	sum.Write(html.Bytes())
	return event{fmt.Sprintf("%x", sum.Sum64()), html.String()}, nil
}

// streamLive sends server-sent events until the page is closed or does not read for eventTimeout.
func streamLive(r *request) (*page, error) {
	r.made()
	defer r.db.live.pages.Add(-1)
	if r.db.live.pages.Add(1) > maxStreams {
		return nil, annotator.Errorf(annotator.Misused, "too many live pages are open")
	}
	r.w.Header().Set("Content-Type", "text/event-stream")
	r.w.Header().Set("Cache-Control", "no-store")
	send := sender{w: r.w, control: http.NewResponseController(r.w), last: r.Header.Get("Last-Event-ID")}
	err := send.text(":\n\n")
	poll, beat := time.NewTicker(r.db.server.Poll), time.NewTicker(heartbeat)
	defer poll.Stop()
	defer beat.Stop()
	for err == nil {
		if r.db.DB.Replaced() {
			_ = send.event(event{"replaced", `<p class="problem">` + isReplaced + `</p>`})
			return nil, nil
		}
		if e, unread := r.db.state(r.Context(), r.limit); unread == nil { // the next poll may succeed
			err = send.event(e)
		}
		select {
		case <-r.Context().Done():
			return nil, nil
		case <-poll.C:
		case <-beat.C:
			err = cmp.Or(err, send.text(":\n\n"))
		}
	}
	return nil, nil
}

// sender writes events to one page.
type sender struct {
	w       http.ResponseWriter
	control *http.ResponseController
	last    string // the id of the newest event on the page
}

// event sends an event, unless the page has it.
func (s *sender) event(e event) error {
	if e.id == s.last {
		return nil
	}
	s.last = e.id
	lines := strings.ReplaceAll(strings.ReplaceAll(e.html, "\r", " "), "\n", "\ndata: ")
	return s.text("id: " + e.id + "\nevent: state\ndata: " + lines + "\n\n")
}

func (s *sender) text(text string) error {
	if err := s.control.SetWriteDeadline(time.Now().Add(eventTimeout)); err != nil {
		return err
	}
	if _, err := s.w.Write([]byte(text)); err != nil {
		return err
	}
	return s.control.Flush()
}
