package runner_test

import (
	"context"
	"io"
	"net/http"
	"testing"
	"testing/iotest"
	"time"

	"annotator"
	"annotator/internal/scripted"
	"annotator/runner/notify"
)

// TestWatchersNeverSlowTheRun adds three subscribers to a run over the program's own bus. One is blocked from the first
// notice on, one panics, and one is fast. The run is equal to one without subscribers, and the fast subscriber gets
// what was published.
func TestWatchersNeverSlowTheRun(t *testing.T) {
	t.Parallel()
	s := newStage(t, story{threads: 2, scenes: 5}, scripted.Options{Strict: true})
	var published []annotator.Notice
	s.bus.Subscribe(func(n annotator.Notice) { published = append(published, n) })
	var watched notify.Bus
	s.bus.Subscribe(watched.Publish)
	var seen []annotator.Notice
	forever := make(chan struct{})
	defer close(forever)
	watched.Subscribe(notify.Subscriber{Name: "the stuck one", Notice: func(annotator.Notice) { <-forever }})
	watched.Subscribe(notify.Subscriber{Name: "the panicking one", Notice: func(annotator.Notice) { panic("oh") }})
	done := make(chan struct{})
	watched.Subscribe(notify.Subscriber{
		Notice: func(n annotator.Notice) { seen = append(seen, n) },
		Close:  func() error { close(done); return nil },
	})
	if err := s.run("watched"); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	if err := watched.Close(ctx); err == nil {
		t.Error("nothing is said of who is stuck")
	}
	<-done
	if err := s.run("alone"); err != nil {
		t.Fatal(err)
	}
	s.compare("watched", dump(t, s.db("alone")))
	next := 0
	for _, n := range seen {
		for next < len(published) && published[next] != n {
			if published[next].Kind != annotator.NoticeStream {
				t.Fatalf("notice %d is missing: %+v", next, published[next])
			}
			next++
		}
		next++
	}
	if len(seen) < 10*10 || seen[len(seen)-1].Kind != annotator.NoticeEnd {
		t.Errorf("%d notices were seen, the last of them %+v", len(seen), seen[len(seen)-1])
	}
}

// dripping is a network that brings answers byte by byte.
type dripping struct{}

// RoundTrip makes a request over the network that there is.
func (dripping) RoundTrip(r *http.Request) (*http.Response, error) {
	response, err := http.DefaultTransport.RoundTrip(r)
	if err == nil {
		response.Body = struct {
			io.Reader
			io.Closer
		}{iotest.OneByteReader(response.Body), response.Body}
	}
	return response, err
}

// TestCallsAreToldFromBeginningToEnd tests that each call has one notice of its beginning and one of its end, with any
// result. While its reply arrives, there is at most one notice a second.
func TestCallsAreToldFromBeginningToEnd(t *testing.T) {
	t.Parallel()
	s := newStage(t, story{threads: 2, scenes: 3},
		scripted.Options{Strict: true, Fault: func(n int, _ scripted.Request) *scripted.Fault {
			if n%4 == 1 {
				return &scripted.Fault{Status: 500}
			}
			return nil
		}})
	s.transport = dripping{}
	r := s.runner("told")
	now := time.Unix(1_800_000_000, 0)
	r.Client.Now = func() time.Time { // time passes whenever somebody looks
		now = now.Add(70 * time.Millisecond)
		return now
	}
	var call annotator.Notice // that is under way
	begun, ended, streamed, failed := 0, 0, 0, 0
	s.bus.Subscribe(func(n annotator.Notice) {
		same := n.Purpose == call.Purpose && n.Attempt == call.Attempt
		switch n.Kind {
		case annotator.NoticeCalling:
			if begun++; call.Kind != "" || n.Purpose == "" || n.Attempt == 0 || n.Usage.Prompt == 0 || n.Usage.Exact {
				t.Errorf("behind %+v begins %+v", call, n)
			}
			call = n
		case annotator.NoticeStream:
			if streamed++; !same || n.Bytes <= call.Bytes || n.Duration-call.Duration < time.Second {
				t.Errorf("behind %+v goes on %+v", call, n)
			}
			call = n
		case annotator.NoticeCall:
			if ended++; !same || (n.Reason == "") != (n.Decision == "") || n.Reason == "" && n.Usage.Prompt == 0 {
				t.Errorf("behind %+v ends %+v", call, n)
			}
			if n.Reason != "" {
				failed++
			}
			call = annotator.Notice{}
		}
	})
	if err := r.Run(context.Background()); err != nil {
		t.Fatal(err)
	}
	if begun < 12 || ended != begun || streamed < begun || failed == 0 {
		t.Errorf("%d calls begun, %d ended, %d of them in failure; %d notices of streams", begun, ended, failed,
			streamed)
	}
}
