package runner_test

import (
	"fmt"
	"strings"
	"testing"

	"annotator"
	"annotator/curator"
	"annotator/internal/scripted"
)

// TestNarratedEntriesAreConfirmedByRule: an entry that quotations of narrated claims in two scenes support needs no
// question, unless another entry may be the same thing. What a single scene narrates, and what somebody claims, is
// judged.
func TestNarratedEntriesAreConfirmedByRule(t *testing.T) {
	t.Parallel()
	terms := []string{"Marrow", "Quill", "Vane", "Bell Yard", "Bell Yards"}
	text := func(n int, term string) string { return fmt.Sprintf("%s was there on day %d.", term, n) }
	var scenes [2]string
	edits := [2][]annotator.ToolCall{}
	for n := range 2 {
		for i, term := range terms {
			sentence := text(n, term)
			scenes[n] += sentence + " "
			kind := map[bool]string{true: "claimed", false: "narrated"}[term == "Quill"]
			if n == 0 {
				edits[n] = append(edits[n], toolCall("glossary_create",
					fmt.Sprintf(`{"term":%q,"tags":["object"],"definition":%q,"quote":%[2]q,"kind":%q}`, term, sentence,
						kind)))
			} else if term != "Vane" {
				edits[n] = append(edits[n], updates(i+1,
					fmt.Sprintf(`"definition":"%s %s","quote":%[2]q,"kind":%q`, text(0, term), sentence, kind)))
			}
		}
	}
	var asked []int64
	s := newTale(t, [][]string{scenes[:], {"It rained."}}, 32_768,
		scripted.Options{Script: func(r scripted.Request) scripted.Reply {
			question := r.Messages[len(r.Messages)-1].Content
			for n := range edits {
				if strings.HasPrefix(question, fmt.Sprintf(`<scene number="%d"`, n+1)) {
					return calls(edits[n]...)
				}
			}
			for _, c := range shownTo(r) {
				asked = append(asked, c.Entry)
			}
			if shownTo(r) == nil {
				return scripted.Reply{Text: "Read."}
			}
			return scripted.Decide(question, func(scripted.Candidate) map[string]any {
				return map[string]any{"decision": "CONFIRM"}
			})
		}})
	s.config.NoThreadSummaries = true
	if err := s.run("shown"); err != nil {
		t.Fatal(err)
	}
	s.lawful("shown")
	if fmt.Sprint(asked) != "[2 3 4 5]" {
		t.Errorf("the curator was asked about the entries %v", asked)
	}
	made := s.decisions("shown")
	if len(made[1]) != 1 || made[1][0].Action != curator.Shown || made[1][0].Reason != "narrated in the scenes [1 2]" {
		t.Errorf("entry 1: %+v", made[1])
	}
	if n := s.count("shown", `SELECT count(*) FROM history WHERE entry_id = 1 AND field = 'status' AND new_value = 'confirmed' AND actor = 'rule'`); n != 1 {
		t.Error("the rule has not confirmed entry 1")
	}
}
