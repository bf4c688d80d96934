package runner_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"annotator"
	"annotator/internal/scripted"
	"annotator/model"
)

// TestRunThatBringsNothingSaysSo tests that each process warns once, as soon as the scenes of the whole run show it.
// The status of the run has the same text. A run that brings something has none. A run whose end is reached without a
// call ends so.
func TestRunThatBringsNothingSaysSo(t *testing.T) {
	t.Parallel()
	const refusal, nothing, silence = "every tool call of this run was refused",
		"scenes were read, and no entry was made",
		"no reply of the model has made a tool call"
	refused := toolCall("glossary_update", `{"entry_id":99,"tags":["place"]}`)
	for name, test := range map[string]struct {
		script scripted.Script
		limit  int   // scenes for each process; 0: all
		scenes []int // after which the run warns
		want   string
	}{
		"every call is refused": {saying(calls(refused)), 0, []int{3}, refusal},
		"refused, in processes of 2": {
			saying(calls(refused)), 2,
			[]int{3, 5, 7, 9, 11, 13, 15, 17, 19, 21},
			refusal,
		},
		"several calls in a scene": {
			saying(calls(refused, toolCall("no_such_tool", `{}`), refused)), 0,
			[]int{1},
			refusal,
		},
		"a block is refused":          {saying(block(newerBell), block()), 0, []int{3}, refusal},
		"no call at all":              {saying(), 0, []int{3}, silence},
		"an empty list of calls":      {saying(scripted.Reply{Text: "[]"}), 0, []int{3}, silence},
		"an empty block":              {saying(block()), 0, []int{3}, silence},
		"no call, in processes of 15": {saying(), 15, []int{3, 16}, silence},
		"no call, in processes of 2":  {saying(), 2, []int{3, 5, 7, 9, 11, 13, 15, 17, 19, 21}, silence},
		"only answers to questions": {
			saying(calls(toolCall("glossary_search", `{"query":"lamp"}`))), 0,
			[]int{20},
			nothing,
		},
		"an entry":                      {saying(calls(creates("Lamp"))), 0, nil, ""},
		"an entry, and a refusal first": {saying(calls(refused, creates("Lamp"))), 0, nil, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			const scenes = 22
			s := newStage(t, story{threads: 1, scenes: scenes}, scripted.Options{Script: test.script})
			s.config.Curator.Off, s.config.Limit = true, test.limit
			var at []int
			s.bus.Subscribe(func(n annotator.Notice) {
				if n.Kind == annotator.NoticeWarning &&
					(strings.Contains(n.Reason, refusal) || strings.Contains(n.Reason, nothing) ||
						strings.Contains(n.Reason, silence)) {
					at = append(at, n.Done)
				}
			})
			for done := 0; done < scenes; done += cmp.Or(test.limit, scenes) {
				err := s.run("run")
				if ended := done+cmp.Or(test.limit, scenes) >= scenes; (test.want == silence && ended) != errors.Is(err,
					annotator.NoCalls) {
					t.Fatal(err)
				}
			}
			if !slices.Equal(at, test.scenes) {
				t.Errorf("warned after the scenes %v, not %v", at, test.scenes)
			}
			yield, err := s.open("run").Run.Yield(context.Background(), model.EndpointOffline)
			if warning := yield.Warning(); err != nil || (warning == nil) != (test.want == "") ||
				warning != nil && !strings.Contains(warning.Error(), test.want) {
				t.Errorf("%q, %v", warning, err)
			}
		})
	}
}

// TestRunWithoutCallsEndsSo: what counts is the whole run, not the scenes of one process. Scenes that need no reply, or
// that get none, do not count as scenes without a call. A story of one or two scenes may have nothing to note.
func TestRunWithoutCallsEndsSo(t *testing.T) {
	t.Parallel()
	said := func(scene int, call bool) scripted.Script {
		return func(r scripted.Request) scripted.Reply {
			if call && strings.Contains(r.Messages[len(r.Messages)-1].Content,
				fmt.Sprintf(`<scene number="%d"`, scene)) {
				return calls(creates("Lamp"))
			}
			return scripted.Reply{Text: "Nothing new."}
		}
	}
	unsound := func(r scripted.Request) scripted.Reply { // in the first scene
		first := func(m scripted.Message) bool { return strings.HasPrefix(m.Content, `<scene number="1"`) }
		if !slices.ContainsFunc(r.Messages, first) {
			return scripted.Reply{Text: "Nothing new."}
		}
		return scripted.Reply{Text: `<tool_call>{"name":"glossary_create","arguments":{"term":</tool_call>`}
	}
	for name, test := range map[string]struct {
		story   story
		options scripted.Options
		limit   int
		want    []error // of each process
	}{
		"a call in the first process": {
			story{threads: 1, scenes: 6},
			scripted.Options{Script: said(1, true)},
			3,
			[]error{nil, nil},
		},
		"a call in the last scene": {
			story{threads: 1, scenes: 6},
			scripted.Options{Script: said(6, true)},
			3,
			[]error{nil, nil},
		},
		"no call, in two processes": {
			story{threads: 1, scenes: 6},
			scripted.Options{Script: said(0, false)},
			3,
			[]error{nil, annotator.NoCalls, annotator.NoCalls},
		},
		"a short story": {
			story{threads: 1, scenes: 2},
			scripted.Options{Script: said(0, false)},
			0,
			[]error{nil},
		},
		"blank scenes": {
			story{threads: 1, scenes: 6, blank: true},
			scripted.Options{Script: said(0, false)},
			0,
			[]error{nil},
		},
		"and a call that is unread": {
			story{threads: 1, scenes: 4},
			scripted.Options{Script: unsound},
			0,
			[]error{annotator.NoCalls},
		},
		"a server that refuses": {
			story{threads: 1, scenes: 2},
			scripted.Options{Script: said(0, false), Fault: func(int, scripted.Request) *scripted.Fault {
				return &scripted.Fault{Status: 400, Body: `{"error":{"message":"this content is not wanted"}}`}
			}},
			0,
			[]error{annotator.Quarantined},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newStage(t, test.story, test.options)
			s.config.Curator.Off, s.config.Limit = true, test.limit
			for i, want := range test.want {
				if err := s.run("run"); !errors.Is(err, want) {
					t.Errorf("process %d ends with %v, not %v", i+1, err, want)
				}
			}
			s.verify("run")
		})
	}
}
