package curator_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"annotator"
	"annotator/codex"
	"annotator/curator"
)

// batch is candidates of which each is like all others, and like an entry that is none.
func batch(n int) curator.Batch {
	var all []annotator.Entry
	for id := range int64(n + 1) {
		all = append(all, entry(id+1, fmt.Sprintf("Vys %d", id+1), fmt.Sprintf("It is number %d.", id+1)))
	}
	var b curator.Batch
	for i := range n {
		b = append(b, &curator.Candidate{Entry: all[i], Similar: slices.Delete(slices.Clone(all), i, i+1)})
	}
	return b
}

func decided(entry int, decision string, more string) string {
	return fmt.Sprintf(`{"entry":%d,"term":"Vys %d","decision":"%s"%s}`, entry, entry, decision, more)
}

// TestReadSeveral: what is sound counts, and what is not is said of the candidate that it is wrong about.
func TestReadSeveral(t *testing.T) {
	t.Parallel()
	first, second := decided(1, "CONFIRM", ""), decided(2, "REJECT", `,"reason":"Dice."`)
	for answer, want := range map[string][2]string{
		"[" + first + ",\n" + second + "]":             {"CONFIRM", "REJECT"},
		"```json\n" + second + "\n```\nand\n" + first:  {"CONFIRM", "REJECT"},
		"[" + first + "]":                              {"CONFIRM", "nothing of entry 2"},
		"[" + first + "," + second[:30]:                {"CONFIRM", "cannot be read"},
		"[" + first + "," + second + "," + first + "]": {"more than once", "REJECT"},
		"[" + first + "," + decided(9, "CONFIRM", "") + "]": {
			"CONFIRM",
			"entry 9, about which it was not asked",
		},
		"[" + first + `,{"entry":2,"decision":"CONFIRM"}]`:             {"CONFIRM", "not what that one is called"},
		strings.ReplaceAll("["+first+","+second+"]", "Vys 1", "Vys 2"): {"not what that one is called", "REJECT"},
		`[{"decision":"CONFIRM"},` + second + "]":                      {"by its id", "REJECT"},
		`{"decisions":[` + first + "," + second + "]}":                 {"no field", "no field"},
		"[]":                    {"no JSON object", "no JSON object"},
		"I would confirm both.": {"no JSON object", "no JSON object"},
	} {
		for i, read := range batch(2).Read(answer) {
			got := string(read.Decision.Action)
			if read.Err != nil {
				got = read.Err.Error()
			}
			if !strings.Contains(got, want[i]) {
				t.Errorf("%s: candidate %d: %q, want %q", answer, i+1, got, want[i])
			}
		}
	}
}

// TestResolve: whatever is said of whichever candidates, there is one decision on each and one record of it. What is
// sound is carried out, but no two decisions of one answer touch the same entry; and all the revisions apply.
func TestResolve(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 6).Draw(t, "candidates")
		b := batch(n)
		answers := b.Read(anyAnswer(t, n))
		decisions, revisions := b.Resolve(answers, curator.AskAgain, 7, annotator.PlaceAt(2, 0))
		touched := map[int64]bool{}
		for i, d := range decisions {
			ids := []int64{b[i].Entry.ID}
			if d.Target != 0 {
				ids = append(ids, d.Target)
			}
			meets := slices.ContainsFunc(ids, func(id int64) bool { return touched[id] })
			switch {
			case d.Action == curator.AskAgain && d.Reason != "" &&
				(answers[i].Err != nil || !shown(b[i], answers[i].Decision.Target) ||
					touched[ids[0]] || touched[answers[i].Decision.Target]):
			case !d.Action.ByModel() || answers[i].Err != nil || meets || d.Thread != 7:
				t.Errorf("entry %d: %+v after %+v", ids[0], d, answers[i])
			default:
				for _, id := range ids {
					touched[id] = d.Action != curator.Confirm
				}
			}
		}
		records, entries := 0, batch(n+1)
		for _, r := range revisions {
			if err := codex.Apply(&entries[r.Entry-1].Entry, &r); err != nil {
				t.Fatal(err)
			}
			if r.Field == annotator.FieldCuratorDecision {
				records++
			}
		}
		if len(decisions) != n || records != n {
			t.Errorf("%d decisions and %d records on %d candidates", len(decisions), records, n)
		}
	})
}

// shown reports whether an entry was shown with a candidate, if it is not 0.
func shown(c *curator.Candidate, id int64) bool {
	return id == 0 || slices.ContainsFunc(c.Similar, func(e annotator.Entry) bool { return e.ID == id })
}

// anyAnswer is what a model might say of some of n candidates, of none of them, or of one twice.
func anyAnswer(t *rapid.T, n int) string {
	var said []string
	for range rapid.IntRange(0, n+2).Draw(t, "objects") {
		id, target := rapid.IntRange(1, n+1).Draw(t, "entry"), rapid.IntRange(1, n+2).Draw(t, "target")
		said = append(said, decided(id,
			rapid.SampledFrom([]string{"CONFIRM", "REJECT", "REVISE", "MERGE", "KEEP"}).Draw(t, "decision"),
			fmt.Sprintf(`,"target":%d,"reason":"So.","definition":"Another %d."`, target, id)))
	}
	return "[" + strings.Join(said, ",") + "]"
}
