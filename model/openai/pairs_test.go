package openai_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"annotator"
	"annotator/internal/wiretest"
	"annotator/model"
	"annotator/model/endpoint"
)

// sentMessages returns the messages of the request that a history is sent as.
func sentMessages(t rapid.TB, tb testing.TB, history []byte, w model.Workarounds) string {
	sent := wiretest.Recorder{Answer: answered}
	c := newClient(tb, endpoint.Options{HTTP: &sent})
	if _, err := c.Complete(tb.Context(), &model.Request{Model: "m", History: history, Workarounds: w}); err != nil {
		t.Fatal(err)
	}
	_, rest, _ := bytes.Cut(sent.Body, []byte(`"messages":`))
	list, _, _ := bytes.Cut(rest, []byte(`,"temperature"`))
	return string(list)
}

// TestPairsKeepTheOrder: the pairs of any conversation keep each message, call and result in order. No message has two
// calls, and each call is followed by its result. The pairs of a longer conversation begin with those of a shorter one.
func TestPairsKeepTheOrder(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		c := newClient(t, endpoint.Options{})
		var groups [][]byte
		var said []string
		add := func(messages ...annotator.Message) {
			encoded, err := c.Encode(messages)
			if err != nil {
				rt.Fatal(err)
			}
			groups = append(groups, encoded)
		}
		var ends []int // of the history, where a request can be sent
		for turn := range rapid.IntRange(1, 4).Draw(rt, "turns") {
			add(annotator.Message{Role: annotator.RoleUser, Content: fmt.Sprintf("scene %d", turn)})
			ends = append(ends, len(groups))
			text := rapid.SampledFrom([]string{"", "noted"}).Draw(rt, "text")
			m := annotator.Message{Role: annotator.RoleAssistant, Content: text}
			var results []annotator.Message
			for i := range rapid.IntRange(0, 3).Draw(rt, "calls") {
				id := fmt.Sprintf("id%d%d", turn, i)
				m.ToolCalls = append(m.ToolCalls, annotator.ToolCall{ID: id, Name: "note", Arguments: `{"n":1}`})
				results = append(results, annotator.Message{
					Role: annotator.RoleTool, ToolCallID: id,
					Content: "done " + id,
				})
				said = append(said, id)
			}
			add(m)
			if len(results) > 0 {
				add(results...)
				ends = append(ends, len(groups))
				add(annotator.Message{Role: annotator.RoleAssistant, Content: "read"})
			}
		}
		before := "["
		for _, end := range ends {
			sent := sentMessages(rt, t, bytes.Join(groups[:end], []byte(",")), model.PairCalls)
			if !strings.HasPrefix(sent, strings.TrimSuffix(before, "]")) {
				rt.Fatalf("%s\ndoes not begin with\n%s", sent, before)
			}
			before = sent
		}
		checkPairs(rt, sentMessages(rt, t, bytes.Join(groups, []byte(",")), model.PairCalls), said)
		if bare := sentMessages(rt, t, bytes.Join(groups, []byte(",")), model.NoTextBesideCalls); len(said) > 0 &&
			strings.Contains(bare, `noted","tool_calls"`) {
			rt.Fatalf("text beside calls: %s", bare)
		}
	})
}

func checkPairs(t *rapid.T, list string, want []string) {
	var all []struct {
		Role  string
		Calls []struct{ ID string } `json:"tool_calls"`
		ID    string                `json:"tool_call_id"`
	}
	if err := json.Unmarshal([]byte(list), &all); err != nil {
		t.Fatal(err)
	}
	var got []string
	for i, m := range all {
		if len(m.Calls) > 1 || len(m.Calls) == 1 && (i+1 == len(all) || all[i+1].ID != m.Calls[0].ID) {
			t.Fatalf("message %d is no pair with the one behind it: %s", i, list)
		}
		if len(m.Calls) == 1 {
			got = append(got, m.Calls[0].ID)
		}
	}
	if !slices.Equal(got, want) {
		t.Fatalf("calls %v, not %v", got, want)
	}
}
