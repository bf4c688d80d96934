package scripted

import (
	"fmt"
	"net/http"

	"annotator/model/chatwire"
)

// dialect encodes and decodes one wire. The rest of the server is shared and works on chat completions.
type dialect interface {
	// chat converts the body of a request to chat completions: see conversation. It refuses requests that the servers
	// of the wire always refuse, for example for an unknown field.
	chat(r *http.Request, body []byte) ([]byte, error)
	// plain returns an answer in one piece. It is encoded as JSON.
	plain(a *answer) any
	// stream writes an answer as events.
	stream(e *chatwire.Events, a *answer)
	// refusal returns an error. It is encoded as JSON, with the refusal's code as its status.
	refusal(no *refusal) any
	// models returns a list with one model, with the size of its context in tokens. It is encoded as JSON.
	models(model string, window int) any
}

// answer is the response to a request that is not refused.
type answer struct {
	*Reply              // with ids, a finish reason of chat completions, and usage
	id           string // of the answer, made of the prompt
	model        string
	includeUsage bool // in streams, if the wire lets the client choose
}

// created is the time of every answer: the server has no clock.
const created = 1_700_000_000

func writeStream(w http.ResponseWriter, d dialect, a *answer) {
	var e chatwire.Events
	d.stream(&e, a)
	w.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
	_, _ = w.Write(e.Bytes())
	// Without this header, net/http adds a Content-Length to a short stream.
	_ = http.NewResponseController(w).Flush()
}

func writeJSON(w http.ResponseWriter, status int, value any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(chatwire.JSON(value))
}

// refusal is an error with the text of vLLM. The dialects of other wires replace the texts that clients of these wires
// classify.
type refusal struct {
	Message string  `json:"message"`
	Type    string  `json:"type"`
	Param   *string `json:"param"`
	Code    int     `json:"code"` // the status

	prompt, limit int // tokens, if the prompt is too long; else 0
}

func badRequest(format string, args ...any) *refusal {
	return &refusal{Message: fmt.Sprintf(format, args...), Type: "BadRequestError", Code: http.StatusBadRequest}
}

func (r *refusal) write(w http.ResponseWriter, d dialect) { writeJSON(w, r.Code, d.refusal(r)) }
