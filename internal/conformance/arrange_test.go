package conformance_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"annotator"
	"annotator/internal/scripted"
	"annotator/model"
)

// arranges: wires with the workarounds of chat templates send the same conversation with them. Each call is followed by
// its result, no message has text and calls, and the system prompt is in the first message. Each request extends the
// one before.
func arranges(t *testing.T, w wire) {
	server := scripted.Start(t, scripted.Options{Keep: true})
	c := newTalk(t, w.connect(t, server), searchTool)
	if !slices.ContainsFunc(c.client.Refusals(), func(r model.Refusal) bool { return r.Needs == model.PairCalls }) {
		if w.name != "gemini" { // whose servers have no such templates
			t.Error("the wire has no pairs")
		}
		return
	}
	send := func() {
		t.Helper()
		r := c.request(false)
		r.Workarounds = model.PairCalls | model.NoTextBesideCalls | model.SystemInUser
		if _, err := c.client.Complete(t.Context(), r); err != nil {
			t.Fatal(err)
		}
	}
	var ids []string
	for turn := range 3 {
		c.user(t, fmt.Sprintf("Scene %d.", turn))
		send()
		reply := &model.Reply{Text: "Beside."}
		for i := range turn + 1 {
			reply.Calls = append(reply.Calls,
				annotator.ToolCall{Name: "search", Arguments: fmt.Sprintf(`{"q":"%d"}`, i)})
		}
		c.answer(t, reply, func(i int) string {
			ids = append(ids, fmt.Sprintf("call%d%d", turn, i))
			return ids[len(ids)-1]
		})
		send()
		c.answer(t, &model.Reply{Text: "Read."}, nil)
	}
	var before []string
	var called []string
	for _, r := range server.Requests() {
		var now []string
		called = nil
		for i := range r.Messages {
			m := &r.Messages[i]
			now = append(now, string(m.Raw))
			switch {
			case m.Role == annotator.RoleSystem, i == 0 &&
				!strings.HasPrefix(m.Content, "You keep a codex.\n\nScene 0."):
				t.Errorf("message %d is of %s: %q", i, m.Role, m.Content)
			case len(m.ToolCalls) > 1, len(m.ToolCalls) == 1 && (strings.Contains(m.Content, "Beside") ||
				r.Messages[i+1].ToolCallID != m.ToolCalls[0].ID):
				t.Errorf("no pair without text: %s", m.Raw)
			case len(m.ToolCalls) == 1:
				called = append(called, m.ToolCalls[0].ID)
			}
		}
		if len(now) < len(before) || !slices.Equal(now[:len(before)], before) {
			t.Errorf("a request does not begin with the one before:\n%q\n%q", now, before)
		}
		before = now
	}
	if !slices.Equal(called, ids) {
		t.Errorf("calls %v, not %v", called, ids)
	}
}
