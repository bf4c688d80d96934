package model

import (
	"strings"
	"time"

	"annotator"
)

// Reply is the model's answer as one message, streamed or not.
type Reply struct {
	Text      string
	Reasoning string
	// structured, or else those in the text; ids as the server gave them, perhaps empty or doubled
	Calls     []annotator.ToolCall
	Finish    string // why it ended, in the server's word
	Model     string // the model that the server says answered
	Usage     annotator.Usage
	FirstByte time.Duration // until the headers of the answer
	Duration  time.Duration
	Raw       []byte // the beginning of the body, at most RawLimit bytes

	// The following fields are set by Normalize.

	Outcome Outcome // why it ended
	Cut     bool    // it ended at its token limit, whatever its finish reason

	annotator.ReplyContent // of the text; empty where the request has no CallRules

	Call *annotator.Call // the open call, which the receiver of the reply ends; nil if the reply is not from a Client
}

// Body returns the beginning of the answer's body, or the text if that is not kept.
func (r *Reply) Body() []byte {
	if len(r.Raw) > 0 {
		return r.Raw
	}
	return []byte(r.Text)
}

// RawLimit is how many bytes of an answer's body are kept.
const RawLimit = 64 << 10

// Outcome is why a reply ended.
type Outcome string

// The outcomes.
const (
	OutcomeStop     Outcome = "stop"     // the model ended its reply
	OutcomeCalls    Outcome = "calls"    // the model calls tools
	OutcomeLength   Outcome = "length"   // the reply reached its limit
	OutcomeFiltered Outcome = "filtered" // a content filter ended it
	OutcomeBroken   Outcome = "broken"   // the server failed in the middle
	OutcomeUnknown  Outcome = "unknown"  // the finish reason is not known
)

// outcomeOf maps finish reasons: those of chat completions and those of various servers.
func outcomeOf(finish string) Outcome {
	switch strings.ToLower(finish) {
	case "tool_calls", "tool_call", "tool_use", "function_call":
		return OutcomeCalls
	case "stop", "eos", "eos_token", "end_turn", "stop_sequence", "complete", "completed":
		return OutcomeStop
	case "length", "model_length", "max_tokens", "max_output_tokens":
		return OutcomeLength
	case CodeFiltered, "sensitive", "safety", "recitation", "blocklist", "prohibited_content", "spii", "refusal":
		return OutcomeFiltered
	case "error", "abort", "malformed_function_call", "insufficient_system_resource", "network_error", "timeout",
		"time_limit",
		"cancelled", "canceled", "other", "finish_reason_unspecified": // the last two are Gemini's
		return OutcomeBroken
	}
	return OutcomeUnknown
}

// contextShown returns the context that a cut reply shows, in tokens; 0 if it shows none. vLLM accepts a prompt that
// leaves less room than the limit of the reply, and ends the reply at the end of the context. A server may also have
// its own limit of replies, which is a round number, and may not count reasoning.
func (r *Reply) contextShown(request *Request) int {
	u := r.Usage
	const bytesPerToken = 8 // at most, on average
	round := u.Completion%64 == 0 || u.Completion%100 == 0
	uncounted := u.Completion*bytesPerToken < len(r.Reasoning)
	if r.Outcome != OutcomeLength || !u.Exact || u.Completion >= request.MaxTokens || round || uncounted {
		return 0
	}
	return u.Prompt + u.Completion
}

// ReasoningOnly reports whether a reply that was not cut has only reasoning. That occurs if a server parses the text of
// a model without reasoning as reasoning.
func (r *Reply) ReasoningOnly() bool {
	return r.Text == "" && len(r.Calls) == 0 && r.Reasoning != "" && !r.Cut
}

// Incomplete reports whether a call of a reply that reached its limit may have lost its end. A structured call is
// complete only if another follows it. Some servers, such as older versions of vLLM, close the JSON of a call that was
// cut. Calls read from text are complete.
func (r *Reply) Incomplete(call int) bool {
	return r.Cut && call == len(r.Calls)-1 && r.Calls[call].Origin == annotator.OriginStructured
}

// maxNestedMarks is how many levels of nested marks are removed. A text with more is reasoning as a whole.
const maxNestedMarks = 4

// Normalize converts a reply to the form that replies of all wires have. Reasoning that the server left in the text is
// moved to the reply's reasoning, from which no call is made.
func (r *Reply) Normalize(request *Request) {
	for round := 1; ; round++ { // removed marks may leave another mark
		said, reasoning := request.splitReasoning(r.Text)
		if reasoning == "" && len(said) == len(r.Text) {
			break
		}
		if round > maxNestedMarks {
			said, reasoning = "", r.Text
		}
		r.Text = strings.TrimSpace(said)
		r.Reasoning = strings.TrimSpace(r.Reasoning + "\n" + reasoning)
	}
	r.Reasoning = strings.ReplaceAll(r.Reasoning, "\x00", "\uFFFD") // SQLite would end the text at a NUL
	r.Model, r.Finish = clip(r.Model), clip(r.Finish)
	r.Outcome = outcomeOf(r.Finish)
	r.Cut = r.Outcome == OutcomeLength || r.Usage.Exact && request.MaxTokens > 0 &&
		r.Usage.Completion >= request.MaxTokens
}
