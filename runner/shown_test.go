package runner_test

import (
	"context"
	"strings"
	"testing"

	"annotator"
	"annotator/internal/scripted"
)

// TestConfirmedEntryIsNotShownAgain: of two entries that the window shows, one is confirmed, the other put in other
// words. Only that is shown again where a later scene names it.
func TestConfirmedEntryIsNotShownAgain(t *testing.T) {
	t.Parallel()
	create := func(term string) scripted.Reply {
		arguments := `{"term":"` + term + `","definition":"Said not to touch it.","tags":["person"]}`
		return scripted.Reply{ToolCalls: []annotator.ToolCall{{Name: "glossary_create", Arguments: arguments}}}
	}
	s := newStage(t, story{threads: 3, scenes: 2},
		scripted.Options{Strict: true, Script: func(r scripted.Request) scripted.Reply {
			asked := r.Messages[len(r.Messages)-1].Content
			switch judged := shownTo(r); {
			case strings.HasPrefix(asked, `<scene number="1"`):
				return create("Warden Ashe0")
			case strings.HasPrefix(asked, `<scene number="2"`):
				return create("Warden Ashe1")
			case judged == nil:
				return scripted.Reply{Text: "Read."}
			}
			return scripted.Decide(asked, func(c scripted.Candidate) map[string]any {
				if c.Entry == 1 {
					return map[string]any{"decision": "CONFIRM", "reason": "It is named in the story."}
				}
				return map[string]any{"decision": "REVISE", "definition": "Warns of the lantern.", "reason": "Clearer."}
			})
		}})
	s.config.Curator.Batch = 1 // each entry fills a question
	if err := s.run("curated"); err != nil {
		t.Fatal(err)
	}
	rows, err := s.open("curated").Journal.Window(context.Background(), 0)
	if err != nil {
		t.Fatal(err)
	}
	shown := map[int64]int{} // by entry, in how many scenes
	for _, row := range rows {
		if row.Kind != annotator.TraceScene {
			continue
		}
		for _, entry := range row.Shows {
			shown[entry.Entry]++
		}
		if named := strings.Contains(row.Text(), "Warns of the lantern."); named != (len(row.Shows) > 0) {
			t.Errorf("scene %d shows %v: %s", row.Scene, row.Shows, row.Text())
		}
	}
	if confirmed := s.count("curated",
		`SELECT count(*) FROM glossary_entry WHERE id = 1 AND status = 'confirmed'`); confirmed != 1 {
		t.Error("entry 1 was not confirmed")
	}
	if shown[1] != 0 || shown[2] != 1 {
		t.Errorf("by scenes the entries were shown %v times", shown)
	}
}
