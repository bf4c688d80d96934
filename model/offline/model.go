// Package offline is the model in the program, which answers by rules. It is an http.RoundTripper for the wire of chat
// completions. So a program runs the same code as with a server, from the encoder of requests to the reader of streams.
//
// Its only input is the messages of a request: scenes, entries and results of tools. The last message of the user is
// the task.
//
//   - A scene is answered with calls of glossary_create for things that no entry means, and of glossary_update for
//     names, kinds and facts of others. A line of text ends the turn: once the calls are answered, or where nothing is
//     to be noted.
//   - A request for summaries of threads is answered with who appears in them and where, and with their first and last
//     sentence as quotations. There is no story so far, and no statement of what an entry is now.
//   - Another request for a summary is answered with sentences of the story.
//   - A request for a curator's decisions (CONFIRM, REJECT or MERGE) is answered with one on each candidate, as JSON.
//   - Anything else is a question, which is answered with the sentences that share most words with it.
//
// A name is a run of capitalised words. How the scenes of the window write a word, and a list of common words from old
// novels, show that it only begins a sentence. Statistical taggers are not used: measured, they took
// ten times as long, found fewer names, and more false ones. Package identity decides which names are of one thing. The
// kind of a thing, and the gender of a person, are voted by the words around all its mentions. A thing gets an entry
// when it is met again, or when a sentence tells what it is. The rules do not find names without capitals or names that
// only their meaning shows. The model is a baseline.
package offline

import (
	"bytes"
	"fmt"
	"hash/fnv"
	"io"
	"net/http"
	"strings"
	"sync"

	"annotator"
	"annotator/model/chatwire"
)

// Name is the name of the model.
const Name = "offline"

// DefaultContextTokens is the default length of the context.
const DefaultContextTokens = 131_072

// Options are the model's settings. The zero value has the defaults.
type Options struct {
	ContextTokens int // the most tokens of prompt and reply together; 0 means DefaultContextTokens
}

// Model is an endpoint without a network: an http.RoundTripper that answers like a server of chat completions. It is
// safe for concurrent use. Only the cached tokens of a reply depend on earlier requests.
type Model struct {
	contextTokens int
	lex           *lexicon
	prompts       prefixCache
	mu            sync.Mutex
	last          *book // of the last window
}

// New returns a model.
func New(opts Options) *Model {
	m := &Model{contextTokens: opts.ContextTokens, lex: newLexicon()}
	if m.contextTokens <= 0 {
		m.contextTokens = DefaultContextTokens
	}
	return m
}

// RoundTrip answers POST .../v1/chat/completions, GET .../v1/models, POST .../tokenize, GET .../health of any host. It
// fails only if the request's context is done or its body cannot be read. Other faults are responses.
func (m *Model) RoundTrip(req *http.Request) (*http.Response, error) {
	var body []byte
	if req.Body != nil {
		defer func() { _ = req.Body.Close() }()
		var err error
		if body, err = io.ReadAll(req.Body); err != nil {
			return nil, fmt.Errorf("read the request: %w", err)
		}
	}
	if err := req.Context().Err(); err != nil {
		return nil, err
	}
	r := m.serve(req.Method, req.URL.Path, body)
	return &http.Response{
		StatusCode:    r.status,
		Header:        http.Header{"Content-Type": {r.mediaType}},
		Body:          io.NopCloser(bytes.NewReader(r.body)),
		ContentLength: int64(len(r.body)),
		Request:       req,
	}, nil
}

// response is the content of an HTTP response.
type response struct {
	status    int
	mediaType string
	body      []byte
}

func ok(v any) response { return response{http.StatusOK, "application/json", chatwire.JSON(v)} }

func failure(status int, kind, format string, args ...any) response {
	return response{status, "application/json", chatwire.JSON(map[string]any{
		"error": map[string]any{"message": fmt.Sprintf(format, args...), "type": kind, "code": status},
	})}
}

func (m *Model) serve(method, path string, body []byte) response {
	switch {
	case method == http.MethodGet && strings.HasSuffix(path, "/models"):
		return m.models()
	case method == http.MethodGet && strings.HasSuffix(path, "/health"):
		return response{http.StatusOK, "text/plain", nil}
	case method == http.MethodPost && strings.HasSuffix(path, "/chat/completions"):
		return m.withRequest(body, m.complete)
	case method == http.MethodPost && strings.HasSuffix(path, "/tokenize"):
		return m.withRequest(body, m.tokenize)
	}
	return failure(http.StatusNotFound, "NotFoundError", "There is no %s %s here.", method, path)
}

func (m *Model) withRequest(body []byte, handle func(*request) response) response {
	r, err := readRequest(body)
	if err != nil {
		return failure(http.StatusBadRequest, "BadRequestError", "The request cannot be read: %v.", err)
	}
	return handle(r)
}

func (m *Model) models() response {
	return ok(map[string]any{"object": "list", "data": []any{map[string]any{
		"id": Name, "object": "model", "created": 0, "owned_by": "annotator", "max_model_len": m.contextTokens,
	}}})
}

func (m *Model) tokenize(r *request) response {
	count := chatwire.Tokens(len(r.Prompt))
	if len(r.messages) > 0 {
		all := r.prefixes()
		count = all[len(all)-1].tokens
	}
	return ok(map[string]any{"count": count, "max_model_len": m.contextTokens, "tokens": []int{}})
}

func (m *Model) complete(r *request) response {
	if len(r.messages) == 0 {
		return failure(http.StatusBadRequest, "BadRequestError", "The request has no messages.")
	}
	all := r.prefixes()
	prompt := all[len(all)-1]
	if prompt.tokens+r.OutputLimit() > m.contextTokens {
		return failure(http.StatusBadRequest, "BadRequestError",
			"You passed %d input tokens and requested %d output tokens. However, the model's context length is only "+
				"%d tokens.",
			prompt.tokens, r.OutputLimit(), m.contextTokens)
	}
	reply := m.answer(r, prompt.hash)
	reply.ID = fmt.Sprintf("chatcmpl-%016x", prompt.hash)
	reply.Usage = annotator.Usage{
		Prompt: prompt.tokens, Completion: messageTokens(reply.Text, reply.ToolCalls), Cached: m.prompts.add(all),
	}
	if !r.Stream {
		return ok(reply.Whole())
	}
	var e chatwire.Events
	reply.Stream(&e, r.StreamOptions.IncludeUsage)
	return response{http.StatusOK, "text/event-stream", e.Bytes()}
}

// callID derives the id of a tool call from the prompt that led to it and its place in the reply.
func callID(prompt uint64, index int) string {
	h := fnv.New64a()
	fmt.Fprintf(h, "%016x %d", prompt, index)
	return fmt.Sprintf("call_%016x", h.Sum64())
}
