package conformance_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/iotest"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"annotator"
	"annotator/internal/longtest"
	"annotator/internal/scripted"
	"annotator/internal/wiretest"
	"annotator/model"
)

// cutAnywhere ends a stream after each of its bytes: the result is the whole reply or an error.
func cutAnywhere(t *testing.T, w wire) {
	server := scripted.Start(t, scripted.Options{Script: func(scripted.Request) scripted.Reply {
		return scripted.Reply{
			Text: "Dämmerung \U0001F305 over the bay", Reasoning: "hm",
			ToolCalls: []annotator.ToolCall{
				{ID: "a00000001", Name: "search", Arguments: `{"q":"a long way down to the harbour of Mikonos"}`},
				{ID: "a00000002", Name: "read", Arguments: `{"id":7}`},
			},
		}
	}})
	var body []byte
	want, err := ask(t.Context(), w.connect(t, server), true)
	if err != nil {
		t.Fatal(err)
	}
	body = want.Raw
	ignored := cmpopts.IgnoreFields(model.Reply{}, "Usage")
	n := 0
	c := w.answered(t, func(*http.Request) (*http.Response, error) {
		return stream(iotest.OneByteReader(bytes.NewReader(body[:n]))), nil
	})
	step := longtest.Pick(13, 1)
	for n = len(body); n >= 0; n -= step {
		got, err := ask(t.Context(), c, true)
		if err != nil {
			if f := wiretest.Fault(t, got, err); f.Kind != annotator.Malformed || n == len(body) {
				t.Fatalf("cut at %d of %d: %v is %q", n, len(body), f, f.Kind)
			}
			continue
		}
		if diff := cmp.Diff(want, got, wiretest.Unmeasured(), ignored); diff != "" {
			t.Fatalf("cut at %d of %d there is half a reply: %s", n, len(body), diff)
		}
	}
}

// connectionCut breaks real connections: before the status, in the body, in the middle of a stream.
func connectionCut(t *testing.T, w wire) {
	for _, at := range []int{-1, 1, 40, 150} {
		for _, stream := range []bool{true, false} {
			server := scripted.Start(t, scripted.Options{Fault: func(int,
				scripted.Request,
			) *scripted.Fault {
				return &scripted.Fault{Cut: at}
			}})
			reply, err := ask(t.Context(), w.connect(t, server), stream)
			if f := wiretest.Fault(t, reply, err); f.Kind != annotator.Transient && f.Kind != annotator.Malformed {
				t.Errorf("cut at %d, stream %v: %v is %q", at, stream, f, f.Kind)
			}
		}
	}
}

// faults have the fields that the retry policy uses, streamed and not.
func faults(t *testing.T, w wire) {
	tests := []struct {
		name  string
		fault scripted.Fault
		want  annotator.Kind
	}{
		{"key refused", scripted.Fault{Status: 401, Body: w.noKey}, annotator.Misconfigured},
		{
			"too many requests",
			scripted.Fault{Status: 429, Body: w.busy, Header: http.Header{"Retry-After": {"7"}}},
			annotator.Overloaded,
		},
		{"overloaded", scripted.Fault{Status: 529, Body: `{}`}, annotator.Overloaded},
		{"unavailable", scripted.Fault{Status: 503}, annotator.Overloaded},
		{"gateway", scripted.Fault{
			Status: 502, Body: "<html>Bad Gateway</html>",
			Header: http.Header{"Content-Type": {"text/html"}},
		}, annotator.Transient},
		{"no such path", scripted.Fault{Status: 404, Body: `{"detail":"Not Found"}`}, annotator.Misconfigured},
		{
			"redirect",
			scripted.Fault{Status: 307, Header: http.Header{"Location": {"http://elsewhere.test/"}}},
			annotator.Unsafe,
		},
		{"page in place of a reply", scripted.Fault{
			Status: 200, Body: "<html>log in</html>",
			Header: http.Header{"Content-Type": {"text/html"}},
		}, annotator.Transient},
		{"error in a stream", scripted.Fault{
			Body:   w.broken,
			Header: http.Header{"Content-Type": {"text/event-stream"}},
		}, annotator.Transient},
		{"empty object", scripted.Fault{Status: 200, Body: "{}"}, annotator.Malformed},
		{"no JSON", scripted.Fault{Status: 200, Body: `{"`}, annotator.Malformed},
		{"nothing", scripted.Fault{Status: 200, Header: http.Header{"Content-Length": {"0"}}}, annotator.Malformed},
	}
	for _, test := range tests {
		for _, stream := range []bool{true, false} {
			server := scripted.Start(t, scripted.Options{Fault: func(int,
				scripted.Request,
			) *scripted.Fault {
				return &test.fault
			}})
			reply, err := ask(t.Context(), w.connect(t, server), stream)
			f := wiretest.Fault(t, reply, err)
			if f.Kind != test.want || f.Status == 0 || f.Header == nil {
				t.Errorf("%s, stream %v: %v is %q, want %q", test.name, stream, f, f.Kind, test.want)
			}
			if test.name == "too many requests" && f.RetryAfter != 7*time.Second {
				t.Errorf("retry after %v", f.RetryAfter)
			}
		}
	}
	t.Run("prompt too long", func(t *testing.T) {
		t.Parallel()
		c := newTalk(t, w.connect(t, scripted.Start(t, scripted.Options{MaxModelLen: 600})))
		c.user(t, repeat("a scene ", 4000))
		reply, err := c.client.Complete(t.Context(), c.request(true))
		if f := wiretest.Fault(t, reply, err); f.Kind != annotator.PromptTooLong {
			t.Errorf("%v is %q", f, f.Kind)
		}
	})
}

// cutByItsLimit: a reply at its token limit has the same finish reason on every wire.
func cutByItsLimit(t *testing.T, w wire) {
	server := scripted.Start(t,
		scripted.Options{Script: func(scripted.Request) scripted.Reply {
			return scripted.Reply{Text: repeat("Dawn. ",
				4000)}
		}})
	c := newTalk(t, w.connect(t, server))
	c.user(t, "hi")
	for _, stream := range []bool{true, false} {
		if reply := c.complete(t, stream); reply.Finish != "length" || reply.Usage.Completion != 500 {
			t.Errorf("stream %v: %q after %+v", stream, reply.Finish, reply.Usage)
		}
	}
	for _, word := range []string{"content_filter", "something new"} {
		server := scripted.Start(t, scripted.Options{Script: func(scripted.Request) scripted.Reply {
			return scripted.Reply{Text: "I cannot", FinishReason: word}
		}})
		for _, stream := range []bool{true, false} {
			reply, err := ask(t.Context(), w.connect(t, server), stream)
			if err != nil || word == "content_filter" && reply.Finish != word || reply.Finish == "" ||
				reply.Finish == "stop" {
				t.Errorf("%s, stream %v: %+v, %v", word, stream, reply, err)
			}
		}
	}
}

// keepsItsKey: the server echoes the key in every way, and no stored text contains it.
func keepsItsKey(t *testing.T, w wire) {
	for _, status := range []int{200, 307, 400, 401, 500} {
		for _, media := range []string{"application/json", "text/event-stream", "text/plain"} {
			c := w.answered(t, func(r *http.Request) (*http.Response, error) {
				sent := fmt.Sprint(r.Header)
				if !strings.Contains(sent, canary) || strings.Contains(r.URL.String(), canary) {
					t.Errorf("the key is not in a header: %s", r.URL)
				}
				answer := stream(strings.NewReader(`{"error":{"message":"no such key: ` + canary + `","type":"` +
					canary + `"}}`))
				answer.StatusCode, answer.Header = status, http.Header{
					"Content-Type": {media}, "X-Echo": {canary},
					"Location": {"http://" + canary + ".test"},
				}
				return answer, nil
			})
			reply, err := ask(t.Context(), c, true)
			f := wiretest.Fault(t, reply, err)
			if shown := fmt.Sprintf("%v %+v %s %v", err, *f, f.Raw, f.Err); strings.Contains(shown, "canary") {
				t.Errorf("%d %s: %s", status, media, shown)
			}
			if _, err := c.Models(t.Context()); err == nil || strings.Contains(err.Error(), "canary") {
				t.Errorf("%d %s: %v", status, media, err)
			}
		}
	}
}

// cancels a call during its answer: the server sees the connection close.
func cancels(t *testing.T, w wire) {
	closed := make(chan struct{})
	ctx, cancel := context.WithCancelCause(t.Context())
	server := scripted.Start(t, scripted.Options{Fault: func(int, scripted.Request) *scripted.Fault {
		return &scripted.Fault{Serve: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "text/event-stream")
			_, _ = io.WriteString(w, ": ping\n\n")
			_ = http.NewResponseController(w).Flush()
			cancel(errors.New("a signal"))
			<-r.Context().Done()
			close(closed)
		})}
	}})
	reply, err := ask(ctx, w.connect(t, server), true)
	if f := wiretest.Fault(t, reply, err); f.Kind != annotator.Interrupted || !errors.Is(f, context.Canceled) {
		t.Errorf("%v is %q", f, f.Kind)
	}
	select {
	case <-closed:
	case <-time.After(20 * time.Second):
		t.Error("the server still works for nobody")
	}
}

// endless is a body that never ends.
type endless struct{ text []byte }

func (e endless) Read(p []byte) (n int, err error) {
	for n < len(p) {
		n += copy(p[n:], e.text)
	}
	return n, nil
}

// endlessAnswer: the size of an answer is limited, and a longer one is an error.
func endlessAnswer(t *testing.T, w wire) {
	for name, body := range map[string]io.Reader{
		"keep-alives": endless{[]byte(": ping" + strings.Repeat(" ", 1<<10) + "\n\n")},
		"one line":    io.MultiReader(strings.NewReader("data: "), endless{[]byte("x")}),
	} {
		c := w.answered(t, func(*http.Request) (*http.Response, error) { return stream(body), nil })
		reply, err := ask(t.Context(), c, true)
		if f := wiretest.Fault(t, reply, err); f.Kind != annotator.Refused || len(f.Raw) > model.RawLimit {
			t.Errorf("%s: %v is %q", name, f, f.Kind)
		}
	}
}

// endlessLoop: a reply that repeats itself is cut off before it is complete.
func endlessLoop(t *testing.T, w wire) {
	body := strings.NewReader(w.begins + repeat(w.goesOn, 4<<20))
	c := w.answered(t, func(*http.Request) (*http.Response, error) { return stream(body), nil })
	reply, err := ask(t.Context(), c, true)
	if f := wiretest.Fault(t, reply, err); f.Code != model.CodeStuck || f.Kind != annotator.Malformed ||
		len(f.Raw) == 0 {
		t.Errorf("%v is %q (%s), with %d bytes of it", f, f.Kind, f.Code, len(f.Raw))
	}
	if body.Len() < 3<<20 {
		t.Errorf("it was listened to for %d bytes", body.Size()-int64(body.Len()))
	}
}

// onlyTokensCount: tokens extend a call beyond the timeout of the first, and other bytes do not.
func onlyTokensCount(t *testing.T, w wire) {
	synctest.Test(t, func(t *testing.T) {
		c := w.answered(t, func(r *http.Request) (*http.Response, error) {
			body, to := io.Pipe()
			go func() {
				_, _ = io.WriteString(to, w.begins)
				for n := 0; r.Context().Err() == nil; n++ {
					event := ": ping\n\n"
					if n < 60 {
						event = w.goesOn
					}
					time.Sleep(20 * time.Second)
					_, _ = io.WriteString(to, event)
				}
			}()
			context.AfterFunc(r.Context(), func() { _ = to.CloseWithError(r.Context().Err()) })
			return stream(body), nil
		})
		began := time.Now()
		reply, err := ask(t.Context(), c, true)
		f := wiretest.Fault(t, reply, err)
		if took := time.Since(began); took != 22*time.Minute || f.Code != model.CodeSilent ||
			!strings.Contains(f.Error(), "no token for 2m0s") {
			t.Errorf("after %s: %v", took, f)
		}
		time.Sleep(time.Minute) // the server sees that nobody listens
	})
}
