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
)

// live is the state of a run as live pages show it. Each looks for changes by itself, because the run is another process; a
// state is rendered once for all pages with the same limit.
type live struct {
	pages    atomic.Int64 // that are open
	mu       sync.Mutex
	pulse    storage.Pulse
	running  bool
	rendered map[storage.Moment]event // since the pulse has changed
}

// event is a rendered state. Its id is computed from it, so a page that has it already is not sent it again.
type event struct{ id, html string }

// state returns the state of the run under a limit.
func (b *book) state(ctx context.Context, l limit) (event, error) {
	pulse, err := b.DB.Run.Pulse(ctx)
	running, lockErr := storage.Running(b.DB.Path())
	if err = cmp.Or(err, lockErr); err != nil {
		return event{}, err
	}
	b.live.mu.Lock()
	defer b.live.mu.Unlock()
	if pulse != b.live.pulse || running != b.live.running || len(b.live.rendered) >= maxStreams {
		b.live.pulse, b.live.running, b.live.rendered = pulse, running, map[storage.Moment]event{}
	}
	e, ok := b.live.rendered[l.moment]
	if ok {
		return e, nil
	}
	if e, err = b.render(ctx, l); err == nil {
		b.live.rendered[l.moment] = e
	}
	return e, err
}

// render renders the state of the run under a limit.
func (b *book) render(ctx context.Context, l limit) (event, error) {
	r := &request{Request: (&http.Request{}).WithContext(ctx), book: b, limit: l, view: newView(ctx, b, l.moment)}
	state, err := r.view.readProgress(ctx)
	if err != nil {
		return event{}, err
	}
	var html bytes.Buffer
	if err := b.server.templates["overview"].t.ExecuteTemplate(&html, "live", &page{request: r, Data: state}); err != nil {
		return event{}, err
	}
	sum := fnv.New64a()
	sum.Write(html.Bytes())
	return event{fmt.Sprintf("%x", sum.Sum64()), html.String()}, nil
}

// streamLive sends server-sent events until the page is closed or reads too slowly.
func streamLive(r *request) (*page, error) {
	r.made()
	defer r.book.live.pages.Add(-1)
	if r.book.live.pages.Add(1) > maxStreams {
		return nil, annotator.Errorf(annotator.Misused, "too many live pages are open")
	}
	r.w.Header().Set("Content-Type", "text/event-stream")
	r.w.Header().Set("Cache-Control", "no-store")
	send := sender{w: r.w, control: http.NewResponseController(r.w), last: r.Header.Get("Last-Event-ID")}
	err := send.text(":\n\n")
	poll, beat := time.NewTicker(r.book.server.Poll), time.NewTicker(heartbeat)
	defer poll.Stop()
	defer beat.Stop()
	for err == nil {
		if r.book.DB.Replaced() {
			_ = send.event(event{"replaced", `<p class="problem">` + isReplaced + `</p>`})
			return nil, nil
		}
		if e, unread := r.book.state(r.Context(), r.limit); unread == nil { // else the next look may succeed
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
	last    string // the id of the newest event that the page has
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
	if err := s.control.SetWriteDeadline(time.Now().Add(slowReader)); err != nil {
		return err
	}
	if _, err := s.w.Write([]byte(text)); err != nil {
		return err
	}
	return s.control.Flush()
}
