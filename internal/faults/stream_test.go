package faults_test

import (
	"math"
	"strings"
	"time"

	"annotator/internal/scripted"
)

// streamRows are the faults of the network and of streams.
func streamRows() []row {
	return []row{
		{
			n: 33, fault: "the connection is refused, or the host is unknown", action: wait, ends: ends{"R", "R", "H"},
			forms: []form{
				takes(refused), takes(unknown),
			},
		},
		{
			n: 35, fault: "the connection is reset, or closed without an answer", action: retry,
			ends: ends{"R", "R", "H"},
			forms: []form{
				takes(reset), breaks(scripted.Fault{Cut: -1}),
			},
		},
		{
			n: 37, fault: "no headers for hours, or an answer that stalls", action: retry, ends: ends{"R", "R", "H"},
			forms: []form{
				breaks(scripted.Fault{Delay: 24 * time.Hour}), breaks(scripted.Fault{Cut: 200, Stall: 24 * time.Hour}),
			},
		},
		{
			n: 37, fault: "keep-alive comments, stray bytes or a slow drip for hours, and no reply", action: retry,
			ends: ends{"R", "R", "H"}, says: "token", only: streamed, chat: true, forms: []form{
				drips(": ping\n\n", 10*time.Second), drips("x", 10*time.Second), drips(" ", time.Minute),
				drips(`data: {"choices":[{"index":0,"delta":{"content":"I"}}]}`+"\n\n", 100*time.Second),
			},
		},
		{
			n: 37, fault: "white space or the beginning of an object for hours, and no reply", action: retry,
			ends: ends{"R", "R", "H"}, says: "token", only: whole, chat: true, forms: []form{
				drips(" ", 10*time.Second), drips("{", 100*time.Second),
			},
		},
		{
			n: 39, fault: "an untrusted certificate; http sent to https, or https to http", action: halt,
			ends: ends{"H", "H", "H"}, forms: []form{
				takes(untrusted), takes(plainToTLS), takes(tlsToPlain),
			},
		},
		{n: 40, fault: "the body is truncated", action: retry, ends: ends{"R", "R", "H"}, forms: []form{
			answers(200, `{"choices":[`, "Content-Length: 5000"), breaks(scripted.Fault{Cut: 300}),
		}},
		{
			n: 42, fault: "a reply that exceeds the client's timeout", action: retry, ends: ends{"R", "R", "H"},
			forms: []form{
				breaks(scripted.Fault{Delay: 16 * time.Minute}),
			},
		},
		{
			n: 43, fault: "comments and empty data between the events", action: accept, ends: ends{"R", "R", "R"},
			only: streamed, forms: []form{
				between(": ping\n\n"), between(": OPENROUTER PROCESSING\n\n"), between("data:\n\n"),
				between("data: \n\n"),
			},
		},
		{
			n: 44, fault: "200, then an error as an event, then `[DONE]`", action: retry, ends: ends{"R", "R", "H"},
			only: streamed, chat: true, forms: []form{
				answers(0, "data: {\"error\":{\"message\":\"Generation "+
					"failed\",\"type\":\"InternalServerError\",\"code\":null}}\n\ndata: [DONE]\n\n"),
			},
		},
		{
			n: 45, fault: "a stream without its end: no `[DONE]`, no `finish_reason`; cut within arguments",
			action: retry,
			ends:   ends{"R", "R", "HQQ"}, only: streamed, chat: true, forms: []form{
				edited(withoutEnd), edited(func(body string) string { return body[:len(body)*3/5] }),
			},
		},
		{
			n: 46, fault: "`usage` in an event without choices, or null", action: accept, ends: ends{"R", "R", "R"},
			only: streamed, chat: true, forms: []form{
				edited(func(body string) string {
					return strings.ReplaceAll(body, `"choices":[{`,
						`"usage":null,"choices":[{`)
				}),
			},
		},
		{
			n: 46, fault: "token counts that are impossible or unreadable", action: accept, ends: ends{"R", "R", "R"},
			only: streamed, chat: true, forms: []form{
				shaped(func(answer map[string]any) {
					answer["usage"] = map[string]any{"prompt_tokens": math.MaxInt64, "completion_tokens": math.MaxInt64}
				}),
				shaped(func(answer map[string]any) {
					answer["usage"] = map[string]any{"prompt_tokens": "5000", "completion_tokens": 1.5}
				}),
				shaped(func(answer map[string]any) { answer["usage"] = []any{} }),
			},
		},
		{
			n: 47, fault: "two events with a `finish_reason`", action: accept, ends: ends{"R", "R", "R"},
			only: streamed,
			chat: true, forms: []form{
				edited(doubledEnd),
			},
		},
		{
			n: 49, fault: "a line of an event longer than 64 KiB", action: accept, ends: ends{"R", "R", "R"},
			only: streamed, chat: true, forms: []form{
				edited(func(body string) string {
					return strings.ReplaceAll(body, `"choices":`, `"padding":"`+strings.Repeat("x", 70<<10)+
						`","choices":`)
				}),
			},
		},
		{
			n: 50, fault: "CRLF, a byte order mark, and characters split between reads", action: accept,
			ends: ends{"R", "R", "R"}, only: streamed, forms: []form{
				{{pace: 1, edit: func(body string) string {
					return "\ufeff" + strings.ReplaceAll(body, "\n",
						"\r\n")
				}}},
			},
		},
	}
}

// between inserts a text before each event.
func between(noise string) form {
	return edited(func(body string) string {
		return noise + strings.ReplaceAll(body, "\n\ndata: ",
			"\n\n"+noise+"data: ")
	})
}

// withoutEnd omits all events from the one with the finish_reason on.
func withoutEnd(body string) string {
	at := strings.Index(body, `"finish_reason":"`)
	if at < 0 {
		return body
	}
	return body[:strings.LastIndex(body[:at], "data: ")]
}

// doubledEnd sends the events of the reply twice, including its end.
func doubledEnd(body string) string {
	at := strings.Index(body, `"finish_reason":"`)
	if at < 0 {
		return body
	}
	end := at + strings.Index(body[at:], "\n\n") + 2
	return body[:end] + body[:end] + body[end:]
}
