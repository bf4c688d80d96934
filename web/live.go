package web

import (
	"bytes"
	"context"
	"fmt"
	"hash/fnv"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"annotator"
	"annotator/storage"
)

// feed sends the state of a run to live pages. It polls the database while there are any, because the run is another
// process, and renders a state once for all pages with the same limit.
type feed struct {
	server *Server
	book   *book
	poll   time.Duration

	mu      sync.Mutex
	streams map[*stream]bool
	polling bool
}

// stream is a live page. Its channel holds the newest state only: a page that reads slowly misses the ones between.
type stream struct {
	limit  limit
	state  chan event
	served bool // it was sent a state; only watch uses it
}

// event is a rendered state. Its id is computed from it, so a page that has it already is not sent it again.
type event struct{ id, html string }

// subscribe adds a live page; false if there are too many.
func (f *feed) subscribe(s *stream) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.streams) >= maxStreams {
		return false
	}
	if f.streams == nil {
		f.streams = map[*stream]bool{}
	}
	f.streams[s] = true
	if !f.polling {
		f.polling = true
		go f.watch()
	}
	return true
}

func (f *feed) unsubscribe(s *stream) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.streams, s)
}

// watch polls until no page is left.
func (f *feed) watch() {
	var last storage.Pulse
	wasRunning := false
	for ctx := context.Background(); ; time.Sleep(f.poll) {
		streams := f.current()
		if streams == nil {
			return
		}
		pulse, err := f.book.DB.Run.Pulse(ctx)
		running, lockErr := storage.Running(f.book.DB.Path())
		if err != nil || lockErr != nil {
			continue
		}
		if pulse == last && running == wasRunning {
			streams = slices.DeleteFunc(streams, func(s *stream) bool { return s.served })
		}
		last, wasRunning = pulse, running
		f.send(ctx, streams)
	}
}

// current returns the streams, or nil if none is left: polling then ends.
func (f *feed) current() []*stream {
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.streams) == 0 {
		f.polling = false
		return nil
	}
	streams := make([]*stream, 0, len(f.streams))
	for s := range f.streams {
		streams = append(streams, s)
	}
	return streams
}

// send renders the state for each limit, and gives it to the streams without waiting for any.
func (f *feed) send(ctx context.Context, streams []*stream) {
	rendered := map[storage.Moment]event{}
	for _, s := range streams {
		e, ok := rendered[s.limit.moment]
		if !ok {
			var err error
			if e, err = f.render(ctx, s.limit); err != nil {
				continue
			}
			rendered[s.limit.moment] = e
		}
		select {
		case <-s.state: // replaced by the newer one
		default:
		}
		s.state <- e
		s.served = true
	}
}

// render renders the state of the run under a limit.
func (f *feed) render(ctx context.Context, l limit) (event, error) {
	r := &request{Request: (&http.Request{}).WithContext(ctx), book: f.book, limit: l, view: newView(ctx, f.book, l.moment)}
	state, err := r.view.readProgress(ctx)
	if err != nil {
		return event{}, err
	}
	var html bytes.Buffer
	if err := f.server.templates["overview"].t.ExecuteTemplate(&html, "live", &page{request: r, Data: state}); err != nil {
		return event{}, err
	}
	sum := fnv.New64a()
	sum.Write(html.Bytes())
	return event{fmt.Sprintf("%x", sum.Sum64()), html.String()}, nil
}

// streamLive sends server-sent events until the page is closed or reads too slowly.
func streamLive(r *request) (*page, error) {
	r.made()
	f := r.book.feed
	s := &stream{limit: r.limit, state: make(chan event, 1)}
	if !f.subscribe(s) {
		return nil, annotator.Errorf(annotator.Misused, "too many live pages are open")
	}
	defer f.unsubscribe(s)
	r.w.Header().Set("Content-Type", "text/event-stream")
	r.w.Header().Set("Cache-Control", "no-store")
	send := sender{w: r.w, control: http.NewResponseController(r.w), last: r.Header.Get("Last-Event-ID")}
	err := send.text(":\n\n")
	beat := time.NewTicker(heartbeat)
	defer beat.Stop()
	for err == nil {
		select {
		case <-r.Context().Done():
			return nil, nil
		case e := <-s.state:
			err = send.event(e)
		case <-beat.C:
			err = send.text(":\n\n")
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

func (s *sender) event(e event) error {
	if e.id == s.last {
		return s.text(":\n\n")
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
