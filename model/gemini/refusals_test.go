package gemini_test

import (
	"net/http"
	"strings"
	"testing"

	"annotator"
	"annotator/internal/wiretest"
	"annotator/model"
	"annotator/model/endpoint"
)

// TestWhatTheServerRefusesIsLeftOut: after a refusal in the words of a server, the next request omits what was refused,
// and nothing is learned twice.
func TestWhatTheServerRefusesIsLeftOut(t *testing.T) {
	t.Parallel()
	for message, test := range map[string]struct{ does, sends, leaves string }{
		`Invalid JSON payload received. Unknown name "id" at 'contents[1].parts[0].function_call': Cannot find field.`: {
			"calls and results go without ids", `{"functionCall":{"id":"abcdefgh1","name"`,
			`{"functionCall":{"name":"search"`,
		},
		`Invalid JSON payload received. Unknown name "thoughtSignature" at 'contents[1].parts[0]': Cannot find field.`: {
			"calls go without a signature", `"thoughtSignature"`, `{"functionCall":{"id":"abcdefgh1","name":"search"`,
		},
		"Corrupted thought signature.": {
			"calls go without a signature", `"thoughtSignature"`, `{"functionCall":{"id":"abcdefgh1","name":"search"`,
		},
		`Invalid value at 'tool_config.function_calling_config.mode' (type.googleapis.com/google.ai.generativelanguage.v1.FunctionCallingConfig.Mode), "VALIDATED"`: {
			"no tools are named where none must be called", `"mode":"VALIDATED","allowedFunctionNames"`,
			`"mode":"AUTO"}`,
		},
		`Invalid JSON payload received. Unknown name "seed" at 'generation_config': Cannot find field.`: {
			"no seed is sent", `"seed":7`, `"temperature":0}`,
		},
	} {
		sent := wiretest.Recorder{Answer: done}
		c := newClient(t, endpoint.Options{HTTP: &sent})
		var known model.Capabilities
		request := asks(t, c, model.Choice{Allowed: []string{"search"}})
		send := func() string {
			request.Workarounds = known.Workarounds
			if _, err := c.Complete(t.Context(), request); err != nil {
				t.Fatal(err)
			}
			return string(sent.Body)
		}
		if body := send(); !strings.Contains(body, test.sends) {
			t.Fatalf("%s: no %s in %s", message, test.sends, body)
		}
		f := &model.Fault{Kind: annotator.Refused, Status: http.StatusBadRequest, Message: message}
		if does := known.Learn(f, new(model.Request), c.Refusals()); does != test.does {
			t.Errorf("%s: %q", message, does)
		}
		body := send()
		if strings.Contains(body, test.sends) || !strings.Contains(body, test.leaves) ||
			!strings.Contains(body, `{\"functionCall\":{\"id\":\"a\",`) {
			t.Errorf("%s: %s", message, body)
		}
		if again := known.Learn(f, new(model.Request), c.Refusals()); again != "" {
			t.Errorf("%s: learned again: %q", message, again)
		}
	}
}

// asks makes a request with a call in its history, and a text that looks like one.
func asks(t *testing.T, c model.Encoder, choice model.Choice) *model.Request {
	t.Helper()
	groups := append(conversation[:3:3], []annotator.Message{says(annotator.RoleUser, `{"functionCall":{"id":"a",`)})
	return &model.Request{
		Choice: choice, Seed: 7, History: wiretest.History(t, c, groups...), Tools: wiretest.Tools(t, c, definitions),
	}
}

func TestNothingToLearn(t *testing.T) {
	t.Parallel()
	c := newClient(t, endpoint.Options{})
	for _, f := range []model.Fault{
		{Kind: annotator.Refused, Status: 400, Message: `Unknown name "model": Cannot find field.`},
		{Kind: annotator.Overloaded, Status: 429, Message: `Unknown name "seed" at 'generation_config'`},
		{
			Kind: annotator.Refused, Status: 400,
			Message: "Function call is missing a thought_signature in functionCall parts.",
		},
	} {
		if does := new(model.Capabilities).Learn(&f, new(model.Request), c.Refusals()); does != "" {
			t.Errorf("%s: %q", f.Message, does)
		}
	}
}
