package faults_test

import (
	"bytes"
	"context"
	"database/sql"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"annotator"
	"annotator/corpus"
	"annotator/model"
	"annotator/model/anthropic"
	"annotator/model/endpoint"
	"annotator/model/gemini"
	"annotator/model/openai"
	"annotator/model/responses"
	"annotator/policy"
	"annotator/runner"
	"annotator/storage"
	"annotator/tools"
)

// wire is a form of API.
type wire struct {
	name string
	path string // of its base URL
	dial func(endpoint.Options) (client, error)
}

type client interface {
	model.Wire
	Close()
}

// wires returns all wires. Every cell is tried with the first.
func wires() []*wire {
	return []*wire{
		{"chat", "/v1", dial(openai.New)},
		{"responses", "/v1", dial(responses.New)},
		{"anthropic", "/v1", dial(anthropic.New)},
		{"gemini", "/v1beta", dial(gemini.New)},
	}
}

func dial[C client](open func(endpoint.Options) (C, error)) func(endpoint.Options) (client, error) {
	return func(o endpoint.Options) (client, error) { return open(o) }
}

// program is a run of the program: its story, its database and its endpoint.
type program struct {
	corpus, db string
	wire       *wire
	server     string // without the wire's path
	config     runner.Config
	network    http.RoundTripper
	watcher    runner.Publisher
	clock      func() time.Time // nil: the machine's
}

type watcher func(annotator.Notice)

// Publish implements runner.Publisher.
func (w watcher) Publish(n annotator.Notice) { w(n) }

// run reads the story and returns the result.
func (p *program) run(ctx context.Context) error {
	now := p.clock
	if now == nil {
		now = time.Now
	}
	store, err := storage.OpenWriter(ctx, p.db, "the catalogue", now)
	if err != nil {
		return err
	}
	defer func() { _ = store.Close() }()
	source, err := corpus.Open(ctx, p.corpus)
	if err != nil {
		return err
	}
	defer func() { _ = source.Close() }()
	wire, err := p.wire.dial(endpoint.Options{BaseURL: p.server + p.wire.path, HTTP: p.network, Now: now})
	if err != nil {
		return err
	}
	defer wire.Close()
	offered := tools.Standard()
	if p.config.Governance != policy.Off {
		offered = tools.WithPolicy(policy.Default(), offered)
	}
	registry, err := tools.New(offered...)
	if err != nil {
		return err
	}
	p.config.Endpoint = p.server
	r := runner.New(p.config, store, source, wire, registry, p.watcher)
	r.Client.Now, r.Client.Random = now, func() float64 { return 0.5 }
	return r.Run(ctx)
}

// plain is a configuration as short as the story, in which the model is asked of scenes only.
func plain() runner.Config {
	config := runner.Defaults()
	config.ContextBudget = 32_768
	config.MaxTokens, config.SafetyMargin, config.Curator.Off, config.Governance = 600, 64, true, policy.Off
	config.NoThreadSummaries = true
	return config
}

// session is the program in the synctest bubble of a cell, where time advances as soon as every goroutine waits.
type session struct {
	program

	t          *testing.T
	ways       ways
	transport  *transport // of the newest run
	asked      int        // requests for a reply, of all runs
	unanswered int        // of those, without an answer
	aside      *sql.DB    // another connection to the database
}

// run reads the story with a server that has the trouble, and returns the result.
func (s *session) run(trouble *trouble) error {
	ctx, enough := context.WithCancelCause(context.Background())
	defer enough(nil)
	listener := &pipes{conns: make(chan net.Conn), closed: make(chan struct{})}
	s.transport = &transport{
		t: s.t, ways: s.ways, trouble: trouble, enough: enough,
		home: &http.Transport{DialContext: listener.dial, DisableCompression: true},
	}
	s.network = s.transport
	server := &http.Server{Handler: s.transport.watched(trouble.server())}
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = server.Serve(listener)
	}()
	err := s.program.run(ctx)
	s.transport.home.CloseIdleConnections()
	_ = server.Close()
	<-done
	s.asked += s.transport.asked
	s.unanswered += s.transport.unanswered
	return err
}

// transport sends requests of a run to its server. It counts them, and applies faults.
type transport struct {
	t       *testing.T
	home    *http.Transport
	ways    ways
	trouble *trouble
	enough  context.CancelCauseFunc // ends the run

	mu         sync.Mutex
	asked      int // replies
	unanswered int // of those, without an answer
	flying     int // requests that the server is processing
}

// RoundTrip sends a request to the server, or to its fault.
func (l *transport) RoundTrip(req *http.Request) (*http.Response, error) {
	if !asksReply(req) {
		return l.home.RoundTrip(req)
	}
	body, err := io.ReadAll(req.Body)
	if err != nil {
		return nil, err
	}
	_ = req.Body.Close()
	req = req.Clone(req.Context())
	req.Body = io.NopCloser(bytes.NewReader(body))
	l.count(req.Header, body)
	if way := l.trouble.marked(req.Header).way; way != 0 {
		return l.ways[way].RoundTrip(req)
	}
	response, err := l.home.RoundTrip(req)
	if err != nil {
		l.mu.Lock()
		l.unanswered++
		l.mu.Unlock()
	}
	return response, err
}

func (l *transport) count(header http.Header, body []byte) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.asked++; l.asked > mostRequests {
		l.enough(fmt.Errorf("the run has asked %d times", l.asked))
	}
	l.trouble.strikes(header, body)
}

// asksReply reports whether the model answers a request, and not only the server.
func asksReply(req *http.Request) bool {
	path := req.URL.Path
	return req.Method == http.MethodPost && (strings.HasSuffix(path, "/chat/completions") ||
		strings.HasSuffix(path, "/messages") ||
		strings.HasSuffix(path, "/responses") || strings.Contains(path, "enerateContent"))
}

// watched fails if the server processes two requests of one story at the same time. The server may need a moment to
// notice that the client has closed the previous connection.
func (l *transport) watched(server http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if l.fly(1) > 1 {
			synctest.Wait()
			if l.fly(0) > 1 {
				l.t.Error("the server works on two requests at once")
			}
		}
		defer l.fly(-1)
		server.ServeHTTP(w, r)
	})
}

func (l *transport) fly(by int) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.flying += by
	return l.flying
}

// pipes is a listener in memory.
type pipes struct {
	conns  chan net.Conn
	closed chan struct{}
	once   sync.Once
}

func (p *pipes) dial(ctx context.Context, _, _ string) (net.Conn, error) {
	near, far := net.Pipe()
	select {
	case p.conns <- far:
		return near, nil
	case <-p.closed:
		return nil, net.ErrClosed
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// Accept waits for the next connection.
func (p *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.conns:
		return c, nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}

// Close ends the listening.
func (p *pipes) Close() error {
	p.once.Do(func() { close(p.closed) })
	return nil
}

// Addr names the pipes.
func (*pipes) Addr() net.Addr { return &net.UnixAddr{Name: "pipes", Net: "unix"} }
