package scripted

import (
	"cmp"
	"context"
	"maps"
	"net/http"
	"time"
)

// Fault is a fault of one call. With a Status or a Body it replaces the answer. Otherwise the regular answer is
// delayed, gets other headers or is cut.
type Fault struct {
	Status int           // 200 where 0
	Header http.Header   // replace the server's own; a Content-Length may be wrong
	Body   string        // raw bytes: an error, or the events of a stream
	Delay  time.Duration // before anything is answered
	// the connection breaks after this number of bytes of the body; below 0, before the status line
	Cut   int
	Stall time.Duration // how long the connection is silent before Cut breaks it
	Serve http.Handler  // answers instead, after Delay; the other fields are ignored. The request's body has been read
}

// serve answers with the fault, or returns to the regular answer.
func (f *Fault) serve(w http.ResponseWriter, r *http.Request, stream bool, ordinary func(http.ResponseWriter)) {
	pause(r.Context(), f.Delay)
	if f.Serve != nil {
		f.Serve.ServeHTTP(w, r)
		return
	}
	if f.Cut < 0 {
		panic(http.ErrAbortHandler)
	}
	if f.Cut > 0 {
		w = &cutWriter{ResponseWriter: w, ctx: r.Context(), left: f.Cut, stall: f.Stall}
	}
	if f.Status == 0 && f.Body == "" {
		maps.Copy(w.Header(), f.Header)
		ordinary(w)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	if stream && f.Status == 0 {
		w.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
	}
	maps.Copy(w.Header(), f.Header)
	w.WriteHeader(cmp.Or(f.Status, http.StatusOK))
	_, _ = w.Write([]byte(f.Body))
}

// cutWriter breaks the connection after a number of bytes, which all reach the client.
type cutWriter struct {
	http.ResponseWriter
	ctx   context.Context
	left  int
	stall time.Duration
}

// Unwrap lets http.ResponseController flush.
func (c *cutWriter) Unwrap() http.ResponseWriter { return c.ResponseWriter }

func (c *cutWriter) Write(b []byte) (int, error) {
	if len(b) < c.left {
		c.left -= len(b)
		return c.ResponseWriter.Write(b)
	}
	_, _ = c.ResponseWriter.Write(b[:c.left])
	_ = http.NewResponseController(c.ResponseWriter).Flush()
	pause(c.ctx, c.stall)
	panic(http.ErrAbortHandler)
}

func pause(ctx context.Context, d time.Duration) {
	if d <= 0 {
		return
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}
