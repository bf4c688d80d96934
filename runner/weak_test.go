package runner_test

import (
	"maps"
	"strings"
	"testing"

	"annotator"
	"annotator/internal/scripted"
	"annotator/storage"
)

// TestWeakQuotations: a quotation that has no word or name in common with its fact is taken, marked, and named in the
// answer. A word that all scenes have is none, and a name is one whatever form it has.
func TestWeakQuotations(t *testing.T) {
	t.Parallel()
	s, _ := told{
		{"She was there with the lamp. Tobin Vane, the keeper of the light, was there too.", []annotator.ToolCall{
			makes("Tobin Vane", "person", `["Tobin Vane keeps the light."]`, `,"aliases":["the keeper"]`),
		}},
		{"She was there with the lamp. Nobody came.", []annotator.ToolCall{updates(1, `"facts":["Day 2."]`)}},
		{"She was there with the lamp. It rained.", []annotator.ToolCall{updates(1, `"facts":["Day 3."]`)}},
		{"She was there with the lamp. The wind rose.", []annotator.ToolCall{updates(1, `"facts":["Day 4."]`)}},
		{"She was there with the lamp. " + strings.Repeat("So it went on. ", 40) +
			"The keeper polished his brass, and the bell rang at noon.", []annotator.ToolCall{
			makes("bell", "object",
				`[{"text":"[[Tobin Vane]] is fond of it.","quote":"The keeper polished"},{"text":"It was with her.","quote":"She was there with the lamp"},`+
					`{"text":"He rings it daily.","quote":"the bell rang at noon"},{"text":"It is loud.","quote":"She was there"}]`),
		}},
	}.read(t, nil)
	weak := map[string]bool{}
	for _, c := range s.entry(t, 2).Claims {
		for _, v := range c.Evidence {
			weak[c.Text] = v.Weak
		}
	}
	want := map[string]bool{
		"[[Tobin Vane]] is fond of it.": false, "It was with her.": true, "He rings it daily.": false,
		"It is loud.": true,
	}
	if !maps.Equal(weak, want) {
		t.Errorf("weak: %v", weak)
	}
	const answered = `SELECT count(*) FROM trace WHERE kind = 'tool_result' AND content LIKE '%"weak":[{"fact":2,%{"fact":4,"lacks":%'`
	if s.count("told", answered) != 1 {
		t.Error("the answer does not name them")
	}
	report, err := s.open("told").Run.Report(t.Context())
	if want := (storage.QuoteCount{Total: 4, Weak: 2}); err != nil || report.Quotes != want {
		t.Errorf("%+v, %v", report.Quotes, err)
	}
	s.verify("told")
}

// TestCuratorsWeakQuotations: so is one that the curator gives.
func TestCuratorsWeakQuotations(t *testing.T) {
	t.Parallel()
	scene := "There was the rain, and she was there with Marrow. Nobody came. " + strings.Repeat("It rained. ", 30) +
		"The wall was wet."
	script := deciding(func(scripted.Request, scripted.Candidate) map[string]any {
		facts := []map[string]any{
			{"text": "A gale blew.", "quote": "The wall was wet"},
			{"text": "Everyone stayed away but Marrow.", "quote": "she was there with Marrow"},
		}
		return map[string]any{"decision": "REVISE", "facts": facts, "reason": "r"}
	})
	s := newTale(t, [][]string{{scene, scene, scene, scene, scene}}, 20_000, scripted.Options{Script: script})
	if err := s.run("curated"); err != nil {
		t.Fatal(err)
	}
	got := s.column("curated",
		`SELECT weak FROM evidence WHERE claim_id IN (SELECT id FROM claim c WHERE c.entry_id = evidence.entry_id AND
		text IN ('A gale blew.', 'Everyone stayed away but Marrow.')) ORDER BY entry_id, id`)
	if len(got) < 2 || got[0] != 1 || got[1] != 0 {
		t.Errorf("%v", got)
	}
	const quoted = `SELECT count(*) FROM history r JOIN scene_post p ON p.post_id = r.new_value ->> 'post' WHERE r.actor = 'curator' AND r.field = 'evidence'`
	told, all := s.count("curated", quoted+` AND r.at = p.place AND r.seen > p.place / 1000000`),
		s.count("curated", quoted)
	if told == 0 || s.count("curated", quoted+` AND r.at <> p.place`) != 0 {
		t.Errorf("%d of %d quotations of the curator are told where they stand, and seen later", told, all)
	}
	s.verify("curated")
}
