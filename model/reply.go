package model

import (
	"strings"
	"time"

	"annotator"
)

// Reply is what the model answered, as one message however it was streamed.
type Reply struct {
	Text      string
	Reasoning string
	Calls     []annotator.ToolCall // structured, or else those in the text; ids as the server gave them, perhaps empty or doubled
	Finish    string               // why it ended, in the server's word
	Model     string               // the model that the server says answered
	Usage     annotator.Usage
	FirstByte time.Duration // until the headers of the answer
	Duration  time.Duration
	Raw       []byte // the answer's body as it came, at most RawLimit bytes of it

	// What follows is set by Normalize.

	Outcome Outcome // why it ended
	Cut     bool    // it ended at its limit in tokens, whatever the server says

	annotator.ReplyContent // of the text; empty where the request has no CallRules

	Call *annotator.Call // on record; the receiver of the reply ends it. Nil where the reply did not come from a Client
}

// Body returns the answer's body as it came, or the text if that is not kept.
func (r *Reply) Body() []byte {
	if len(r.Raw) > 0 {
		return r.Raw
	}
	return []byte(r.Text)
}

// RawLimit is how much of an answer is kept as it came, in bytes.
const RawLimit = 64 << 10

// Outcome is why a reply ended.
type Outcome string

// The outcomes.
const (
	OutcomeStop     Outcome = "stop"     // the model was done
	OutcomeCalls    Outcome = "calls"    // the model calls tools
	OutcomeLength   Outcome = "length"   // the reply reached its limit
	OutcomeFiltered Outcome = "filtered" // a content filter ended it
	OutcomeBroken   Outcome = "broken"   // the server failed in the middle
	OutcomeUnknown  Outcome = "unknown"  // the server's word for it is not known
)

// outcomeOf knows the words of servers, beside those that wires translate into.
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

// contextShown is how many tokens of context a reply shows: vLLM does not refuse a prompt that leaves less room than
// the reply may have, but ends the reply where the context ends. 0 where it shows nothing. A server may have a limit of
// its own for replies, which is a round number, and may not count reasoning.
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

// Swallowed reports whether a reply that was not cut has nothing but reasoning. That is how a server's parser of
// reasoning takes the words of a model that writes none.
func (r *Reply) Swallowed() bool {
	return r.Text == "" && len(r.Calls) == 0 && r.Reasoning != "" && !r.Cut
}

// Incomplete reports whether a call of a reply that reached its limit may have lost its end. A structured call is whole
// only if another follows it: some servers, such as older versions of vLLM, close the JSON of one that was cut off.
// What is read from text ends where the model has ended it.
func (r *Reply) Incomplete(call int) bool {
	return r.Cut && call == len(r.Calls)-1 && r.Calls[call].Origin == annotator.OriginStructured
}

// maxNestedMarks is how many levels of marks within marks are removed. A text with more is reasoning as a whole.
const maxNestedMarks = 4

// Normalize gives a reply the one form that the replies of all wires have. Reasoning that the server left in the text
// goes to the reply's reasoning, from which nothing is ever executed.
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
