// Package replay records what a run and its model say to each other, and answers a run from such a recording. Both are
// a model.Wire, above the bytes of any API: a recording that was made over one wire is replayed without any.
//
// A recording has JSON lines. The first has the format and its version. Each other line has one request with its reply,
// or the size of a text in tokens. A request is named by its scene, its purpose, and its number within these. A later
// line replaces an earlier one with the same name: the request was sent again.
//
// A request is a sequence of parts: tools, system prompt, and messages in groups. A line has only the parts that follow
// the longest beginning that an earlier line has. It names that beginning by the number of its parts and by a digest.
package replay

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"time"

	"annotator"
	"annotator/model"
)

// The first line of a recording.
const (
	formatName    = "annotator recording"
	formatVersion = 1
)

// line is one line of a recording.
type line struct {
	// of the first line
	Format   string `json:"format,omitempty"`
	Version  int    `json:"version,omitempty"`
	Endpoint string `json:"endpoint,omitempty"` // as the user named it

	At      time.Time             `json:"at,omitzero"` // when the reply had come
	Scene   int                   `json:"scene,omitempty"`
	Purpose annotator.CallPurpose `json:"purpose,omitempty"`
	Number  int                   `json:"number,omitempty"` // of the request, within scene and purpose, from 1
	Attempt int                   `json:"attempt,omitempty"`

	Settings *settings `json:"settings,omitempty"` // where they differ from those of the line before

	Follows int               `json:"follows,omitempty"` // how many parts an earlier line has
	Digest  string            `json:"digest,omitempty"`  // of these parts
	Parts   []json.RawMessage `json:"parts,omitempty"`   // the others

	Reply *reply `json:"reply,omitempty"`
	Fault *fault `json:"fault,omitempty"`
	Count *count `json:"count,omitempty"`
}

// settings are what a request has in addition to its parts.
type settings struct {
	Model       string           `json:"model"`
	Temperature float64          `json:"temperature"`
	MaxTokens   int              `json:"max_tokens"`
	Stream      bool             `json:"stream"`
	Choice      model.ChoiceMode `json:"choice,omitempty"`
	Allowed     []string         `json:"allowed,omitempty"`
	Budget      int              `json:"budget"`  // the tokens of prompt and reply together that were wanted
	Context     int              `json:"context"` // the server's, in tokens; 0: not known
}

// reply is a model.Reply as it comes from a wire.
type reply struct {
	Text      string     `json:"text"`
	Reasoning string     `json:"reasoning,omitempty"`
	Calls     []toolCall `json:"calls,omitempty"`
	Finish    string     `json:"finish"`
	Model     string     `json:"model"`
	Usage     usage      `json:"usage"`
	FirstByte int64      `json:"first_byte_ms"`
	Duration  int64      `json:"total_ms"`
}

// toolCall is an annotator.ToolCall.
type toolCall struct {
	ID        string           `json:"id"`
	Name      string           `json:"name"`
	Arguments string           `json:"arguments"`
	Origin    annotator.Origin `json:"origin,omitempty"`
}

// usage is an annotator.Usage.
type usage struct {
	Prompt     int  `json:"prompt"`
	Told       int  `json:"told"`
	Cached     int  `json:"cached"`
	Completion int  `json:"completion"`
	Exact      bool `json:"exact"`
}

// fault is a model.Fault that is an answer to the request itself.
type fault struct {
	Kind         annotator.Kind   `json:"kind"`
	Status       int              `json:"status,omitempty"`
	Code         string           `json:"code,omitempty"`
	Param        string           `json:"param,omitempty"`
	Message      string           `json:"message"`
	Advice       string           `json:"advice,omitempty"`
	Reason       annotator.Reason `json:"reason,omitempty"`
	MaxContext   int              `json:"max_context,omitempty"`
	Filtered     bool             `json:"filtered,omitempty"`
	ServerFailed bool             `json:"server_failed,omitempty"`
	Template     bool             `json:"template,omitempty"`
	Usage        usage            `json:"usage"`
}

// count is how many tokens a text has, as the server counts them.
type count struct {
	Text   string `json:"text"` // its digest
	Tokens int    `json:"tokens"`
}

func newReply(r *model.Reply) *reply {
	calls := make([]toolCall, len(r.Calls))
	for i := range r.Calls {
		calls[i] = toolCall(r.Calls[i])
	}
	return &reply{
		Text: r.Text, Reasoning: r.Reasoning, Calls: calls, Finish: r.Finish, Model: r.Model, Usage: usage(r.Usage),
		FirstByte: r.FirstByte.Milliseconds(), Duration: r.Duration.Milliseconds(),
	}
}

func (r *reply) reply() *model.Reply {
	whole := &model.Reply{
		Text: r.Text, Reasoning: r.Reasoning, Finish: r.Finish, Model: r.Model, Usage: annotator.Usage(r.Usage),
		FirstByte: time.Duration(r.FirstByte) * time.Millisecond,
		Duration:  time.Duration(r.Duration) * time.Millisecond,
	}
	for _, call := range r.Calls {
		whole.Calls = append(whole.Calls, annotator.ToolCall(call))
	}
	return whole
}

func newFault(f *model.Fault) *fault {
	return &fault{
		Kind: f.Kind, Status: f.Status, Code: f.Code, Param: f.Param, Message: f.Message, Advice: f.Advice,
		Reason: f.Reason, MaxContext: f.MaxContext, Filtered: f.Filtered, ServerFailed: f.ServerFailed,
		Template: f.Template, Usage: usage(f.Usage),
	}
}

func (f *fault) fault() *model.Fault {
	return &model.Fault{
		Kind: f.Kind, Status: f.Status, Code: f.Code, Param: f.Param, Message: f.Message, Advice: f.Advice,
		Reason: f.Reason, MaxContext: f.MaxContext, Filtered: f.Filtered, ServerFailed: f.ServerFailed,
		Template: f.Template, Usage: annotator.Usage(f.Usage),
	}
}

// ofRequest reports whether a fault is an answer to the request. Other faults are of the server's state: the request is
// sent again when that has changed.
func ofRequest(f *model.Fault) bool {
	switch f.Kind {
	case annotator.Transient, annotator.Malformed, annotator.Refused, annotator.PromptTooLong:
		return !f.NotAnAPI
	}
	return false
}

// digest identifies a sequence of parts.
type digest [16]byte

// after returns the digest of the sequence that has one more part.
func (d digest) after(part []byte) digest {
	sum := sha256.New()
	sum.Write(d[:])
	sum.Write(part)
	return digest(sum.Sum(nil)[:len(d)])
}

func (d digest) String() string { return hex.EncodeToString(d[:]) }

// digestOf returns the digest of a text.
func digestOf(text string) string { return digest{}.after([]byte(text)).String() }

// encode returns the JSON of a value as recordings have it: without a line break, and without escapes of HTML.
func encode(v any) ([]byte, error) {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	err := encoder.Encode(v)
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), err
}
