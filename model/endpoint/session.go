package endpoint

import (
	"bytes"
	"net/http"
	"slices"
	"sync"

	"annotator"
)

// Session says what a client adds to its requests so that a router sends all of them to one server, which has their
// prefix. The zero Session adds nothing.
type Session struct {
	Header map[string]string
	Body   map[string]any // fields of the request
	Echo   []string       // headers of a response that are sent back with the next request
	// Low are fields of requests that may wait for those of scenes. High are fields of those.
	Low, High map[string]any

	mu     sync.Mutex
	echoed map[string]string
}

// Routers are the names of the routers that NewSession knows.
func Routers() []string {
	return []string{"smg", "llm-d", "aibrix", "production-stack", "dynamo", "openai"}
}

// NewSession returns what a router wants to be told of a session. The id says nothing about the story. With lower, the
// curator's questions and requests for summaries have a lower priority.
func NewSession(router, id string, lower bool) *Session {
	s := &Session{}
	switch router {
	case "smg":
		s.Header = map[string]string{"x-smg-routing-key": id}
	case "llm-d":
		s.Header = map[string]string{"x-gateway-inference-fairness-id": id}
		s.Echo = []string{"x-session-token"}
	case "aibrix":
		s.Header = map[string]string{"routing-strategy": "session-affinity", "x-aibrix-session-key": id}
		s.Echo = []string{"x-session-id"}
	case "production-stack":
		s.Header = map[string]string{"x-user-id": id}
	case "dynamo":
		s.Header = map[string]string{"x-dynamo-session-id": id}
	case "openai":
		s.Body = map[string]any{"prompt_cache_key": id}
	}
	switch {
	case lower && router == "dynamo": // a higher number is served first
		s.High = map[string]any{"nvext": map[string]any{"agent_hints": map[string]any{"priority": 1}}}
	case lower: // a lower number is served first, and 0 is the default
		s.Low = map[string]any{"priority": lowPriority}
	}
	return s
}

// lowPriority is that of requests which may wait.
const lowPriority = 10

// addTo adds the session's headers to a request.
func (s *Session) addTo(header http.Header) {
	if s == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, values := range []map[string]string{s.Header, s.echoed} {
		for name, value := range values {
			header.Set(name, value)
		}
	}
}

// longestEcho bounds what a server can have sent back to it.
const longestEcho = 4096

// keep stores the headers of a response that are sent back.
func (s *Session) keep(header http.Header) {
	if s == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, name := range s.Echo {
		if value := header.Get(name); value != "" && len(value) <= longestEcho {
			if s.echoed == nil {
				s.echoed = map[string]string{}
			}
			s.echoed[name] = value
		}
	}
}

// body returns the body of a request with the session's fields at its end, where no prefix changes.
func (s *Session) body(body Segments, purpose annotator.CallPurpose) (Segments, error) {
	if s == nil || len(body) == 0 {
		return body, nil
	}
	levels := map[annotator.CallPurpose]map[string]any{
		annotator.PurposeAnnotate: s.High, annotator.PurposeCurate: s.Low, annotator.PurposeSummarise: s.Low,
	}
	for _, fields := range []map[string]any{s.Body, levels[purpose]} {
		if len(fields) == 0 {
			continue
		}
		added, err := Marshal(fields)
		if err != nil {
			return nil, err
		}
		last := len(body) - 1
		end, ok := bytes.CutSuffix(bytes.TrimRight(body[last], " \n"), []byte("}"))
		if !ok {
			return body, nil // no object
		}
		body = append(slices.Clone(body[:last]), end, []byte(","), added[1:])
	}
	return body, nil
}
