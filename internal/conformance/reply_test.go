package conformance_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"annotator"
	"annotator/internal/scripted"
	"annotator/internal/wiretest"
	"annotator/model"
)

// groups are a conversation in the groups that a run encodes: a message, or the results of a reply's calls.
func groups() *rapid.Generator[[][]annotator.Message] {
	return rapid.Custom(func(t *rapid.T) (all [][]annotator.Message) {
		for range rapid.IntRange(1, 4).Draw(t, "turns") {
			all = append(all, []annotator.Message{{Role: annotator.RoleUser, Content: rapid.String().Draw(t, "user")}})
			m := annotator.Message{
				Role: annotator.RoleAssistant, Content: rapid.String().Draw(t, "assistant"),
				Reasoning: "hm",
			}
			m.ToolCalls = rapid.SliceOfN(calls(), 0, 3).Draw(t, "calls")
			all = append(all, []annotator.Message{m})
			var results []annotator.Message
			for _, c := range m.ToolCalls {
				results = append(results, annotator.Message{
					Role: annotator.RoleTool, ToolCallID: c.ID, Tool: c.Name,
					Content: rapid.String().Draw(t, "result"),
				})
			}
			if results != nil {
				all = append(all, results)
			}
		}
		return all
	})
}

// calls have arguments that every wire preserves, whether it encodes them as text or as an object.
func calls() *rapid.Generator[annotator.ToolCall] {
	return rapid.Custom(func(t *rapid.T) annotator.ToolCall {
		var arguments bytes.Buffer
		e := json.NewEncoder(&arguments)
		e.SetEscapeHTML(false)
		if err := e.Encode(map[string]string{"q": rapid.String().Draw(t, "q")}); err != nil {
			t.Fatal(err)
		}
		return annotator.ToolCall{
			ID:        rapid.StringMatching(`[a-zA-Z0-9]{9}`).Draw(t, "id"),
			Name:      rapid.StringMatching(`[a-z][a-z_]{0,11}`).Draw(t, "name"),
			Arguments: strings.TrimSpace(arguments.String()),
		}
	})
}

// onlyGrows: a conversation has the same bytes whether it is encoded at once or in groups, and whenever it is encoded.
func onlyGrows(t *testing.T, w wire) {
	c, again := w.answered(t, nil), w.answered(t, nil)
	rapid.Check(t, func(t *rapid.T) {
		var all []annotator.Message
		var joined [][]byte
		for _, group := range groups().Draw(t, "groups") {
			breakArguments(t, group)
			encoded, err := c.Encode(group)
			if err != nil {
				t.Fatal(err)
			}
			all, joined = append(all, group...), append(joined, encoded)
		}
		whole, err := again.Encode(all)
		if err != nil {
			t.Fatal(err)
		}
		if got := bytes.Join(joined, []byte{','}); !bytes.Equal(got, whole) {
			t.Fatalf("%s\nis not\n%s", got, whole)
		}
		if list := fmt.Sprintf("[%s]", whole); !json.Valid([]byte(list)) {
			t.Fatalf("no list: %s", list)
		}
	})
}

// breakArguments replaces some arguments with those of models that write no object, or one that a wire cannot send.
func breakArguments(t *rapid.T, group []annotator.Message) {
	broken := []string{"", "{}", "null", `{"q":`, `{"q":1e400}`, `{"q":[{"r":"\ud800"}]}`}
	for _, m := range group {
		for i := range m.ToolCalls {
			m.ToolCalls[i].Arguments = rapid.SampledFrom(append(broken, m.ToolCalls[i].Arguments)).Draw(t, "arguments")
		}
	}
}

// refusesUnsendable: a request that JSON cannot express is a mistake of the caller, and is not sent.
func refusesUnsendable(t *testing.T, w wire) {
	c := w.answered(t, func(*http.Request) (*http.Response, error) {
		t.Error("it is sent")
		return nil, errors.New("it is sent")
	})
	reply, err := c.Complete(t.Context(), &model.Request{Temperature: math.NaN()})
	if f := wiretest.Fault(t, reply, err); f.Kind != annotator.Misused {
		t.Errorf("kind is %q", f.Kind)
	}
}

// encodesTools: texts are unchanged, no tools encode to nothing, and a schema that is not JSON is refused.
func encodesTools(t *testing.T, w wire) {
	tools, err := w.answered(t, nil).EncodeTools([]annotator.ToolDefinition{searchTool, readTool})
	if err != nil || !json.Valid(tools) || !bytes.Contains(tools, []byte("Finds <names> & more.")) {
		t.Errorf("%s, %v", tools, err)
	}
	if none, err := w.answered(t, nil).EncodeTools(nil); none != nil || err != nil {
		t.Errorf("no tools give %q, %v", none, err)
	}
	broken := []annotator.ToolDefinition{{Name: "a", Schema: []byte(`{`)}}
	if _, err := w.answered(t, nil).EncodeTools(broken); !errors.Is(err, annotator.Misused) {
		t.Errorf("a broken schema gives %v", err)
	}
}

// streamedIsUnstreamed: a streamed reply equals the same reply in one piece.
func streamedIsUnstreamed(t *testing.T, w wire) {
	var next scripted.Reply
	server := scripted.Start(t, scripted.Options{Script: func(scripted.Request) scripted.Reply { return next }})
	c := w.connect(t, server)
	rapid.Check(t, func(t *rapid.T) {
		next = scripted.Reply{
			Text: rapid.String().Draw(t, "text"), Reasoning: rapid.String().Draw(t, "reasoning"),
			ToolCalls: rapid.SliceOfN(calls(), 0, 3).Draw(t, "calls"),
			Usage: &annotator.Usage{Prompt: 1000, Cached: 900, Completion: rapid.IntRange(1, 99).
				Draw(t, "completion")},
		}
		want := &model.Reply{
			Text: next.Text, Reasoning: next.Reasoning, Calls: next.ToolCalls, Finish: "stop", Model: "scripted",
			Usage: annotator.Usage{
				Prompt: 1000, Told: 1000, Cached: 900, Completion: next.Usage.Completion,
				Exact: true,
			},
		}
		if len(next.ToolCalls) > 0 {
			want.Finish = "tool_calls"
		}
		for _, stream := range []bool{true, false} {
			got, err := ask(t.Context(), c, stream)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, got, wiretest.Unmeasured(), cmpopts.EquateEmpty()); diff != "" {
				t.Fatalf("stream %v: %s", stream, diff)
			}
			if len(got.Raw) == 0 || got.Duration < got.FirstByte {
				t.Fatalf("not measured: %+v", got)
			}
		}
	})
}

// whatComesDecides: a server may answer a request for a stream with one object, and the reverse, with a wrong media
// type.
func whatComesDecides(t *testing.T, w wire) {
	server := scripted.Start(t, scripted.Options{Script: func(scripted.Request) scripted.Reply {
		return scripted.Reply{
			Text: "Dawn", Reasoning: "hm",
			ToolCalls: []annotator.ToolCall{{ID: "a00000001", Name: "search", Arguments: `{}`}},
		}
	}})
	for _, stream := range []bool{true, false} {
		want, err := ask(t.Context(), w.connect(t, server), stream)
		if err != nil {
			t.Fatal(err)
		}
		bodies := []string{string(want.Raw)}
		if indented := new(bytes.Buffer); json.Indent(indented, want.Raw, "", "  ") == nil {
			bodies = append(bodies, indented.String())
		}
		for _, body := range bodies {
			for _, media := range []string{"text/event-stream", "text/plain", ""} {
				c := w.answered(t, wiretest.Always(200, media, body))
				got, err := ask(t.Context(), c, !stream)
				if diff := cmp.Diff(want, got, wiretest.Unmeasured()); diff != "" || err != nil {
					t.Errorf("as %q, %v: %s\n%s", media, err, diff, body)
				}
			}
		}
	}
}

// conversation runs against a server with the strict template. Every request extends the bytes of the one before. The
// server reads the messages that were sent, and has nearly all of them in its cache.
func conversation(t *testing.T, w wire) {
	server := scripted.Start(t, scripted.Options{Strict: true, Keep: true, Script: searchTwice})
	c := newTalk(t, w.connect(t, server), searchTool, readTool)
	var last *model.Reply
	for turn := range 5 {
		c.user(t, strings.Repeat("a <scene> & more ", 50))
		for range 2 {
			last = c.complete(t, turn%2 == 0)
			c.answer(t, last, func(i int) string { return fmt.Sprintf("call%04d%d", turn, i) })
		}
	}
	if v := server.Violations(); len(v) > 0 {
		t.Errorf("the template refuses: %+v", v)
	}
	if u := last.Usage; !u.Exact || u.Prompt-u.Cached > 64 {
		t.Errorf("the last request was not in the cache: %+v", u)
	}
	requests := server.Requests()
	checkRead(t, c, requests[len(requests)-1].Messages)
	var before []byte
	for i, r := range requests {
		body := r.Body
		if w.marks != "" {
			body = bytes.ReplaceAll(body, []byte(w.marks), nil)
		}
		if !bytes.HasPrefix(body, before) {
			t.Fatalf("request %d does not begin with the messages of the one before", i+1)
		}
		before = body[:bytes.LastIndex(body, []byte("a <scene> & more "))]
	}
}

// searchTwice calls two tools in one reply, and answers after their results.
func searchTwice(r scripted.Request) scripted.Reply {
	if r.Messages[len(r.Messages)-1].Role == annotator.RoleTool {
		return scripted.Reply{Text: "done"}
	}
	return scripted.Reply{Text: "let me see", Reasoning: "hm", ToolCalls: []annotator.ToolCall{
		{Name: "search", Arguments: `{"q":"<x> & y"}`}, {Name: "read", Arguments: `{"id":1}`},
	}}
}

// checkRead compares the messages with those that the server read. It ignores reasoning, the tool names of results, and
// the last reply, which is not sent yet.
func checkRead(t *testing.T, c *talk, read []scripted.Message) {
	t.Helper()
	want := []annotator.Message{{Role: annotator.RoleSystem, Content: "You keep a codex."}}
	want = append(want, c.sent[:len(c.sent)-1]...)
	var got []annotator.Message
	for i := range read {
		got = append(got, read[i].Message)
	}
	ignored := cmpopts.IgnoreFields(annotator.Message{}, "Reasoning", "Tool")
	if diff := cmp.Diff(want, got, ignored, cmpopts.EquateEmpty()); diff != "" {
		t.Error(diff)
	}
}

// settings reach the server unchanged.
func settings(t *testing.T, w wire) {
	server := scripted.Start(t, scripted.Options{Keep: true})
	c := newTalk(t, w.connect(t, server))
	c.user(t, "hi")
	r := c.request(false)
	r.MaxTokens, r.Temperature, r.Seed = 77, 0.25, 12
	if _, err := c.client.Complete(t.Context(), r); err != nil {
		t.Fatal(err)
	}
	got := server.Requests()[0]
	if got.Model != "scripted" || got.MaxTokens != 77 || got.Stream || string(got.Params["temperature"]) != "0.25" {
		t.Errorf("%+v", got)
	}
	if w.seeds && string(got.Params["seed"]) != "12" {
		t.Errorf("the seed is %s", got.Params["seed"])
	}
	r.Temperature, r.Seed = 0, 0
	if _, err := c.client.Complete(t.Context(), r); err != nil {
		t.Fatal(err)
	}
	if got := server.Requests()[1].Params; string(got["temperature"]) != "0" || got["seed"] != nil {
		t.Errorf("none set: temperature %s, seed %s", got["temperature"], got["seed"])
	}
}

// choosesTools: the list of tools is the same for every choice.
func choosesTools(t *testing.T, w wire) {
	server := scripted.Start(t, scripted.Options{
		Keep:   true,
		Script: func(scripted.Request) scripted.Reply { return scripted.Reply{Text: "x"} },
	})
	c := newTalk(t, w.connect(t, server), searchTool, readTool)
	c.user(t, "hi")
	both := []string{"search", "read"}
	tests := []struct {
		choice model.Choice
		want   string // in the form of chat completions
		loose  string // for a wire without it
	}{
		{model.Choice{}, `"auto"`, ""},
		{model.Choice{Mode: model.ChoiceNone}, `"none"`, `"auto"`},
		{model.Choice{Mode: model.ChoiceRequired}, `"required"`, ""},
		{
			model.Choice{Mode: model.ChoiceRequired, Allowed: both[:1]},
			`{"type":"function","function":{"name":"search"}}`, "",
		},
		{model.Choice{Mode: model.ChoiceRequired, Allowed: both}, allowed("required", both), `"required"`},
		{model.Choice{Allowed: both[:1]}, allowed("auto", both[:1]), `"auto"`},
	}
	for i, test := range tests {
		r := c.request(true)
		r.Choice = test.choice
		if _, err := c.client.Complete(t.Context(), r); err != nil {
			t.Fatal(err)
		}
		got := server.Requests()[i]
		var want, is any
		says := w.allows
		if test.choice.Mode == model.ChoiceNone {
			says = w.forbids
		}
		if test.loose != "" && !says {
			test.want = test.loose
		}
		_ = json.Unmarshal([]byte(test.want), &want)
		_ = json.Unmarshal([]byte(got.ToolChoice), &is)
		if diff := cmp.Diff(want, is); diff != "" {
			t.Errorf("%+v: %s", test.choice, diff)
		}
		if len(got.Tools) != 2 || got.Tools[0].Name != "search" || got.Tools[1].Name != "read" ||
			got.Tools[0].Description != searchTool.Description {
			t.Errorf("%+v: the tools are %+v", test.choice, got.Tools)
		}
	}
}

func allowed(mode string, names []string) string {
	var tools []string
	for _, name := range names {
		tools = append(tools, `{"type":"function","function":{"name":"`+name+`"}}`)
	}
	return `{"type":"allowed_tools","allowed_tools":{"mode":"` + mode + `","tools":[` + strings.Join(tools, ",") + `]}}`
}

// countsCached: the reported usage is read, with the cached tokens.
func countsCached(t *testing.T, w wire) {
	server := scripted.Start(t, scripted.Options{})
	c := newTalk(t, w.connect(t, server))
	c.user(t, repeat("a scene ", 4000))
	for _, stream := range []bool{true, false} {
		first, second := c.complete(t, stream).Usage, c.complete(t, stream).Usage
		if !second.Exact || second.Prompt != first.Prompt || second.Completion != first.Completion ||
			second.Prompt-second.Cached > 32 || second.Cached > second.Prompt {
			t.Errorf("stream %v: %+v after %+v", stream, second, first)
		}
	}
}

// asksAuxiliary: an auxiliary question without tools uses the cache of the conversation, which continues unchanged.
func asksAuxiliary(t *testing.T, w wire) {
	server := scripted.Start(t, scripted.Options{})
	c := newTalk(t, w.connect(t, server), searchTool, readTool)
	c.user(t, repeat("a scene ", 4000))
	for turn := range 3 {
		reply := c.complete(t, true)
		if u := reply.Usage; turn > 0 && u.Prompt-u.Cached > 64 {
			t.Errorf("the conversation is read anew: %+v", u)
		}
		c.answer(t, reply, func(int) string { return "" })
		c.user(t, "Go on.")
		r := c.request(true)
		r.Choice = model.Choice{Mode: model.ChoiceNone}
		asked, err := c.client.Complete(t.Context(), r)
		if err != nil {
			t.Fatal(err)
		}
		if u := asked.Usage; u.Prompt-u.Cached > 64 {
			t.Errorf("for a question the conversation is read anew: %+v", u)
		}
	}
}

// reportsProgress: the reported size grows to the length of the answer.
func reportsProgress(t *testing.T, w wire) {
	server := scripted.Start(t,
		scripted.Options{Script: func(scripted.Request) scripted.Reply {
			return scripted.Reply{Text: repeat("Dawn. ",
				900)}
		}})
	c := newTalk(t, w.connect(t, server))
	c.user(t, "hi")
	for _, stream := range []bool{true, false} {
		var heard []int
		r := c.request(stream)
		r.OnProgress = func(bytes int) { heard = append(heard, bytes) }
		reply, err := c.client.Complete(t.Context(), r)
		if err != nil {
			t.Fatal(err)
		}
		if stream != (len(heard) > 0) || !slices.IsSorted(heard) || stream && heard[len(heard)-1] < len(reply.Raw) {
			t.Errorf("stream %v: heard %v of %d bytes", stream, heard, len(reply.Raw))
		}
	}
}

func listsModels(t *testing.T, w wire) {
	server := scripted.Start(t, scripted.Options{Model: "prose", MaxModelLen: 9000})
	got, err := w.connect(t, server).Models(t.Context())
	if err != nil || len(got) != 1 || got[0].ID != "prose" || got[0].MaxContext != 9000 && got[0].MaxContext != 0 {
		t.Errorf("%+v, %v", got, err)
	}
}
