package scripted

import (
	"encoding/json"
	"fmt"
	"net/http"
)

// serveTokenize answers POST /tokenize, for a text or for messages. The listed tokens are zeros: only their number is
// meaningful.
func (s *Server) serveTokenize(w http.ResponseWriter, r *http.Request) {
	body, err := readBody(r)
	if err != nil {
		badBody().write(w, chat{})
		return
	}
	count, err := countTokens(body)
	if err != nil {
		badJSON(err).write(w, chat{})
		return
	}
	writeJSON(w, http.StatusOK, map[string]any{
		"count": count, "max_model_len": s.options.MaxModelLen, "tokens": make([]int, count), "token_strs": nil,
	})
}

func countTokens(body []byte) (int, error) {
	p, err := newPrompt(body, &prompt{})
	if err != nil {
		return 0, err
	}
	if raw, ok := p.fields["prompt"]; ok {
		var text string
		err := json.Unmarshal(raw, &text)
		return Tokens(text), err
	}
	generate := true
	if err := readField(p.fields, "add_generation_prompt", &generate); err != nil {
		return 0, err
	}
	if !generate && len(p.places) > 0 {
		return p.places[len(p.places)-1].tokens, nil
	}
	return p.end.tokens, nil
}

// serveModels answers with the list of models, in a wire's form.
func (s *Server) serveModels(d dialect) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		writeJSON(w, http.StatusOK, d.models(s.options.Model, s.options.MaxModelLen))
	}
}

// serveMetrics answers GET /metrics: the counters of the prefix cache, in tokens, with vLLM's names.
func (s *Server) serveMetrics(w http.ResponseWriter, _ *http.Request) {
	usage := s.Usage()
	w.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
	s.pacer.write(w, s.options.Model)
	for _, counter := range []struct {
		name, help string
		value      int
	}{
		{
			"vllm:prefix_cache_queries_total", "Prefix cache queries, in terms of number of queried tokens.",
			usage.Prompt,
		},
		{"vllm:prefix_cache_hits_total", "Prefix cache hits, in terms of number of cached tokens.", usage.Cached},
	} {
		_, _ = fmt.Fprintf(w,
			"# HELP %[1]s %[2]s\n# TYPE %[1]s counter\n%[1]s{engine=\"0\",model_name=%[3]q} %[4]d.0\n",
			counter.name, counter.help, s.options.Model, counter.value)
	}
}
