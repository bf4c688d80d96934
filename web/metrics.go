package web

import (
	"bytes"
	"net/http"
	"strings"

	"annotator/metrics"
)

// healthPath tells, without the token, whether the server works.
const healthPath = "/health"

// MetricsHandler returns the handler of the metrics and of the health only, with the protection of the pages.
func (s *Server) MetricsHandler() http.Handler {
	mux := http.NewServeMux()
	s.addMetrics(mux)
	return s.protect(mux)
}

// addMetrics adds the metrics and the health to a handler.
func (s *Server) addMetrics(mux *http.ServeMux) {
	mux.HandleFunc("GET /metrics", s.showMetrics)
	mux.HandleFunc("GET "+healthPath, s.showHealth)
}

// showMetrics sends the metrics. They count the whole story, so a server whose readers have a limit has none.
func (s *Server) showMetrics(w http.ResponseWriter, r *http.Request) {
	if s.Metrics == nil {
		http.Error(w, "this server has no metrics: it shows the story up to a limit", http.StatusNotFound)
		return
	}
	var text bytes.Buffer
	if err := s.Metrics.Write(r.Context(), &text); err != nil {
		return // the reader has disconnected
	}
	w.Header().Set("Content-Type", metrics.ContentType)
	_, _ = text.WriteTo(w)
}

// showHealth answers 503 if a database was deleted, moved or replaced, and names none: it needs no token.
func (s *Server) showHealth(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	if s.isLost() {
		http.Error(w, strings.ToLower(isReplaced[:1])+isReplaced[1:], http.StatusServiceUnavailable)
		return
	}
	_, _ = w.Write([]byte("ok\n"))
}

// isLost reports whether a database was deleted, moved or replaced.
func (s *Server) isLost() bool {
	for _, d := range s.served {
		if d.DB.Replaced() {
			return true
		}
	}
	return s.Metrics != nil && s.Metrics.IsLost()
}
