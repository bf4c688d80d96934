// Package model is the program's side of a conversation with a model server. Client owns that conversation end to end:
// it retries, waits, learns what the server needs, and returns one normalised reply. The packages below it implement
// one wire each.
package model

import (
	"context"
	"net/http"
	"time"

	"annotator"
)

// EndpointOffline names the embedded model as an endpoint. It has no address.
const EndpointOffline = "offline"

// Wire implements one form of API. It holds no state of a conversation.
type Wire interface {
	Encoder
	// Complete sends a request and reads the whole reply. A failure is a *Fault. It returns when the context ends, and
	// closes the connection, so that the server stops generating.
	Complete(ctx context.Context, r *Request) (*Reply, error)
	// Models lists what the endpoint serves. A failure is a *Fault.
	Models(ctx context.Context) ([]Model, error)
	// Refusals lists how servers refuse the usual form of a request, most specific first, with the workaround that each
	// needs.
	Refusals() []Refusal
}

// Encoder renders messages for a wire. It is pure: the same messages always give the same bytes, so a later request
// begins with the bytes of the one before.
type Encoder interface {
	// Encode renders messages as elements of the request's message list, joined by commas. The results of tools that
	// answer one reply must be rendered together.
	Encode(messages []annotator.Message) ([]byte, error)
	// EncodeTools renders the tools as the value of the request's tool list.
	EncodeTools(tools []annotator.ToolDefinition) ([]byte, error)
}

// Counter is implemented by a wire whose server can count the tokens of a text.
type Counter interface {
	// CountTokens counts a text without the tokens that a chat template adds. A failure is a *Fault; most servers
	// cannot count.
	CountTokens(ctx context.Context, name, text string) (int, error)
}

// Request is one call. System, History and Tools are sent byte for byte.
type Request struct {
	Model       string
	System      string // the system prompt; empty for none
	History     []byte // encoded messages, joined by commas
	Tools       []byte // as EncodeTools gives them; nil for none
	Choice      Choice // which of them may be called
	MaxTokens   int    // of the reply
	Temperature float64
	Seed        int // of the sampling; 0: the server chooses one
	Stream      bool

	Workarounds Workarounds // that the server needs

	// OnProgress is called, while a reply is streamed, with how many bytes of it have come so far. It is called on the
	// goroutine that reads the stream, so it must be quick; nil: progress is not reported.
	OnProgress func(bytes int)

	// OnSilence is called once a minute while no token of the reply comes, with how long none has come, and after how
	// long of it the call fails. It is called on another goroutine, not after Complete has returned; nil: silence is
	// not reported.
	OnSilence func(silent, limit time.Duration)

	// What follows is not sent.

	// what is recorded of each attempt: purpose, turn, scene, estimate and size of the prompt
	Call        annotator.Call
	Rules       *CallRules // for the calls in the reply's text; nil: it is not searched for calls
	LeastPrompt int        // tokens that the prompt has at least, for Inspect; 0: not known
	SameModel   bool       // the reply of another model is a fault, for Inspect
}

// Choice says which of a request's tools the model may call. The list of tools stays the same: servers render it before
// all else, and a change would cost them the whole prompt again. A wire sends the choice beside the list, as well as
// its API can express it. The dispatcher refuses the rest. The zero Choice allows all tools.
type Choice struct {
	Mode    ChoiceMode
	Allowed []string // names of the tools that may be called; nil: all
}

// ChoiceMode says whether the model calls a tool.
type ChoiceMode string

// The modes.
const (
	ChoiceAuto     ChoiceMode = ""         // the model decides
	ChoiceNone     ChoiceMode = "none"     // the tools are shown, but must not be called
	ChoiceRequired ChoiceMode = "required" // one of those allowed must be called
)

// Model is one model of an endpoint.
type Model struct {
	ID         string
	MaxContext int // tokens; 0 where the server does not say
}

// Called reports whether a request for a name is one for this model. Ollama lists NAME as NAME:latest.
func (m Model) Called(name string) bool { return m.ID == name || m.ID == name+":latest" }

// Fault is a call that failed.
type Fault struct {
	Kind         annotator.Kind
	Status       int              // HTTP status, or the one that the body names; 0 where there was no answer
	Code         string           // the server's own code or type, where it gave one
	Param        string           // the field of the request that is at fault, where the server named one
	Message      string           // for people; secrets masked
	Advice       string           // what the user can do; may be empty
	Reason       annotator.Reason // from which a program makes the advice, in place of Advice; may be empty
	RetryAfter   time.Duration
	MaxContext   int  // tokens of context that the server says it has; 0 where it does not say
	NotAnAPI     bool // the response is not of the API: the address is wrong, or a proxy answers in place of the server
	Filtered     bool // a content filter of the server refused the story
	ServerFailed bool // its device has failed, so no request is at fault
	Template     bool // the chat template cannot render the request
	Header       http.Header
	Raw          []byte // of the body, at most RawLimit bytes
	Usage        annotator.Usage
	FirstByte    time.Duration
	Duration     time.Duration
	Err          error // the cause, where there is one
}
