package runner_test

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"testing"

	"annotator"
	"annotator/internal/scripted"
)

// TestRunThatBringsNothingSaysSo: each process warns once, as soon as the scenes of the whole run show it, and the
// status of the run has the same text. A run that brings something has none.
func TestRunThatBringsNothingSaysSo(t *testing.T) {
	t.Parallel()
	const refusal, nothing = "every tool call of this run was refused", "scenes were read, and no entry was made"
	refused := toolCall("glossary_update", `{"entry_id":99,"tags":["place"]}`)
	for name, test := range map[string]struct {
		script scripted.Script
		limit  int   // scenes for each process; 0: all
		scenes []int // after which the run warns
		want   string
	}{
		"every call is refused":         {saying(calls(refused)), 0, []int{3}, refusal},
		"refused, in processes of 2":    {saying(calls(refused)), 2, []int{3, 5, 7, 9, 11, 13, 15, 17, 19, 21}, refusal},
		"several calls in a scene":      {saying(calls(refused, toolCall("no_such_tool", `{}`), refused)), 0, []int{1}, refusal},
		"a block is refused":            {saying(block(newerBell), block()), 0, []int{3}, refusal},
		"no call at all":                {saying(), 0, []int{20}, nothing},
		"no call, in processes of 15":   {saying(), 15, []int{20}, nothing},
		"no call, in processes of 7":    {saying(), 7, []int{20, 22}, nothing},
		"only answers to questions":     {saying(calls(toolCall("glossary_search", `{"query":"lamp"}`))), 0, []int{20}, nothing},
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
				if n.Kind == annotator.NoticeWarning && (strings.Contains(n.Reason, refusal) || strings.Contains(n.Reason, nothing)) {
					at = append(at, n.Done)
				}
			})
			for done := 0; done < scenes; done += cmp.Or(test.limit, scenes) {
				if err := s.run("run"); err != nil {
					t.Fatal(err)
				}
			}
			if !slices.Equal(at, test.scenes) {
				t.Errorf("warned after the scenes %v, not %v", at, test.scenes)
			}
			yield, err := s.open("run").Run.Yield(context.Background())
			if warning := yield.Warning(); err != nil || !strings.Contains(warning, test.want) || (warning == "") != (test.want == "") {
				t.Errorf("%q, %v", warning, err)
			}
		})
	}
}
