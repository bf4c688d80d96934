package endpoint_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"annotator"
	"annotator/internal/wiretest"
	"annotator/model"
	"annotator/model/endpoint"
)

func TestRetryAfterOfAStream(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 20, 10, 0, 0, 0, time.UTC)
	for value, want := range map[string]time.Duration{
		"7":                             7 * time.Second,
		"Fri, 20 Nov 2026 10:00:30 GMT": 30 * time.Second,
	} {
		c := newClient(t, endpoint.Options{Now: func() time.Time {
			return now
		}, HTTP: wiretest.Network(func(*http.Request) (*http.Response, error) {
			r := wiretest.Response(429, "", strings.NewReader(""))
			r.Header.Set("Retry-After", value)
			return r, nil
		})})
		reply, err := ask(t.Context(), c)
		if f := wiretest.Fault(t, reply, err); f.RetryAfter != want {
			t.Errorf("%s: retry after %v, want %v", value, f.RetryAfter, want)
		}
	}
}

// TestConnectionFailuresAreTransient: failures of connections are transient faults.
func TestConnectionFailuresAreTransient(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name  string
		serve http.HandlerFunc
		want  annotator.Kind
	}{
		{"no headers", func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, annotator.Transient},
		{"cut chunks", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/event-stream")
			_, _ = io.WriteString(w, wiretest.Events("{}"))
			_ = http.NewResponseController(w).Flush()
			panic(http.ErrAbortHandler)
		}, annotator.Transient},
		{"short body", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			w.Header().Set("Content-Length", "1000")
			_, _ = io.WriteString(w, `{"choices":[]}`)
		}, annotator.Transient},
		{"redirect", func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "http://elsewhere.test/v1?api_key=secret", http.StatusTemporaryRedirect)
		}, annotator.Unsafe},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			reply, err := ask(t.Context(), serve(t, endpoint.Options{}, test.serve))
			f := wiretest.Fault(t, reply, err)
			if f.Kind != test.want || strings.Contains(f.Error(), "secret") {
				t.Errorf("%v is %q, want %q", f, f.Kind, test.want)
			}
		})
	}
}

func TestNobodyAnswers(t *testing.T) {
	t.Parallel()
	c := newClient(t, endpoint.Options{BaseURL: "http://127.0.0.1:1/v1"})
	reply, err := ask(t.Context(), c)
	if f := wiretest.Fault(t, reply, err); f.Kind != annotator.Unreachable || f.Reason != annotator.ReasonUnreachable {
		t.Errorf("%v is %q with the reason %q", f, f.Kind, f.Reason)
	}
}

// slow is a body with pauses between its pieces.
type slow struct {
	ctx    context.Context
	pieces []string
	pause  time.Duration // before each piece
	last   time.Duration // before the last piece, in place of it; 0: the same
}

func (s *slow) Read(p []byte) (int, error) {
	if len(s.pieces) == 0 {
		return 0, io.EOF
	}
	pause := s.pause
	if len(s.pieces) == 1 && s.last > 0 {
		pause = s.last
	}
	select {
	case <-time.After(pause):
	case <-s.ctx.Done():
		return 0, s.ctx.Err()
	}
	n := copy(p, s.pieces[0])
	s.pieces = s.pieces[1:]
	return n, nil
}

// TestSilenceEndsACall: a call ends when one of its time limits for a token has passed.
func TestSilenceEndsACall(t *testing.T) {
	t.Parallel()
	chunks := []string{wiretest.Events("{}"), ": ping\n", wiretest.Events("{}", "[DONE]")}
	forEver := slices.Repeat(chunks[:2], 5000)
	pings := slices.Repeat([]string{": ping\n\n", "data:\n\n", " "}, 5000)
	stray := slices.Repeat([]string{"x"}, 15_000)
	object := append([]string{"{"}, stray...)
	token := chunks[:1]
	tests := []struct {
		name          string
		pieces        []string
		headers, body time.Duration
		want          time.Duration // of the whole call
		said          string        // of the fault; empty for a reply
	}{
		{"slow but steady", chunks, 50 * time.Second, 2 * time.Second, 56 * time.Second, ""},
		{"no headers", chunks, 2 * time.Minute, 0, time.Minute, "sent no token of a reply for 1m0s"},
		{
			"headers, then nothing", chunks, time.Second, 2 * time.Minute, time.Minute,
			"sent no token of a reply for 1m0s",
		},
		{
			"stalls between pieces", chunks, time.Second, 30 * time.Second, 36 * time.Second,
			"sent no token for 5s, in the middle",
		},
		{
			"nothing but keep-alives", pings, time.Second, 4 * time.Second, time.Minute,
			"sent no token of a reply for 1m0s",
		},
		{
			"keep-alives behind a token", slices.Concat(token, pings), time.Second, 4 * time.Second, 10 * time.Second,
			"sent no token for 5s",
		},
		{
			"nothing but stray bytes", stray, time.Second, 4 * time.Second, time.Minute,
			"sent no token of a reply for 1m0s",
		},
		{
			"stray bytes behind a token", slices.Concat(token, stray), time.Second, 4 * time.Second, 10 * time.Second,
			"sent no token for 5s",
		},
		{
			"an object, byte by byte", object, time.Second, 4 * time.Second, time.Minute,
			"sent no token of a reply for 1m0s",
		},
		{
			"goes on for ever", forEver, time.Second, 2 * time.Second, 4 * time.Hour,
			"did not come to the end of its answer in 4h",
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				began := time.Now()
				c := newClient(t, endpoint.Options{
					FirstToken: time.Minute, NextToken: 5 * time.Second,
					HTTP: wiretest.Network(func(r *http.Request) (*http.Response, error) {
						select {
						case <-time.After(test.headers):
						case <-r.Context().Done():
							return nil, context.Cause(r.Context())
						}
						return wiretest.Response(200, "text/event-stream",
							&slow{ctx: r.Context(), pieces: test.pieces, pause: test.body}), nil
					}),
				})
				reply, err := ask(t.Context(), c)
				if took := time.Since(began); took != test.want {
					t.Errorf("took %v, want %v", took, test.want)
				}
				if test.said == "" {
					if err != nil || reply.FirstByte != test.headers || reply.Duration != test.want {
						t.Errorf("%+v, %v", reply, err)
					}
					return
				}
				f := wiretest.Fault(t, reply, err)
				if f.Kind != annotator.Transient || !strings.Contains(f.Error(), test.said) ||
					errors.Is(f, context.Canceled) {
					t.Errorf("%v is %q", f, f.Kind)
				}
			})
		})
	}
}

// TestSilenceByDefault: by default a server has a quarter of an hour for the first token, and two minutes for each
// further one. Silence is reported once a minute.
func TestSilenceByDefault(t *testing.T) {
	t.Parallel()
	token := wiretest.Events("1")
	for _, test := range []struct {
		name    string
		pieces  []string
		pause   time.Duration
		want    time.Duration
		said    string
		reports []string // of the silence
	}{
		{
			"nothing", nil, time.Hour, 15 * time.Minute, "sent no token of a reply for 15m0s",
			[]string{"1m0s of 15m0s", "2m0s of 15m0s", "3m0s of 15m0s"},
		},
		{
			"a token, then nothing",
			[]string{token},
			50 * time.Second, 170 * time.Second, "sent no token for 2m0s",
			[]string{"1m0s of 2m0s"},
		},
		{
			"a slow drip of tokens", slices.Repeat([]string{token}, 5000), 100 * time.Second, 245 * time.Second,
			"sent only 5 bytes of a reply in 4m5s",
			[]string{"1m0s of 15m0s", "1m0s of 2m0s"},
		},
		{
			"a drip of stray bytes", slices.Repeat([]string{"x"}, 5000), 100 * time.Second, 15 * time.Minute,
			"sent no token of a reply for 15m0s",
			[]string{"1m0s of 15m0s"},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				c := newClient(t,
					endpoint.Options{HTTP: wiretest.Network(func(r *http.Request) (*http.Response, error) {
						body := &slow{ctx: r.Context(), pieces: append(test.pieces, ""), pause: test.pause}
						if len(test.pieces) == 1 {
							body.last = time.Hour
						}
						return wiretest.Response(200, "text/event-stream", body), nil
					})})
				var reports []string
				call := endpoint.Call{
					URL: c.BaseURL() + "/ask", Stream: true,
					OnSilence: func(silent, limit time.Duration) {
						reports = append(reports, fmt.Sprintf("%s of %s", silent, limit))
					},
				}
				began := time.Now()
				reply, err := c.Complete(t.Context(), &call, new(recorder))
				took := time.Since(began)
				f := wiretest.Fault(t, reply, err)
				if took != test.want || f.Code != model.CodeSilent || f.Kind != annotator.Transient ||
					!strings.Contains(f.Error(), test.said) {
					t.Errorf("after %v, want %v: %v", took, test.want, f)
				}
				for _, want := range test.reports {
					if !slices.Contains(reports, want) {
						t.Errorf("%s is not among the reports: %q", want, reports)
					}
				}
			})
		})
	}
}

// TestCancelClosesTheConnection: cancelling a call in the middle of a reply closes the connection.
func TestCancelClosesTheConnection(t *testing.T) {
	t.Parallel()
	closed := make(chan struct{})
	ctx, cancel := context.WithCancelCause(t.Context())
	c := serve(t, endpoint.Options{}, func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		_, _ = io.WriteString(w, wiretest.Events("{}"))
		_ = http.NewResponseController(w).Flush()
		cancel(errors.New("second signal"))
		<-r.Context().Done()
		close(closed)
	})
	reply, err := ask(ctx, c)
	if f := wiretest.Fault(t, reply, err); f.Kind != annotator.Interrupted || !errors.Is(f, context.Canceled) {
		t.Errorf("%v is %q", f, f.Kind)
	}
	waitFor(t, closed)
}

// waitFor waits until a server sees that the client has closed the connection.
func waitFor(t *testing.T, closed <-chan struct{}) {
	t.Helper()
	select {
	case <-closed:
	case <-time.After(20 * time.Second):
		t.Error("the server still works for nobody")
	}
}

// TestHTTP2: over HTTP/2, a reply is read, and a call can be cancelled in the middle of one.
func TestHTTP2(t *testing.T) {
	t.Parallel()
	closed := make(chan struct{})
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.ProtoMajor != 2 {
			t.Errorf("spoken to in %s", r.Proto)
		}
		_, _ = io.Copy(io.Discard, r.Body)
		_, _ = io.WriteString(w, wiretest.Events("{}"))
		_ = http.NewResponseController(w).Flush()
		if r.URL.Path == "/v1/stall/ask" {
			<-r.Context().Done()
			close(closed)
		}
	}))
	server.EnableHTTP2 = true
	server.StartTLS()
	t.Cleanup(server.Close)
	c := newClient(t, endpoint.Options{BaseURL: server.URL + "/v1", HTTP: server.Client().Transport})
	if reply, err := ask(t.Context(), c); err != nil || reply.Text != "|{}" {
		t.Errorf("%+v, %v", reply, err)
	}
	c = newClient(t, endpoint.Options{
		BaseURL: server.URL + "/v1/stall", HTTP: server.Client().Transport,
		NextToken: 50 * time.Millisecond,
	})
	reply, err := ask(t.Context(), c)
	if f := wiretest.Fault(t, reply, err); f.Kind != annotator.Transient || f.Code != model.CodeSilent {
		t.Errorf("%v is %q", f, f.Kind)
	}
	waitFor(t, closed)
}

// TestConnectionIsUsedAgain: several replies come over one connection.
func TestConnectionIsUsedAgain(t *testing.T) {
	t.Parallel()
	var remotes sync.Map
	c := serve(t, endpoint.Options{}, func(w http.ResponseWriter, r *http.Request) {
		remotes.Store(r.RemoteAddr, nil)
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, wiretest.Events("{}", "[DONE]"))
		_ = http.NewResponseController(w).Flush()
		time.Sleep(5 * time.Millisecond) // the end of the body comes in a packet of its own
	})
	for range 4 {
		if _, err := ask(t.Context(), c); err != nil {
			t.Fatal(err)
		}
	}
	connections := 0
	for range remotes.Range {
		connections++
	}
	if connections == 4 { // on a machine that is busy beyond measure, one may not be waited for
		t.Error("each of 4 replies takes a connection of its own")
	}
}

// TestConnectionClosedDespiteKeepAlive: no call fails if a server closes each connection after a stream, against its
// own header. llama.cpp does so.
func TestConnectionClosedDespiteKeepAlive(t *testing.T) {
	t.Parallel()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	var met atomic.Int32
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			go func() {
				defer conn.Close()
				in := bufio.NewReader(conn)
				r, err := http.ReadRequest(in)
				if err != nil {
					return
				}
				_, _ = io.Copy(io.Discard, r.Body)
				if r.Header.Values("Idempotency-Key") != nil {
					t.Error("a key is sent")
				}
				events := wiretest.Events("{}", "[DONE]")
				_, _ = fmt.Fprintf(conn, "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nKeep-Alive: "+
					"timeout=5, max=100\r\n"+
					"Content-Length: %d\r\n\r\n%s", len(events), events)
				if _, err := in.Peek(1); err == nil { // the next request is cut off
					met.Add(1)
				}
			}()
		}
	}()
	c := newClient(t, endpoint.Options{BaseURL: "http://" + listener.Addr().String() + "/v1"})
	for range 5 {
		if _, err := ask(t.Context(), c); err != nil {
			t.Fatal(err)
		}
	}
	if met.Load() == 0 {
		t.Error("no connection was used again")
	}
}

// TestKeyIsNotShown: wherever a server returns the key, nothing that is kept contains it.
func TestKeyIsNotShown(t *testing.T) {
	t.Parallel()
	const key = "sk-canary-0123456789"
	echo := func(status int, media, body string) http.RoundTripper {
		return wiretest.Network(func(r *http.Request) (*http.Response, error) {
			got := r.Header.Get("Authorization")
			w := wiretest.Response(status, media, strings.NewReader(strings.ReplaceAll(body, "KEY", got)))
			w.Header.Set("Location", "http://"+key+".test/?k="+got)
			w.Header.Set("X-Echo", got)
			return w, nil
		})
	}
	padding := strings.Repeat("x", 380) // to have the key where the message is cut
	transports := map[string]http.RoundTripper{
		"error":         echo(401, "application/json", `{"error":{"message":"KEY","type":"KEY","param":"KEY"}}`),
		"long error":    echo(401, "application/json", `{"error":"`+padding+`KEY"}`),
		"plain error":   echo(500, "text/plain", "KEY"),
		"redirect":      echo(302, "", "KEY"),
		"page":          echo(200, "text/html", "<p>KEY</p>"),
		"error frame":   echo(200, "text/event-stream", wiretest.Events("{}", `{"error":"KEY"}`)),
		"broken frame":  echo(200, "text/event-stream", wiretest.Events("KEY")),
		"broken object": echo(200, "application/json", `{"choices":KEY`),
		"no reply at all": wiretest.Network(func(*http.Request) (*http.Response, error) {
			return nil, fmt.Errorf("malformed HTTP response %q", key)
		}),
		"reply": echo(200, "text/event-stream", ": KEY\n"+wiretest.Events(`{"text":"KEY"}`)),
	}
	for name, transport := range transports {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := newClient(t, endpoint.Options{Key: key, HTTP: transport})
			reply, err := ask(t.Context(), c)
			shown := fmt.Sprintf("%v %+v", err, reply)
			if reply != nil {
				shown += string(reply.Raw)
			} else {
				f := wiretest.Fault(t, reply, err)
				shown += fmt.Sprintf("%+v %s %v %+v", *f, f.Raw, f.Err, errors.Unwrap(f.Err))
			}
			if strings.Contains(shown, "canary") {
				t.Errorf("the key is shown: %s", shown)
			}
		})
	}
}
