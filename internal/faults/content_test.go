package faults_test

import (
	"fmt"
	"io"
	"net/http"
	"regexp"
	"slices"
	"strings"

	"annotator"
	"annotator/internal/scripted"
)

// contentRows are the faults in the texts of a model.
func contentRows() []row {
	return []row{
		{
			n: 67, fault: "`finish_reason` is `tool_calls` without a call", action: retry, ends: ends{"R", "R", "HQQ"},
			only: streamed, chat: true, says: "no call", forms: []form{
				shaped(func(answer map[string]any) {
					message(answer)["content"], message(answer)["tool_calls"] = "Let me note that.", []any{}
					answer["choices"].([]any)[0].(map[string]any)["finish_reason"] = "tool_calls"
				}),
			},
		},
		{
			n: 67, fault: "an empty reply: no text and no call", action: retry, ends: ends{"R", "R", "HQQ"}, chat: true,
			forms: []form{
				says(answering("")),
				shaped(func(answer map[string]any) {
					message(answer)["content"], message(answer)["tool_calls"] = nil,
						[]any{}
				}),
			},
		},
		{
			n: 67, fault: "content is an array of parts", action: accept, ends: ends{"R", "R", "R"}, chat: true,
			forms: []form{
				shaped(func(answer map[string]any) {
					if text, ok := message(answer)["content"].(string); ok {
						message(answer)["content"] = []any{map[string]any{"type": "text", "text": text}}
					}
				}),
			},
		},
		{
			n: 68, fault: "reasoning beside the reply, under either name, with a call in it", action: note,
			ends: ends{"R", "R", "R"}, chat: true, forms: []form{
				says(thinks("I could <tool_call>" + quotedOrder + "</tool_call> it.")),
				shaped(func(answer map[string]any) {
					message(answer)["reasoning_content"] = "<tool_call>" + quotedOrder + "</tool_call>"
				}),
				says(func(_ *scripted.Request, honest scripted.Reply) scripted.Reply {
					honest.Text = "<think>I could <tool_call>" + quotedOrder + "</tool_call> it.</think>" + honest.Text
					return honest
				}),
			},
		},
		{
			n: 68, fault: "a `<think>` that is never closed and contains the reply", action: reask,
			ends: ends{"R", "Q", "HQQ"}, chat: true, forms: []form{
				says(answering("<think>I could <tool_call>" + quotedOrder + "</tool_call> it, or")),
			},
		},
		{n: 69, fault: "reasoning uses all of `max_tokens`", action: retry, ends: ends{"R", "Q", "HQQ"}, forms: []form{
			says(func(r *scripted.Request, _ scripted.Reply) scripted.Reply {
				return scripted.Reply{
					Reasoning: ponderings, FinishReason: "length", Usage: &annotator.Usage{
						Prompt:     r.Tokens,
						Completion: r.MaxTokens,
					},
				}
			}),
		}},
		{
			n: 71, fault: "`!!!!`, or one phrase thousands of times", action: retry, ends: ends{"R", "R", "HQQ"},
			forms: []form{
				says(answering(strings.Repeat("!", 9_000))),
				says(answering(strings.Repeat("the lantern and ", 600))),
				says(thinks(strings.Repeat("the lantern and ", 600))),
			},
		},
		{n: 74, fault: "a reply of 100 MB", action: refuse, ends: ends{"Q", "HQQ", "HQQ"}, chat: true, forms: []form{
			{{fault: func(r *scripted.Request) *scripted.Fault { return &scripted.Fault{Serve: flood(r.Stream)} }}},
		}},
		{
			n: 75, fault: "a lone surrogate or invalid UTF-8, in text", action: retry, ends: ends{"R", "R", "HQQ"},
			chat: true, forms: []form{
				{{reply: adds(" @@."), edit: replace("@@", `\ud800`)}},
				{{reply: adds(" @@."), edit: replace("@@", "\xff\xfe")}},
			},
		},
		{
			n: 75, fault: "a lone surrogate or invalid UTF-8, in the arguments of a call", action: reask,
			ends: ends{"R", "R", "HQQ"}, chat: true, forms: []form{
				{{
					reply: calling("glossary_create", `{"term":"La@@mp","definition":"A lamp.","tags":["thing"]}`),
					edit:  replace("@@", `\\ud800`),
				}},
				{{
					reply: calling("glossary_create", `{"term":"La@@mp","definition":"A lamp.","tags":["thing"]}`),
					edit:  replace("@@", "\xff\xfe"),
				}},
			},
		},
		{n: 76, fault: "NUL in text", action: retry, ends: ends{"R", "R", "HQQ"}, chat: true, forms: []form{
			{{reply: adds(" @@."), edit: replace("@@", `\u0000`)}},
		}},
		{
			n: 76, fault: "NUL in the arguments of a call", action: reask, ends: ends{"R", "R", "HQQ"}, chat: true,
			forms: []form{
				{{
					reply: calling("glossary_create", `{"term":"La@@mp","definition":"A lamp.","tags":["thing"]}`),
					edit:  replace("@@", `\\u0000`),
				}},
			},
		},
		{
			n: 78, fault: "the reply names another model", action: accept, ends: ends{"R", "R", "R"}, chat: true,
			forms: []form{
				shaped(func(answer map[string]any) { answer["model"] = "another" }),
			},
		},
		{
			n: 79, fault: "`content_filter`", action: refuse, ends: ends{"Q", "Q", "Q"}, says: `"content_filter"`,
			forms: []form{
				says(finishing("content_filter")),
			},
		},
		{
			n: 79, fault: "a content filter rejects the scene with an error", action: refuse, ends: ends{"Q", "Q", "Q"},
			only: streamed, forms: []form{
				answers(403, `{"error":{"message":"x requires moderation. Your input was flagged for \"violence\".",`+
					`"code":403,"metadata":{"reasons":["violence"]}}}`),
				answers(400, `{"error":{"message":"The prompt triggered the content management policy.",`+
					`"code":"content_filter"}}`),
				answers(400, `{"error":{"type":"invalid_request_error","message":"Output blocked by content `+
					`filtering policy"}}`),
			},
		},
		{
			n: 79, fault: "an unknown `finish_reason`", action: refuse, ends: ends{"Q", "HQQ", "HQQ"}, chat: true,
			says: `"xyzzy"`, forms: []form{
				says(finishing("xyzzy")),
			},
		},
	}
}

// quotedOrder is a call that the model quotes but does not make.
const quotedOrder = `{"name":"glossary_delete","arguments":{"entry_id":1,"reason":"No."}}`

// ponderings is a long text without repetitions.
var ponderings = func() string {
	var b strings.Builder
	for i := range 2_000 {
		b.WriteString(strings.Repeat(string(rune('a'+i%23)), 1+i%7) + " " + string(rune('a'+i%19)) +
			string(rune('a'+i/23%26)) + " ")
	}
	return b.String()
}()

var postID = regexp.MustCompile(`(?:"post_id":)(\d+)`)

// rewriting replaces a part of the arguments of calls.
func rewriting(part *regexp.Regexp, as string) func(*scripted.Request, scripted.Reply) scripted.Reply {
	return func(_ *scripted.Request, honest scripted.Reply) scripted.Reply {
		honest.ToolCalls = slices.Clone(honest.ToolCalls)
		for i := range honest.ToolCalls {
			call := &honest.ToolCalls[i]
			call.Arguments = part.ReplaceAllString(call.Arguments, `"post_id":`+as)
		}
		return honest
	}
}

// adds appends a text to the reply.
func adds(text string) func(*scripted.Request, scripted.Reply) scripted.Reply {
	return func(_ *scripted.Request, honest scripted.Reply) scripted.Reply {
		honest.Text += text
		return honest
	}
}

func finishing(reason string) func(*scripted.Request, scripted.Reply) scripted.Reply {
	return func(_ *scripted.Request, honest scripted.Reply) scripted.Reply {
		honest.FinishReason = reason
		return honest
	}
}

func replace(old, by string) func(string) string {
	return func(body string) string { return strings.ReplaceAll(body, old, by) }
}

// flood serves an endless text without repetitions.
func flood(stream bool) http.HandlerFunc {
	var water strings.Builder
	for n := range 80_000 {
		fmt.Fprintf(&water, "wave %d ", n)
	}
	head, piece := `{"choices":[{"index":0,"message":{"role":"assistant","content":"`, "%d "+water.String()
	if stream {
		head, piece = "", `data: {"choices":[{"index":0,"delta":{"content":"`+piece+`"}}]}`+"\n\n"
	}
	return func(w http.ResponseWriter, _ *http.Request) {
		if stream {
			w.Header().Set("Content-Type", "text/event-stream")
		}
		_, err := io.WriteString(w, head)
		for i := 0; i < 110 && err == nil; i++ {
			_, err = fmt.Fprintf(w, piece, i)
		}
	}
}
