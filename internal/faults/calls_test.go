package faults_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"annotator"
	"annotator/internal/scripted"
)

// callRows are the faults of tool calls.
func callRows() []row {
	return []row{
		{
			n: 51, fault: "`finish_reason` is `tool_calls`, though the reply was cut at `max_tokens`", action: reask,
			ends: ends{"R", "R", "HQQ"}, forms: []form{
				says(cut("tool_calls")),
			},
		},
		{
			n: 52, fault: "`finish_reason` is `length`, within a call", action: reask, ends: ends{"R", "R", "HQQ"},
			forms: []form{
				says(cut("length")),
			},
		},
		{n: 53, fault: "arguments are the empty string", action: reask, ends: ends{"R", "R", "HQQ"}, forms: []form{
			says(calling("glossary_create", "")),
		}},
		{n: 54, fault: "arguments lack their last brace", action: reask, ends: ends{"R", "R", "HQQ"}, forms: []form{
			says(calling("glossary_create", `{"term":"Lamp","definition":"A lamp.","tags":["thing"]`)),
		}},
		{
			n: 56, fault: "arguments are an object, not a string", action: accept, ends: ends{"R", "R", "R"},
			chat: true,
			forms: []form{
				shaped(func(answer map[string]any) {
					for _, call := range calls(answer) {
						function := call["function"].(map[string]any)
						function["arguments"] = json.RawMessage(function["arguments"].(string))
					}
				}),
			},
		},
		{
			n: 56, fault: "a call as `function_call`, the older form of a single call", action: accept,
			ends: ends{"R", "R", "R"}, chat: true, forms: []form{
				shaped(func(answer map[string]any) {
					if all, _ := message(answer)["tool_calls"].([]any); len(all) == 1 {
						message(answer)["function_call"], message(answer)["tool_calls"] = calls(answer)[0]["function"],
							[]any{}
					}
				}),
			},
		},
		{n: 57, fault: "arguments are `null`, `[]` or `1`", action: reask, ends: ends{"R", "R", "HQQ"}, forms: []form{
			says(calling("glossary_create", "null")), says(calling("glossary_create", "[]")),
			says(calling("glossary_create", "1")),
		}},
		{
			n: 59, fault: "a duplicate key, or a key in another case", action: reask, ends: ends{"R", "R", "HQQ"},
			forms: []form{
				says(calling("glossary_create", `{"term":"Lamp","term":"Lantern 1","definition":"A lamp.",`+
					`"tags":["thing"]}`)),
				says(calling("glossary_create", `{"Term":"Lamp","term":"Lantern 1","definition":"A lamp.",`+
					`"tags":["thing"]}`)),
			},
		},
		{
			n: 60, fault: "`1.0` or `\"1\"` for an integer", action: note, ends: ends{"R", "R", "R"}, chat: true,
			forms: []form{
				says(rewriting(postID, "$1.0")), says(rewriting(postID, `"$1"`)),
			},
		},
		{
			n: 61, fault: "a call as text, in the form of a model's family", action: note, ends: ends{"R", "R", "R"},
			chat: true, forms: []form{
				says(spoken(`<tool_call>{"name": %q, "arguments": %s}</tool_call>`)),
				says(spoken(`<function=%s>%s</function>`)),
				says(spoken(`[TOOL_CALLS][{"name": %q, "arguments": %s}]`)),
				says(spoken("```json\n{\"name\": %q, \"arguments\": %s}\n```")),
				says(spoken(`[{"name": %q, "arguments": %s}]`)),
				says(spoken(`<|python_tag|>{"name": %q, "parameters": %s}`)),
			},
		},
		{
			n: 61, fault: "a call as text that is incomplete or in an unknown form", action: reask,
			ends: ends{"R", "Q", "HQQ"}, chat: true, forms: []form{
				says(answering(`<tool_call>{"name": "glossary_create", "arguments": {"term": "Lam`)),
				says(answering("<tool_code>\nprint(glossary_create(term='Lamp', definition='A lamp.'))\n</tool_code>")),
			},
		},
		{
			n: 62, fault: "a call quoted from the story", action: note, ends: ends{"R", "R", "R"}, chat: true,
			forms: []form{
				says(func(_ *scripted.Request, honest scripted.Reply) scripted.Reply {
					honest.Text = "On the wall stood: " + quotedCall + "\n" + honest.Text
					return honest
				}),
			},
		},
		{
			n: 63, fault: "a tool that does not exist: `lexicon_create`", action: reask, ends: ends{"R", "R", "HQQ"},
			forms: []form{
				says(calling("lexicon_create", `{"term":"Lamp","definition":"A lamp.","tags":["thing"]}`)),
			},
		},
		{
			n: 63, fault: "the name of a tool with leaked tokens: `functions.glossary_create:0`", action: accept,
			ends: ends{"R", "R", "R"}, chat: true, forms: []form{
				shaped(func(answer map[string]any) {
					for _, call := range calls(answer) {
						if function, ok := call["function"].(map[string]any); ok {
							function["name"] = fmt.Sprintf("functions.%v:0", function["name"])
						}
					}
				}),
			},
		},
		{
			n: 64, fault: "ids of calls are missing, or all the same", action: accept, ends: ends{"R", "R", "R"},
			chat: true, forms: []form{
				shaped(func(answer map[string]any) {
					for _, call := range calls(answer) {
						delete(call, "id")
					}
				}),
				shaped(func(answer map[string]any) {
					for _, call := range calls(answer) {
						call["id"] = "call_0"
					}
				}),
			},
		},
		{
			n: 65, fault: "calls in one reply that are identical or contradictory", action: note,
			ends: ends{"R", "R", "R"}, forms: []form{
				says(func(_ *scripted.Request, honest scripted.Reply) scripted.Reply {
					honest.ToolCalls = slices.Concat(honest.ToolCalls, honest.ToolCalls)
					return honest
				}),
				says(func(_ *scripted.Request, honest scripted.Reply) scripted.Reply {
					for _, call := range slices.Clone(honest.ToolCalls) {
						if call.Name != "glossary_create" {
							continue
						}
						call.Arguments = strings.Replace(call.Arguments, theDefinition, "It is not in room 1.", 1)
						honest.ToolCalls = append(honest.ToolCalls, call)
					}
					return honest
				}),
			},
		},
		{
			n: 66, fault: "`tool_choice` requires a call and is ignored", action: reask, ends: ends{"R", "QRR", "HQQ"},
			governed: true, chat: true, forms: []form{
				says(func(r *scripted.Request, honest scripted.Reply) scripted.Reply {
					w := findWork(r)
					switch demanded := r.MayCall() && r.ToolChoice != "" && r.ToolChoice != `"auto"`; {
					case demanded:
						return scripted.Reply{Text: "I would rather not."}
					case w.intent == "":
						return scripted.Reply{ToolCalls: w.creations()}
					}
					return honest
				}),
			},
		},
		{
			n: 73, fault: "the same call repeated in successive replies", action: reask, ends: ends{"R", "R", "HQQ"},
			forms: []form{
				says(calling("glossary_search", `{"query":"lantern"}`)),
			},
		},
		{
			n: 73, fault: "the same call repeated in a reply until the reply is cut", action: reask,
			ends: ends{"R", "Q", "HQQ"}, says: "repeats calls", forms: []form{
				says(func(_ *scripted.Request, _ scripted.Reply) scripted.Reply {
					return scripted.Reply{ToolCalls: slices.Repeat(
						[]annotator.ToolCall{{Name: "glossary_search", Arguments: `{"query":"lantern"}`}}, 300)}
				}),
			},
		},
	}
}

// calling replaces the reply with a call of a tool.
func calling(tool, arguments string) func(*scripted.Request, scripted.Reply) scripted.Reply {
	return func(*scripted.Request, scripted.Reply) scripted.Reply {
		return scripted.Reply{ToolCalls: []annotator.ToolCall{{Name: tool, Arguments: arguments}}}
	}
}

// answering replaces the reply with a text.
func answering(text string) func(*scripted.Request, scripted.Reply) scripted.Reply {
	return func(*scripted.Request, scripted.Reply) scripted.Reply { return scripted.Reply{Text: text} }
}

// thinks adds reasoning to the reply.
func thinks(reasoning string) func(*scripted.Request, scripted.Reply) scripted.Reply {
	return func(_ *scripted.Request, honest scripted.Reply) scripted.Reply {
		honest.Reasoning = reasoning
		return honest
	}
}

// cut truncates the reply within its only call, at the maximum number of tokens.
func cut(finish string) func(*scripted.Request, scripted.Reply) scripted.Reply {
	return func(r *scripted.Request, _ scripted.Reply) scripted.Reply {
		return scripted.Reply{
			FinishReason: finish, Usage: &annotator.Usage{Prompt: r.Tokens, Completion: r.MaxTokens},
			ToolCalls: []annotator.ToolCall{{Name: "glossary_create", Arguments: `{"term":"Lamp 2","defin`}},
		}
	}
}

// spoken makes the model write its calls as text, each in a format for its name and its arguments.
func spoken(format string) func(*scripted.Request, scripted.Reply) scripted.Reply {
	return func(_ *scripted.Request, honest scripted.Reply) scripted.Reply {
		for _, call := range honest.ToolCalls {
			honest.Text += fmt.Sprintf(format, call.Name, call.Arguments) + "\n"
		}
		honest.ToolCalls = nil
		return honest
	}
}
