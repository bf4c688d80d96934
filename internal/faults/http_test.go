package faults_test

import (
	"fmt"
	"strings"
	"time"

	"annotator"
	"annotator/internal/scripted"
)

// httpRows are the faults in status and body. A refusal that names a context that hardly has space for a scene halts
// the run.
func httpRows() []row {
	return []row{
		{
			n: 1, fault: "the prompt is too long, as vLLM says it", action: shrink, ends: ends{"HRR", "HRR", "H"},
			chat: true, forms: []form{
				tooLong(400, `{"error":{"message":"You passed %[1]d input tokens and requested %[2]d output tokens. `+
					`However, the model's context `+
					`length is only %[3]d tokens, resulting in a maximum input length of %[4]d tokens. Please reduce `+
					`the length of the input `+
					`prompt. (parameter=input_tokens, value=%[1]d)","type":"BadRequestError","param":"input_tokens",`+
					`"code":400}}`),
			},
		},
		{
			n: 2, fault: "the prompt is too long, as older vLLM says it (not nested)", action: shrink,
			ends: ends{"HRR", "HRR", "H"}, chat: true, forms: []form{
				tooLong(400, `{"object":"error","message":"This model's maximum context length is %[3]d tokens. `+
					`However, you requested %[5]d `+
					`tokens (%[1]d in the messages, %[2]d in the completion). Please reduce the length of `+
					`the messages `+
					`or completion.",`+
					`"type":"BadRequestError","param":null,"code":400}`),
			},
		},
		{
			n: 3, fault: "`max_tokens` is too large", action: shrinkReply, ends: ends{"HRR", "HRR", "HHQ"}, chat: true,
			forms: []form{
				tooLong(400, `{"error":{"message":"'max_tokens' or 'max_completion_tokens' is too large: %[2]d. This `+
					`model's maximum context length `+
					`is %[3]d tokens and your request has %[1]d input tokens (%[2]d > %[3]d - %[1]d).",`+
					`"type":"BadRequestError","param":null,"code":400}}`),
			},
		},
		{
			n: 4, fault: "the prompt is too long, as SGLang says it", action: shrink, ends: ends{"HRR", "HRR", "H"},
			chat: true, forms: []form{
				tooLong(400, `{"object":"error","message":"The input (%[1]d tokens) is longer than the `+
					`model's context `+
					`length (%[4]d tokens).",`+
					`"type":"BadRequestError","param":null,"code":400}`),
			},
		},
		{
			n: 4, fault: "the prompt is too long, as TGI says it, or by a limit per minute", action: shrink,
			ends: ends{"QRR", "HRR", "HQQ"}, chat: true, forms: []form{
				tooLong(422, "{\"error\":\"Input validation error: `inputs` must have less than %[4]d tokens. Given: "+
					"%[1]d\",\"error_type\":\"validation\"}"),
				tooLong(413, `{"error":{"message":"Request too large for model x on tokens per minute (TPM): Limit `+
					`%[4]d, Requested %[5]d, please `+
					`reduce your message size and try again.","type":"tokens","code":"rate_limit_exceeded"}}`),
			},
		},
		{
			n: 5, fault: "`context_length_exceeded`", action: shrink, ends: ends{"HRR", "HRR", "H"}, chat: true,
			forms: []form{
				tooLong(400, `{"error":{"message":"This model's maximum context length is %[3]d tokens. However, your `+
					`messages resulted in %[1]d `+
					`tokens.","type":"invalid_request_error","param":"messages","code":"context_length_exceeded"}}`),
			},
		},
		{
			n: 6, fault: "`exceed_context_size_error` of llama.cpp, whatever the status", action: shrink,
			ends: ends{"HRR", "HRR", "H"}, chat: true, forms: []form{
				tooLong(400, llamaTooLong), tooLong(500, llamaTooLong),
			},
		},
		{
			n: 6, fault: "the slots of llama.cpp share one cache, and others fill it", action: wait,
			ends: ends{"R", "R", "H"}, forms: []form{
				answers(500, `{"error":{"code":500,"message":"Context size has been exceeded.",`+
					`"type":"server_error"}}`),
			},
		},
		{
			n: 8, fault: "the prompt is too long, as LM Studio says it: within a stream, an event", action: shrink,
			ends: ends{"QRR", "HRR", "HQQ"}, only: streamed, chat: true, forms: []form{
				answers(0, "event: error\ndata: {\"error\":{\"message\":\""+lmTooLong+"\"}}\n\n"),
			},
		},
		{
			n: 8, fault: "the prompt is too long, as LM Studio says it: with 400", action: shrink,
			ends: ends{"QRR", "HRR", "HQQ"}, only: whole, chat: true, forms: []form{
				answers(400, `{"error":"`+lmTooLong+`"}`),
			},
		},
		{
			n: 10, fault: "Ollama silently drops the oldest messages", action: halt, ends: ends{"H", "H", "H"},
			says: "drops the beginning", forms: []form{
				says(func(r *scripted.Request, honest scripted.Reply) scripted.Reply {
					honest.Usage = &annotator.Usage{Prompt: r.Tokens / 3, Completion: 50}
					return honest
				}),
			},
		},
		{n: 11, fault: "400 or 413 without a body", action: shrink, ends: ends{"QRR", "HQR", "HQQ"}, forms: []form{
			answers(400, ""), answers(413, ""),
		}},
		{
			n: 12, fault: "404: unknown model", action: halt, ends: ends{"H", "H", "H"}, says: "it serves scripted",
			chat: true, forms: []form{
				answers(404, `{"error":{"message":"The model `+"`x`"+` does not exist.","type":"NotFoundError",`+
					`"param":"model","code":404}}`),
				answers(404, `{"error":{"message":"model \"x\" not found, try pulling it first","type":"api_error",`+
					`"param":null,"code":null}}`),
			},
		},
		{
			n: 13, fault: "401; `error` may be an object, a string or null", action: halt, ends: ends{"H", "H", "H"},
			forms: []form{
				answers(401, `{"error":{"message":"Invalid API Key","type":"invalid_request_error",`+
					`"code":"invalid_api_key"}}`),
				answers(401, `{"error":"Unauthorized"}`),
				answers(401, `{"error":null}`),
			},
		},
		{n: 14, fault: "429, with a Retry-After in any form", action: wait, ends: ends{"R", "R", "H"}, forms: []form{
			slowDown("5"), slowDown("Sat, 01 Jan 2000 00:00:30 GMT"), slowDown("0"), slowDown("-1"), slowDown("1.5"),
			slowDown("5s"),
			slowDown("99999999999999999999"), answers(429, `{"error":{"message":"slow down"}}`),
		}},
		{
			n: 15, fault: "429 `insufficient_quota`", action: halt, ends: ends{"H", "H", "H"},
			says: "credit", chat: true,
			forms: []form{
				answers(429, `{"error":{"message":"You exceeded your current quota.","type":"insufficient_quota",`+
					`"param":null,"code":"insufficient_quota"}}`),
			},
		},
		{n: 16, fault: "503: the model is loading", action: wait, ends: ends{"R", "R", "H"}, forms: []form{
			answers(503, loading),
		}},
		{n: 16, fault: "the same, for half an hour", action: wait, ends: ends{"R", "R", "R"}, forms: []form{
			{{fault: func(*scripted.Request) *scripted.Fault {
				if !time.Now().Before(beginning.Add(30 * time.Minute)) {
					return nil
				}
				return &scripted.Fault{Status: 503, Body: loading}
			}}},
		}},
		{
			n: 18, fault: "vLLM's engine dies, then the port refuses connections", action: wait,
			ends: ends{"R", "R", "H"},
			chat: true, forms: []form{{
				answers(500, `{"error":{"message":"EngineCore encountered an issue. See stack trace (above) for the `+
					`root cause.","type":"Internal`+
					`ServerError","param":null,"code":500}}`)[0],
				takes(refused)[0],
			}},
		},
		{
			n: 18, fault: "a server reports that its model has crashed or was unloaded", action: wait,
			ends: ends{"R", "R", "H"}, only: streamed, chat: true, forms: []form{
				answers(400, `{"error":"The model has crashed without additional information. (Exit code: null)"}`),
				answers(500, `{"error":"llama runner process has terminated: exit status 2"}`),
				answers(400, `{"error":"Model unloaded."}`),
			},
		},
		{
			n: 18, fault: "the server's device or engine fails, with whatever status", action: wait,
			ends: ends{"R", "R", "H"}, says: "its device or its engine has failed", chat: true, forms: []form{
				answers(400, `{"object":"error","message":"RuntimeError: CUDA error: device-side assert triggered",`+
					`"type":"BadRequestError","param":null,"code":400}`),
				answers(400, `{"error":{"message":"CUDA out of memory. Tried to allocate 2.00 GiB.",`+
					`"type":"BadRequestError","code":400}}`),
				answers(424, `{"error":"Request failed during generation: Server error: NCCL error: unhandled system `+
					`error","error_type":"generation"}`),
				answers(500, `{"error":{"message":"","type":"EngineDeadError","code":500}}`),
				answers(422, "HIP error: out of memory"),
			},
		},
		{
			n: 18, fault: "the same, and it answers a probe", action: wait, ends: ends{"R", "R", "H"},
			says: "its device or its engine has failed", chat: true, forms: []form{
				refuses(400, `{"object":"error","message":"RuntimeError: CUDA error: an illegal memory access was `+
					`encountered","code":400}`, hasTools),
			},
		},
		{
			n: 18, fault: "the same, in a stream", action: wait, ends: ends{"R", "R", "H"},
			says: "its device or its engine has failed", only: streamed, chat: true, forms: []form{
				answers(0, "data: {\"error\":{\"message\":\"CUDA "+
					"error\",\"type\":\"InternalServerError\",\"code\":null}}\n\ndata: [DONE]\n\n"),
			},
		},
		{n: 19, fault: "/health answers but requests hang", action: wait, ends: ends{"R", "R", "H"}, forms: []form{
			breaks(scripted.Fault{Delay: 24 * time.Hour}),
		}},
		{
			n: 21, fault: "a server fails on replayed arguments that are not an object", action: reask,
			ends: ends{"R", "R", "HQQ"}, chat: true, forms: []form{
				{{reply: calling("glossary_create", `{"term":"Lan`), fault: refusesReplay(500,
					"Failed to parse tool call arguments as JSON")}},
				{{reply: calling("glossary_create", `{"term":"Lan`), fault: refusesReplay(400,
					"Unterminated string starting at: line 1 column 9 (char 8)")}},
			},
		},
		{
			n: 22, fault: "the server's own parser rejects the model's call", action: retry,
			ends: ends{"R", "R", "HQQ"},
			chat: true, forms: []form{
				refuses(500, `{"error":{"code":500,"message":"Failed to parse input at pos 12: {\"name\":",`+
					`"type":"server_error"}}`, hasTools),
				refuses(500, `{"error":{"code":500,"message":"The model produced output that does not match the `+
					`expected peg-native format","type":"server_error"}}`, hasTools),
				refuses(500, `{"error":{"message":"error parsing tool call: raw='{\"name\": \"glossary`+
					`', err=unexpected end of JSON input","type":"api_error"}}`, hasTools),
			},
		},
		{n: 23, fault: "roles must alternate", action: adapt, ends: ends{"R", "H", "H"}, chat: true, forms: []form{
			answers(400, `{"object":"error","message":"Conversation roles must alternate `+
				`user/assistant/user/assistant/...","type":"BadRequestError","code":400}`),
		}},
		{
			n: 24, fault: "the template has no system role", action: adapt, ends: ends{"R", "R", "R"}, chat: true,
			forms: []form{
				refuses(400, `{"object":"error","message":"System role not supported","type":"BadRequestError",`+
					`"code":400}`, hasSystem),
			},
		},
		{
			n: 25, fault: "a tool's answer without its call", action: prevent, ends: ends{"R", "R", "R"}, chat: true,
			forms: []form{
				refuses(400, `{"object":"error","message":"Unexpected role 'tool' after role 'user'",`+
					`"type":"BadRequestError","code":400}`, hasStrayAnswer),
			},
		},
		{
			n: 26, fault: "call ids must have nine letters or digits", action: prevent, ends: ends{"R", "R", "R"},
			chat: true, forms: []form{
				refuses(400, `{"object":"error","message":"Tool call id was X but must be a-z, A-Z, 0-9,`+
					` with a length `+
					`of 9.","code":400}`, hasForeignID),
			},
		},
		{n: 27, fault: "call ids must differ", action: prevent, ends: ends{"R", "R", "R"}, chat: true, forms: []form{
			refuses(400, `{"object":"error","message":"Duplicate value for 'tool_call_id' of X in message[5]",`+
				`"code":400}`, hasDoubledID),
		}},
		{
			n: 28, fault: "the server was started without tools", action: halt, ends: ends{"H", "H", "H"},
			says: "--enable-auto-tool-choice", chat: true, forms: []form{
				answers(400, `{"object":"error","message":"\"auto\" tool choice requires `+
					`--enable-auto-tool-choice and `+
					`--tool-call-parser to be set","code":400}`),
			},
		},
		{
			n: 29, fault: "reasoning replayed with calls is refused", action: prevent, ends: ends{"R", "R", "R"},
			chat: true, forms: []form{{{
				reply: thinks("The lantern again."),
				fault: refuses(400, `{"error":{"message":"Cannot pass both content and thinking in an `+
					`assistant message `+
					`with tool calls!"}}`, hasReasoning)[0].fault,
			}}},
		},
		{n: 30, fault: "a proxy's page instead of an answer", action: retry, ends: ends{"R", "R", "H"}, forms: []form{
			answers(502, "<html><body>Bad Gateway</body></html>", "Content-Type: text/html"),
			answers(504, "<html><body>Gateway Timeout</body></html>", "Content-Type: text/html"),
		}},
		{
			n: 30, fault: "another service answers at the address for a while", action: wait, ends: ends{"R", "R", "H"},
			forms: []form{
				answers(404, "<html><title>The tunnel is offline</title></html>", "Content-Type: text/html"),
				answers(403, "<html><title>Attention Required!</title></html>", "Content-Type: text/html"),
				answers(200, "<!doctype html><title>Welcome</title>", "Content-Type: text/html"),
				answers(200, `{"status":"starting"}`), answers(200, "upstream connect error"), answers(204, ""),
				shaped(func(answer map[string]any) { answer["choices"] = []any{} }),
				shaped(func(answer map[string]any) { delete(answer, "choices") }),
			},
		},
		{n: 30, fault: "500 as plain text", action: retry, ends: ends{"R", "R", "H"}, forms: []form{
			answers(500, "Internal Server Error", "Content-Type: text/plain; charset=utf-8"),
		}},
		{n: 32, fault: "200 with an error inside", action: retry, ends: ends{"R", "R", "H"}, chat: true, forms: []form{
			answers(200, `{"error":{"message":"something went wrong"}}`),
			answers(200, `{"detail":"something went wrong"}`),
		}},
	}
}

// beginning is the start of the clock of every cell.
var beginning = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)

const (
	loading      = `{"error":{"message":"Loading model","type":"unavailable_error","code":503}}`
	llamaTooLong = `{"error":{"code":400,"message":"the request exceeds the available context size, try ` +
		`increasing it",` +
		`"type":"exceed_context_size_error","n_prompt_tokens":%[1]d,"n_ctx":%[4]d}}`
	lmTooLong = "The number of tokens to keep from the initial prompt is greater than the context length. " +
		"Try to load the model with a larger context length, or provide a shorter input"
)

// tooLong refuses a request for length. The arguments of the text are numbers of tokens. They are [1] the prompt, [2]
// the reply, [3] the server's context, [4] the maximum prompt, and [5] the sum of [1] and [2].
func tooLong(status int, text string) form {
	return form{{fault: func(r *scripted.Request) *scripted.Fault {
		asked := r.Tokens + r.MaxTokens
		return &scripted.Fault{Status: status, Body: fmt.Sprintf(text, r.Tokens, r.MaxTokens, asked-1,
			r.Tokens-1, asked)}
	}}}
}

func slowDown(retryAfter string) form {
	return answers(429, `{"error":{"message":"slow down"}}`, "Retry-After: "+retryAfter)
}

// refuses refuses requests with a property.
func refuses(status int, body string, has func(r *scripted.Request) bool) form {
	return form{{fault: func(r *scripted.Request) *scripted.Fault {
		if !has(r) {
			return nil
		}
		return &scripted.Fault{Status: status, Body: body}
	}}}
}

func hasSystem(r *scripted.Request) bool { return r.Messages[0].Role == annotator.RoleSystem }

func hasTools(r *scripted.Request) bool { return len(r.Tools) > 0 }

func hasStrayAnswer(r *scripted.Request) bool {
	asked := map[string]bool{}
	for i := range r.Messages {
		for _, call := range r.Messages[i].ToolCalls {
			asked[call.ID] = true
		}
		if r.Messages[i].Role == annotator.RoleTool && !asked[r.Messages[i].ToolCallID] {
			return true
		}
	}
	return false
}

func hasForeignID(r *scripted.Request) bool {
	return hasCall(r, func(c annotator.ToolCall) bool {
		return len(c.ID) != 9 || strings.Trim(strings.ToLower(c.ID), "abcdefghijklmnopqrstuvwxyz0123456789") != ""
	})
}

func hasDoubledID(r *scripted.Request) bool {
	seen := map[string]bool{}
	return hasCall(r, func(c annotator.ToolCall) bool {
		doubled := seen[c.ID]
		seen[c.ID] = true
		return doubled
	})
}

func hasCall(r *scripted.Request, is func(annotator.ToolCall) bool) bool {
	for i := range r.Messages {
		for _, call := range r.Messages[i].ToolCalls {
			if is(call) {
				return true
			}
		}
	}
	return false
}

func hasReasoning(r *scripted.Request) bool {
	for i := range r.Messages {
		if r.Messages[i].Reasoning != "" {
			return true
		}
	}
	return false
}

// refusesReplay is a server that fails for arguments that are not an object.
func refusesReplay(status int, message string) func(r *scripted.Request) *scripted.Fault {
	return refuses(status, `{"error":{"message":"`+message+`"}}`, func(r *scripted.Request) bool {
		return hasCall(r, func(c annotator.ToolCall) bool {
			return !strings.HasPrefix(c.Arguments, "{") || !strings.HasSuffix(c.Arguments, "}")
		})
	})[0].fault
}
