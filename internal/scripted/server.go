package scripted

import (
	"cmp"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"

	"annotator"
)

// Options are the options of a server. The zero value is a lenient server with the script Annotate.
type Options struct {
	Model       string // the model that it serves; default "scripted"
	MaxModelLen int    // tokens of prompt and reply together; default 131,072
	Script      Script // what the model answers; Annotate where nil

	// Strict refuses requests that the strictest chat template would refuse. See Server.Violations.
	Strict bool

	// Template renders conversations as a chat template does; nil renders all messages.
	Template Template

	// Fault is called first for each valid request. If it returns nil, the answer is the regular one. call counts from
	// 1.
	Fault func(call int, r Request) *Fault

	// OnRequest is called with each valid request, before it is answered. Concurrent requests call it concurrently.
	OnRequest func(Request)

	// Pace gives the server slots, times and a bounded cache. Without, it answers at once and evicts nothing.
	Pace *Pace

	// Keep stores every valid request, for Server.Requests. It holds whole bodies in memory.
	Keep bool
}

// Server is an http.Handler with the routes of every wire. Chat completions are below /v1, with POST /tokenize, GET
// /health and GET /metrics, as in vLLM. The routes of other wires are those of their APIs. It may serve many requests
// at the same time.
type Server struct {
	URL string // without /v1; set by Start, else empty

	options Options
	mux     *http.ServeMux
	pacer   *pacer // nil: without a pace

	mu         sync.Mutex
	calls      int
	kept       []Request
	violations []Violation
	cache      prefixCache
	usage      annotator.Usage
}

// New returns a server that does not listen, for an http.Server or httptest.
func New(options Options) *Server {
	options.Model = cmp.Or(options.Model, "scripted")
	options.MaxModelLen = cmp.Or(options.MaxModelLen, 131_072)
	if options.Script == nil {
		options.Script = Annotate
	}
	s := &Server{options: options, mux: http.NewServeMux(), cache: newPrefixCache(), pacer: newPacer(options.Pace)}
	s.mux.HandleFunc("POST /v1/chat/completions", s.serve(chat{}))
	s.mux.HandleFunc("POST /v1/responses", s.serve(responses{}))
	s.mux.HandleFunc("POST /v1/messages", s.serve(anthropic{}))
	s.mux.HandleFunc("POST /v1/messages/count_tokens", s.serveMessageTokens)
	s.mux.HandleFunc("GET /v1/models", s.serveEitherModels)
	s.mux.HandleFunc("POST /v1beta/models/{call}", s.serveGemini)
	s.mux.HandleFunc("GET /v1beta/models", s.serveModels(gemini{}))
	s.mux.HandleFunc("POST /tokenize", s.serveTokenize)
	s.mux.HandleFunc("GET /health", func(http.ResponseWriter, *http.Request) {})
	s.mux.HandleFunc("GET /metrics", s.serveMetrics)
	s.mux.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) {
		writeJSON(w, http.StatusNotFound, map[string]string{"detail": "Not Found"})
	})
	return s
}

// TB has the methods of *testing.T, B and F that Start uses.
type TB interface {
	Helper()
	Cleanup(func())
}

// Start serves on a free port of the loopback interface until the test ends.
func Start(tb TB, options Options) *Server {
	tb.Helper()
	s := New(options)
	listener := httptest.NewServer(s)
	tb.Cleanup(func() {
		listener.CloseClientConnections()
		listener.Close()
	})
	s.URL = listener.URL
	return s
}

// ServeHTTP answers one request. A fault that breaks the connection panics with http.ErrAbortHandler, as net/http
// requires.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) { s.mux.ServeHTTP(w, r) }

// Endpoint returns the base URL for clients, with its /v1.
func (s *Server) Endpoint() string { return s.URL + "/v1" }

// Calls returns the number of requests for a reply, answered or not.
func (s *Server) Calls() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.calls
}

// Requests returns the requests for a reply, in order of arrival; none unless Options.Keep is set.
func (s *Server) Requests() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.kept)
}

// Violations returns the breaches of the strict template, in order; none unless Options.Strict is set.
func (s *Server) Violations() []Violation {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.violations)
}

// Usage returns the tokens of all answered calls together, counted by the server. Figures that a script reports do not
// count.
func (s *Server) Usage() annotator.Usage {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.usage
}
