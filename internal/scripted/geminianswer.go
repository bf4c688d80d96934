package scripted

import (
	"encoding/json"
	"strings"

	"annotator/model/chatwire"
)

type generateAnswer struct {
	Candidates []geminiCandidate `json:"candidates"`
	Usage      geminiUsage       `json:"usageMetadata"`
	Model      string            `json:"modelVersion"`
	ID         string            `json:"responseId"`
}

type geminiCandidate struct {
	Content geminiContent `json:"content"`
	Finish  string        `json:"finishReason,omitempty"`
	Message string        `json:"finishMessage,omitempty"`
	Index   int           `json:"index"`
}

type geminiUsage struct {
	Prompt     int `json:"promptTokenCount"`
	Cached     int `json:"cachedContentTokenCount,omitempty"`
	Candidates int `json:"candidatesTokenCount,omitempty"`
	Thoughts   int `json:"thoughtsTokenCount,omitempty"`
	Total      int `json:"totalTokenCount"`
}

// newGeminiUsage counts the tokens of thoughts and of the answer separately.
func newGeminiUsage(a *answer) geminiUsage {
	thoughts := min(Tokens(a.Reasoning), a.Usage.Completion)
	return geminiUsage{
		Prompt: a.Usage.Prompt, Cached: a.Usage.Cached, Candidates: a.Usage.Completion - thoughts, Thoughts: thoughts,
		Total: a.Usage.Prompt + a.Usage.Completion,
	}
}

// generated returns an answer with some of its parts.
func generated(a *answer, parts ...geminiPart) generateAnswer {
	c := geminiCandidate{Content: geminiContent{Role: "model", Parts: parts}}
	usage := geminiUsage{Prompt: a.Usage.Prompt, Cached: a.Usage.Cached, Total: a.Usage.Prompt}
	return generateAnswer{Candidates: []geminiCandidate{c}, Usage: usage, Model: a.model, ID: a.id}
}

// finished adds the reason for the end of the answer, and its usage.
func (g generateAnswer) finished(a *answer) generateAnswer {
	c := &g.Candidates[0]
	g.Usage = newGeminiUsage(a)
	c.Finish = geminiFinish(a.FinishReason)
	for i := range a.ToolCalls {
		if c.Finish == "STOP" && !isObject(a.ToolCalls[i].Arguments) {
			c.Finish, c.Message = "MALFORMED_FUNCTION_CALL", "Malformed function call: "+a.ToolCalls[i].Arguments
		}
	}
	return g
}

func geminiFinish(reason string) string {
	switch reason {
	case "stop", "tool_calls":
		return "STOP"
	case "length":
		return "MAX_TOKENS"
	case "content_filter":
		return "SAFETY"
	}
	return reason
}

func isObject(arguments string) bool {
	return strings.HasPrefix(arguments, "{") && json.Valid([]byte(arguments))
}

// signature is the thought signature of every answer.
const signature = "c2lnbmVk"

// geminiCalls returns the calls of an answer. The wire cannot express arguments that are not an object.
func geminiCalls(a *answer) []geminiPart {
	var parts []geminiPart
	for i := range a.ToolCalls {
		c := &a.ToolCalls[i]
		if !isObject(c.Arguments) {
			continue
		}
		p := geminiPart{Call: &geminiCall{ID: c.ID, Name: c.Name, Args: json.RawMessage(c.Arguments)}}
		if len(parts) == 0 {
			p.Signature = signature
		}
		parts = append(parts, p)
	}
	return parts
}

func (gemini) plain(a *answer) any {
	var parts []geminiPart
	if a.Reasoning != "" {
		parts = append(parts, geminiPart{Text: &a.Reasoning, Thought: true})
	}
	if a.Text != "" {
		parts = append(parts, geminiPart{Text: &a.Text})
	}
	return generated(a, append(parts, geminiCalls(a)...)...).finished(a)
}

// stream sends each call whole, and at the end an empty text with the reason.
func (gemini) stream(e *chatwire.Events, a *answer) {
	for _, text := range chatwire.Pieces(a.Reasoning) {
		e.Add("", generated(a, geminiPart{Text: &text, Thought: true}))
	}
	for _, text := range chatwire.Pieces(a.Text) {
		e.Add("", generated(a, geminiPart{Text: &text}))
	}
	for _, call := range geminiCalls(a) {
		e.Add("", generated(a, call))
	}
	e.Add("", generated(a, geminiPart{Text: new(string)}).finished(a))
}
