package runner_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"annotator/internal/scripted"
)

// TestCuratorNamesAnyTarget: an entry may be merged into one that was not shown with it, by its id or by its term. What
// is no such entry, or cannot be the same thing, is refused with the reason, and the entry stays as it is.
func TestCuratorNamesAnyTarget(t *testing.T) {
	t.Parallel()
	const wyn, coat, vale = 1, 2, 3
	for _, test := range []struct {
		name, target, wrong string
		entry, into         int
	}{
		{"by id", "1", "", coat, wyn},
		{"by a term", `"wyn  HARROW"`, "", coat, wyn},
		{"no entry", "77", "there is no live entry 77", coat, 0},
		{"no name", `"Nobody"`, `no entry goes by`, coat, 0},
		{"a shared name", `"Harrow"`, "several entries go by", coat, 0},
		{"itself", `"body in the blue coat"`, "the one in question", coat, 0},
		{"other first names", `"Wyn Harrow"`, "first names differ", vale, 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			threads := [][]string{{"A body in a blue coat. Wyn Harrow was gone, and Olda Harrow wept."}, {"It rained."}}
			var again string
			s := newTale(t, threads, 32_768, scripted.Options{Script: func(r scripted.Request) scripted.Reply {
				question := r.Messages[len(r.Messages)-1].Content
				if strings.HasPrefix(question, `<scene number="1"`) {
					return scripted.Reply{Text: `<codex_updates>[
						{"term":"Wyn Harrow","aliases":["Harrow"],"status":"new","tags":["person"],
							"facts":[{"text":"Wyn Harrow was gone."}]},
						{"term":"body in the blue coat","status":"new","facts":[{"text":"It lay there."}]},
						{"term":"Olda Harrow","aliases":["Harrow"],"status":"new","tags":["person"],
							"facts":[{"text":"Olda Harrow wept."}]}]</codex_updates>`}
				}
				if strings.Contains(question, "could not be used") {
					again = question
				}
				return deciding(func(_ scripted.Request, c scripted.Candidate) map[string]any {
					if int(c.Entry) == test.entry {
						return map[string]any{"decision": "MERGE", "target": rawTarget(test.target), "reason": "So."}
					}
					return map[string]any{"decision": "CONFIRM"}
				})(r)
			}})
			if err := s.run("tale"); err != nil {
				t.Fatal(err)
			}
			s.lawful("tale")
			merged := s.column("tale", fmt.Sprintf(`SELECT merged_into FROM glossary_entry WHERE id = %d`, test.entry))
			if len(merged) != 1 || merged[0] != test.into {
				t.Errorf("merged into %v", merged)
			}
			if !strings.Contains(again, test.wrong) || (again == "") != (test.wrong == "") {
				t.Errorf("asked again: %s", again)
			}
		})
	}
}

// rawTarget is JSON as it stands.
func rawTarget(s string) any { return json.RawMessage(s) }
