package doctor

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"annotator/model"
	"annotator/model/endpoint"
)

// wireChat is the only wire with one common form of a schema for the whole reply.
const wireChat = "chat"

// schemaQuestion asks for words, and its schema for an object: only a server that enforces the schema sends one.
const schemaQuestion = `{"messages":[{"role":"user","content":"Is water wet? Answer with one word."}],` +
	`"stream":false,"max_tokens":128,` +
	`"response_format":{"type":"json_schema","json_schema":{"name":"answer","strict":true,"schema":{"type":"object",` +
	`"properties":{"verdict":{"type":"string","enum":["wet","dry"]}},"required":["verdict"],` +
	`"additionalProperties":false}}},"model":`

// honoursSchema checks what no run needs, for information.
func honoursSchema(ctx context.Context, e *examination) Finding {
	if e.WireName != wireChat || e.Beside == nil {
		return skipped("not on this wire; nothing in a run needs it")
	}
	name, err := endpoint.Marshal(e.client.Model)
	if err != nil {
		return skipped("%s", err)
	}
	call := endpoint.Call{
		URL:  e.Beside.BaseURL() + "/chat/completions",
		Body: endpoint.Segments{[]byte(schemaQuestion), name, []byte(`}`)},
	}
	said, err := endpoint.Read(ctx, e.Beside, &call, contentOf)
	if err != nil {
		return missing("", "%s; nothing in a run needs it", model.ClassifyTransport(err))
	}
	var object struct{ Verdict string }
	if json.Unmarshal([]byte(said), &object) != nil || !slices.Contains([]string{"wet", "dry"}, object.Verdict) {
		return missing("", "it is asked for an object and answers %.60q; nothing in a run needs it",
			strings.TrimSpace(said))
	}
	return ok("%.60s", strings.Join(strings.Fields(said), " "))
}

func contentOf(body []byte) (string, error) {
	var reply struct {
		Choices []struct {
			Message struct{ Content string }
		}
	}
	if err := json.Unmarshal(body, &reply); err != nil || len(reply.Choices) == 0 {
		return "", errors.New("it is no chat completion")
	}
	return reply.Choices[0].Message.Content, nil
}
