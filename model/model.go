// Package model is the client of model servers. Client makes the calls: it retries, waits, learns the workarounds that
// a server needs, and returns a normalised reply. The packages below it implement one wire each.
package model

import (
	"context"
	"net/http"
	"time"

	"annotator"
)

// EndpointOffline names the offline model as an endpoint. It has no address.
const EndpointOffline = "offline"

// Wire implements one form of API. It holds no state of a conversation.
type Wire interface {
	Encoder
	// Complete sends a request and reads the whole reply. A failure is a *Fault. When the context ends, it closes the
	// connection, so that the server stops generating, and returns.
	Complete(ctx context.Context, r *Request) (*Reply, error)
	// Models lists what the endpoint serves. A failure is a *Fault.
	Models(ctx context.Context) ([]Model, error)
	// Refusals lists the refusals of the usual form of a request, most specific first, with their workarounds.
	Refusals() []Refusal
}

// Encoder renders messages for a wire. The same messages always have the same bytes, so a later request begins with the
// bytes of the previous one.
type Encoder interface {
	// Encode renders messages as elements of the request's message list, joined by commas. The results of tools that
	// answer one reply must be rendered together.
	Encode(messages []annotator.Message) ([]byte, error)
	// EncodeTools renders the tools as the value of the request's tool list.
	EncodeTools(tools []annotator.ToolDefinition) ([]byte, error)
}

// Counter is implemented by a wire whose server can count the tokens of a text.
type Counter interface {
	// CountTokens counts a text without the tokens that a chat template adds. A failure is a *Fault. Most servers
	// cannot count.
	CountTokens(ctx context.Context, name, text string) (int, error)
}

// Request is one call. System, History and Tools are sent byte for byte.
type Request struct {
	Model       string
	System      string // the system prompt; empty for none
	History     []byte // encoded messages, joined by commas
	Tools       []byte // encoded by EncodeTools; nil for none
	Choice      Choice // which of them may be called
	MaxTokens   int    // of the reply
	Temperature float64
	Seed        int // of the sampling; 0: the server chooses one
	Stream      bool

	Workarounds Workarounds // that the server needs

	// OnProgress is called, while a reply is streamed, with the number of bytes so far. It is called on the goroutine
	// that reads the stream, so it must return quickly. nil: progress is not reported.
	OnProgress func(bytes int)

	// OnSilence is called once a minute while no token of the reply arrives. Silent is the time without a token, and
	// after limit the call fails. It is called on another goroutine, but not after Complete has returned. nil: silence
	// is not reported.
	OnSilence func(silent, limit time.Duration)

	// The following fields are not sent.

	// the record of each attempt: purpose, turn, scene, estimate and size of the prompt
	Call        annotator.Call
	Rules       *CallRules // for the calls in the reply's text; nil: it is not searched for calls
	LeastPrompt int        // minimum tokens of the prompt, for Inspect; 0: not known
	SameModel   bool       // the reply of another model is a fault, for Inspect
}

// Choice says which of a request's tools the model may call. The list of tools does not change: servers render it
// first, and after a change they process the whole prompt again. A wire sends the choice in addition to the list, as
// far as its API can express it. The dispatcher refuses other calls. The zero Choice allows all tools.
type Choice struct {
	Mode    ChoiceMode
	Allowed []string // names of the tools that may be called; nil: all
}

// ChoiceMode says whether the model calls a tool.
type ChoiceMode string

// The modes.
const (
	ChoiceAuto     ChoiceMode = ""         // the model decides
	ChoiceNone     ChoiceMode = "none"     // the tools are sent, but must not be called
	ChoiceRequired ChoiceMode = "required" // one of the allowed tools must be called
)

// Model is one model of an endpoint.
type Model struct {
	ID         string
	MaxContext int // tokens; 0 if not given
}

// Called reports whether a request for a name is for this model. Ollama lists NAME as NAME:latest.
func (m Model) Called(name string) bool { return m.ID == name || m.ID == name+":latest" }

// Fault is a call that failed.
type Fault struct {
	Kind         annotator.Kind
	Status       int              // HTTP status, or the one in the body; 0 if there was no answer
	Code         string           // the server's own code or type, if any
	Param        string           // the request's field that the server names as the cause, if any
	Message      string           // secrets are masked
	Advice       string           // what the user can do; may be empty
	Reason       annotator.Reason // for advice by the program, in place of Advice; may be empty
	RetryAfter   time.Duration
	MaxContext   int  // the server's context in tokens; 0 if not given
	NotAnAPI     bool // the response is not of the API: the URL is wrong, or a proxy answers for the server
	Filtered     bool // a content filter of the server refused the story
	ServerFailed bool // the server's device failed, whatever the request
	Template     bool // the chat template cannot render the request
	Header       http.Header
	Raw          []byte // of the body, at most RawLimit bytes
	Usage        annotator.Usage
	FirstByte    time.Duration
	Duration     time.Duration
	Err          error // the cause, if any
}
