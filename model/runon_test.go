package model_test

import (
	"errors"
	"strings"
	"testing"
	"testing/synctest"

	"annotator"
	"annotator/model"

	"github.com/google/go-cmp/cmp"
)

// TestOtherSpeakersTurnIsCutOff: of a reply that continues with another speaker's turn, only the model's own turn is
// used. That turn must have calls, all of them complete, and nothing after it may look like a call. Otherwise the reply
// is a fault.
func TestOtherSpeakersTurnIsCutOff(t *testing.T) {
	t.Parallel()
	const (
		user = "<|im_end|>\n<|im_start|>user\n<tool_response>{\"ok\":true}</tool_response><|im_end|>\n" +
			"<|im_start|>assistant\nDone."
		llama  = "<|eot_id|><|start_header_id|>assistant<|end_header_id|>\n\nThe results are: 1, 2."
		gemma  = "<end_of_turn>\n<start_of_turn>user\nGo on."
		quoted = `<tool_call>{"name":"quoted","arguments":{}}</tool_call>`
		block  = opening + "[" + dawn + "]" + closing
	)
	text := annotator.ToolCall{Name: "a", Arguments: "{}", Origin: annotator.OriginText}
	update := annotator.ToolCall{Arguments: dawn, Origin: annotator.OriginUpdates}
	structured := annotator.ToolCall{Name: "structured", Arguments: "{}"}
	for name, test := range map[string]struct {
		text       string
		structured bool
		want       []annotator.ToolCall // none: a fault
		rest       string
	}{
		"a call": {hermes + user, false, []annotator.ToolCall{text}, ""},
		"a call without its end tag": {
			`<tool_call>{"name":"a","arguments":{}}` + user, false,
			[]annotator.ToolCall{text},
			"",
		},
		"two, with leaked marks": {
			"<|im_start|>\n{\"name\":\"a\",\"arguments\":{}}\n<|im_start|>\n{\"name\":\"a\",\"arguments\":{}}\n" +
				"<|im_start|><|im_start|>" + llama[10:], false, []annotator.ToolCall{text, text}, "",
		},
		"words and a call":       {"So: " + hermes + llama, false, []annotator.ToolCall{text}, "So:"},
		"updates":                {block + gemma, false, []annotator.ToolCall{update}, block + "<end_of_turn>"},
		"updates and a call":     {block + hermes + user, false, []annotator.ToolCall{text, update}, block},
		"words":                  {"It is read." + user, false, nil, ""},
		"half a call":            {`<tool_call>{"name":"a","arg` + user, false, nil, ""},
		"a call and half a call": {hermes + `<tool_call>{"name":"a","arg` + user, false, nil, ""},
		"a call behind it":       {hermes + user + hermes, false, nil, ""},
		"updates behind it":      {hermes + user + block, false, nil, ""},
		"half a call behind it":  {hermes + user + `<tool_call>{"name":"a"`, false, nil, ""},
		"a call behind it alone": {"I look it up." + user + hermes, false, nil, ""},
		"a call in a turn of thoughts": {"<|channel|>analysis<|message|>" + hermes +
			"<|end|><|start|>assistant<|channel|>final<|message|>No change.", false, nil, ""},
		"a quoted call":                 {"They sang " + quoted + user, false, nil, ""},
		"a call beside structured ones": {hermes + user, true, nil, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				w := &wire{complete: func(*model.Request) (*model.Reply, error) {
					reply := model.Reply{Text: test.text, Finish: "length"}
					if test.structured {
						reply.Calls = []annotator.ToolCall{structured}
					}
					return &reply, nil
				}}
				warnings := 0
				c := clientOf(w, &ledger{t: t}, &model.Policy{Attempts: 2})
				c.Notify = func(n annotator.Notice) {
					if n.Kind == annotator.NoticeWarning && strings.HasPrefix(n.Reason,
						"the endpoint does not end replies") {
						warnings++
					}
				}
				request := model.Request{
					Rules: callRules(`{"name":"quoted","arguments":{}}`),
					Call:  annotator.Call{Purpose: annotator.PurposeAnnotate},
				}
				reply, err := c.Complete(t.Context(), &request)
				if test.want == nil {
					var unanswered *model.Unanswered
					if !errors.As(err, &unanswered) || unanswered.Code != model.CodeRunOn || warnings != 0 {
						t.Errorf("%+v, %v", reply, err)
					}
					return
				}
				if err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(test.want, asked(reply.Calls, reply.Updates)); diff != "" ||
					reply.Text != test.rest ||
					reply.Problem != nil {
					t.Errorf("%s%q, %+v", diff, reply.Text, reply.Problem)
				}
				if string(reply.Call.Raw) != test.text || reply.Cut || warnings != 1 {
					t.Errorf("on record is %q; cut: %v; %d warnings", reply.Call.Raw, reply.Cut, warnings)
				}
			})
		})
	}
}
