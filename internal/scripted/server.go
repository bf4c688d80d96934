package scripted

import (
	"cmp"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"

	"annotator"
)

// Options says what a server serves. The zero value is a lenient server with the script Annotate.
type Options struct {
	Model       string // the one model it serves; "scripted" where empty
	MaxModelLen int    // tokens of prompt and reply together; 131,072 where 0
	Script      Script // what the model answers; Annotate where nil

	// Strict refuses what the strictest chat template would refuse. See Server.Violations.
	Strict bool

	// Template is what the chat template renders of a conversation; all of it where nil.
	Template Template

	// Fault is asked before anything else is done with a request that could be read. Where it returns nil the answer is
	// the regular one. call counts from 1.
	Fault func(call int, r Request) *Fault

	// OnRequest sees each request that could be read, before it is answered. Concurrent requests call it concurrently.
	OnRequest func(Request)

	// Keep keeps every request that could be read, for Server.Requests. It holds whole bodies in memory.
	Keep bool
}

// Server is an http.Handler with the routes of every wire: that of chat completions below /v1 beside POST /tokenize, GET /health
// and GET /metrics, as vLLM has them, and those of the others as their APIs have them. It may serve many requests at once.
type Server struct {
	URL string // without /v1; set by Start, else empty

	options Options
	mux     *http.ServeMux

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
	s := &Server{options: options, mux: http.NewServeMux(), cache: newPrefixCache()}
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

// TB is what Start needs of a *testing.T, B or F.
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

// ServeHTTP answers one request. A fault that breaks the connection panics with http.ErrAbortHandler, as net/http asks.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) { s.mux.ServeHTTP(w, r) }

// Endpoint returns the base URL as clients are configured with it: with its /v1.
func (s *Server) Endpoint() string { return s.URL + "/v1" }

// Calls returns how many replies were asked for, answered or not.
func (s *Server) Calls() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.calls
}

// Requests returns the replies asked for, in order of arrival; none unless Options.Keep is set.
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

// Usage returns the tokens of all answered calls together, as the server counts them: figures that a script reports are not counted.
func (s *Server) Usage() annotator.Usage {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.usage
}
