package runner_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"annotator"
	"annotator/internal/scripted"
	"annotator/storage"
)

// TestCuratorGoesOnAfterItsQuestionsWereOthers resumes a run of a version that asked about one entry at a time. It was
// killed right after it recorded that it would ask again. Its decisions stay valid, and there is one decision on each
// of the other entries.
func TestCuratorGoesOnAfterItsQuestionsWereOthers(t *testing.T) {
	t.Parallel()
	denied := 0
	s := newStage(t, story{threads: 2, scenes: 3},
		scripted.Options{Strict: true, Fault: func(_ int, r scripted.Request) *scripted.Fault {
			if denied == 0 || shownTo(r) == nil {
				return nil
			}
			if denied--; denied > 0 {
				return nil
			}
			return &scripted.Fault{Status: 401, Body: `{"error":"Unauthorized"}`}
		}})
	denied, s.config.Curator.Batch = 3, 1
	if err := s.run("older"); !errors.Is(err, annotator.Halted) {
		t.Fatal(err)
	}
	before := s.decisions("older")
	db, err := storage.OpenWriter(context.Background(), s.db("older"), "an older version", time.Now)
	if err != nil {
		t.Fatal(err)
	}
	asked := &annotator.Trace{
		Kind:    annotator.TraceNote,
		Content: "Judge one entry.\n<candidate>\n</candidate>\n\nYour former answer could not be used: no JSON",
	}
	if err := errors.Join(db.Curation.Decide(context.Background(), nil, asked, nil, nil), db.Close()); err != nil {
		t.Fatal(err)
	}
	s.config.Curator.Batch = 8
	if err := s.run("older"); err != nil {
		t.Fatal(err)
	}
	s.verify("older")
	after := s.decisions("older")
	if n := s.count("older", `SELECT count(*) FROM glossary_entry`); len(before) != 2 || len(after) != n {
		t.Errorf("%d entries, %d decided before, %d after", n, len(before), len(after))
	}
	for id, made := range after {
		if len(made) != 1 {
			t.Errorf("entry %d: %+v", id, made)
		}
	}
}

// TestEachEntryIsDecidedOnce tests that there is one decision on each entry. This holds for any grouping of entries
// into questions, any omission, repetition or mistake in the answers, and any stop of the run.
func TestEachEntryIsDecidedOnce(t *testing.T) {
	t.Parallel()
	for seed := range uint64(6) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			random := rand.New(rand.NewPCG(seed, 0))
			s := newStage(t, story{threads: 2, scenes: 4}, scripted.Options{Strict: true, Script: careless(seed)})
			s.config.Curator.Batch, s.config.ContextBudget = 1+random.IntN(9), []int{6_800, 32_768}[seed%2]
			s.config.MaxTokens = 1_000
			if err := s.run("calm"); err != nil {
				t.Fatal(err)
			}
			s.runStopped("stopped", func(n annotator.Notice) bool {
				return n.Kind == annotator.NoticeDecision && random.IntN(3) == 0
			})
			s.compareBut("stopped", dump(t, s.db("calm")), "run_state ")
			entries, made := s.count("calm", `SELECT count(*) FROM glossary_entry`), s.decisions("calm")
			if entries < 9 || len(made) != entries {
				t.Errorf("%d entries, %d of them decided on", entries, len(made))
			}
			judged := 0
			for id, list := range made {
				if judged += len(list); len(list) != 1 {
					t.Errorf("entry %d: %+v", id, list)
				}
			}
			if n := s.count("calm", `SELECT count(*) FROM call WHERE purpose = 'curate'`); n > 2*judged {
				t.Errorf("%d questions for %d decisions on %d entries", n, judged, entries)
			}
		})
	}
}

// careless is a curator whose behaviour depends on the seed. Its answer on an entry depends on that, and on whether it
// was asked before.
func careless(seed uint64) scripted.Script {
	roll := func(r scripted.Request, entry int64, sides int) int {
		if askedAgain(r) {
			entry = -entry
		}
		return rand.New(rand.NewPCG(seed, uint64(entry))).IntN(sides)
	}
	decide := deciding(func(r scripted.Request, c scripted.Candidate) map[string]any {
		switch fate := roll(r, c.Entry, 9); {
		case fate == 0:
			return nil
		case fate == 1:
			return map[string]any{"decision": "KEEP"}
		case fate == 2:
			return map[string]any{"decision": "MERGE", "target": 999999}
		case fate < 6 && len(c.Similar) > 0:
			return map[string]any{"decision": "MERGE", "target": c.Similar[0]}
		case fate == 6:
			return map[string]any{"decision": "REJECT", "reason": "A passing word."}
		case fate == 7:
			return map[string]any{
				"decision":   "REVISE",
				"definition": fmt.Sprintf("Number %d, put in other words.", c.Entry),
			}
		}
		return map[string]any{"decision": "CONFIRM"}
	})
	return func(r scripted.Request) scripted.Reply {
		reply := decide(r)
		if shown := shownTo(r); shown != nil && roll(r, shown[0].Entry, 5) == 0 {
			reply.Text += reply.Text
		}
		return reply
	}
}
