package anthropic_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"annotator"
	"annotator/internal/scripted"
	"annotator/internal/wiretest"
	"annotator/model"
	"annotator/model/endpoint"
)

// TestKeyIsInTheHeaderOfEachServer: the key is in Anthropic's header, and for other servers also a bearer token.
func TestKeyIsInTheHeaderOfEachServer(t *testing.T) {
	t.Parallel()
	for base, want := range map[string]http.Header{
		"https://api.anthropic.com/v1/messages": {"X-Api-Key": {"canary-key"}},
		"http://localhost:8000/v1":              {"X-Api-Key": {"canary-key"}, "Authorization": {"Bearer canary-key"}},
	} {
		got := wiretest.Recorder{Answer: done}
		c := newClient(t, endpoint.Options{BaseURL: base, Key: "canary-key", HTTP: &got})
		if _, err := c.Complete(t.Context(), &model.Request{}); err != nil {
			t.Fatal(err)
		}
		want.Set("Anthropic-Version", "2023-06-01")
		want.Set("Accept", "application/json")
		want.Set("Accept-Encoding", "identity")
		want.Set("Content-Type", "application/json")
		if diff := cmp.Diff(want, got.Request.Header); diff != "" {
			t.Errorf("%s: %s", base, diff)
		}
		if asked, want := got.Request.URL.String(), strings.TrimSuffix(base, "/messages")+"/messages"; asked != want {
			t.Errorf("asked %q, want %q", asked, want)
		}
	}
	got := wiretest.Recorder{Answer: `{"data":[]}`}
	c := newClient(t, endpoint.Options{HTTP: &got})
	if _, err := c.Models(t.Context()); err != nil || got.Request.Header.Get("X-Api-Key") != "" ||
		got.Request.Header.Get("Anthropic-Version") == "" {
		t.Errorf("without a key: %v, %v", got.Request, err)
	}
}

func TestModels(t *testing.T) {
	t.Parallel()
	const list = `{"data":[{"type":"model","id":"claude","display_name":"Claude","max_input_tokens":200000},
		{"id":"vllm","max_model_len":4096},{"id":"silent","max_input_tokens":null}],"has_more":false}`
	got, err := newClient(t, endpoint.Options{HTTP: wiretest.Always(200, "application/json", list)}).Models(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	want := []model.Model{{ID: "claude", MaxContext: 200_000}, {ID: "vllm", MaxContext: 4096}, {ID: "silent"}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	_, err = newClient(t, endpoint.Options{HTTP: wiretest.Always(200, "", `{}`)}).Models(t.Context())
	if f := wiretest.Fault(t, nil, err); f.Kind != annotator.Malformed {
		t.Errorf("no list is %q", f.Kind)
	}
}

func TestServerThatCannotCountIsNotAskedAgain(t *testing.T) {
	t.Parallel()
	server := scripted.Start(t, scripted.Options{})
	c := newClient(t, endpoint.Options{BaseURL: server.Endpoint()})
	text := strings.Repeat("dawn", 100)
	if n, err := c.CountTokens(t.Context(), "scripted", text); err != nil || n < 100 || n > 110 {
		t.Errorf("counted %d, %v", n, err)
	}
	_, err := newClient(t, endpoint.Options{HTTP: wiretest.Always(200, "", `{}`)}).CountTokens(t.Context(), "m", "x")
	if f := wiretest.Fault(t, nil, err); f.Kind != annotator.Malformed {
		t.Errorf("no count is %q", f.Kind)
	}
}

// TestWhatTheModelRefusesIsLeftOut: what a model refused is omitted from later requests.
func TestWhatTheModelRefusesIsLeftOut(t *testing.T) {
	t.Parallel()
	got := wiretest.Recorder{Answer: done}
	c := newClient(t, endpoint.Options{HTTP: &got})
	var known model.Capabilities
	request := &model.Request{Tools: []byte(`[{"name":"a"}]`), Choice: model.Choice{Mode: model.ChoiceRequired}}
	refused := func(message string) *model.Fault {
		return model.Classify(400, http.Header{},
			[]byte(`{"type":"error","error":{"type":"invalid_request_error","message":`+wiretest.JSON(message)+`}}`))
	}
	for _, step := range []struct {
		message  string
		learns   bool
		then     string
		thenGone string
	}{
		{"messages: text content blocks must be non-empty", false, `"temperature"`, ""},
		{"`temperature` is deprecated for this model.", true, `"type":"any"`, `"temperature"`},
		{"`temperature` is deprecated for this model.", false, `"type":"any"`, `"temperature"`},
		{"Thinking may not be enabled when tool_choice forces tool use.", true, `"type":"auto"`, `"any"`},
	} {
		if said := known.Learn(refused(step.message), new(model.Request), c.Refusals()); (said != "") != step.learns {
			t.Errorf("%s teaches %q", step.message, said)
		}
		request.Workarounds = known.Workarounds
		if _, err := c.Complete(t.Context(), request); err != nil {
			t.Fatal(err)
		}
		if body := string(got.Body); !strings.Contains(body, step.then) ||
			step.thenGone != "" && strings.Contains(body, step.thenGone) {
			t.Errorf("after %q: %s", step.message, body)
		}
	}
}

// TestToolsThatMustNotBeCalled: the choice is not sent, because of the cache, until a model makes use of it.
func TestToolsThatMustNotBeCalled(t *testing.T) {
	t.Parallel()
	got := wiretest.Recorder{Answer: `{"content":[{"type":"text","text":"Dawn"}],"stop_reason":"end_turn"}`}
	c := newClient(t, endpoint.Options{HTTP: &got})
	request := &model.Request{Tools: []byte(`[{"name":"a"}]`), Choice: model.Choice{Mode: model.ChoiceNone}}
	complete := func(want string) (*model.Reply, error) {
		t.Helper()
		reply, err := c.Complete(t.Context(), request)
		if !strings.Contains(string(got.Body), `"tool_choice":{"type":"`+want+`"}`) {
			t.Errorf("the choice is not %s: %s", want, got.Body)
		}
		return reply, err
	}
	if reply, err := complete("auto"); err != nil || reply.Text != "Dawn" {
		t.Errorf("%+v, %v", reply, err)
	}
	got.Answer = `{"content":[{"type":"tool_use","id":"1","name":"a","input":{}}],"stop_reason":"tool_use","usage":{"input_tokens":9}}`
	reply, err := complete("auto")
	f := wiretest.Fault(t, reply, err)
	if f.Kind != annotator.Malformed || f.Usage.Prompt != 9 || string(f.Raw) != got.Answer {
		t.Errorf("%+v", f)
	}
	var known model.Capabilities
	if known.Learn(f, new(model.Request), c.Refusals()) == "" ||
		known.Learn(f, new(model.Request), c.Refusals()) != "" {
		t.Errorf("%v is not learned once", f)
	}
	request.Workarounds = known.Workarounds
	if reply, err := complete("none"); err != nil || len(reply.Calls) != 1 {
		t.Errorf("%+v, %v", reply, err)
	}
}
