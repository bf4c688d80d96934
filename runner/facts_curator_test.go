package runner_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"annotator"
	"annotator/curator"
	"annotator/internal/scripted"
)

// TestFact05MergeIsOneTransaction tests a failure of a former program: a merge that failed in its middle left the whole
// curator run half done. Here the merged entry, the one that replaces it, the record of the reason and the answer
// commit together. The merged entry stays, and names its replacement. The run continues to its end.
func TestFact05MergeIsOneTransaction(t *testing.T) {
	t.Parallel()
	s := newStage(t, story{threads: 2, scenes: 4},
		scripted.Options{Strict: true, Script: deciding(func(_ scripted.Request, c scripted.Candidate) map[string]any {
			if len(c.Similar) > 0 {
				return map[string]any{"decision": "MERGE", "target": c.Similar[0], "reason": "The same."}
			}
			return map[string]any{"decision": "CONFIRM"}
		})})
	if err := s.run("merged"); err != nil {
		t.Fatal(err)
	}
	s.verify("merged")
	merged := s.count("merged", `SELECT count(*) FROM glossary_entry WHERE status = 'merged'`)
	if merged < 5 {
		t.Fatalf("only %d entries are merged", merged)
	}
	for what, query := range map[string]string{
		"merges that are no one transaction with their record": `
			SELECT count(*) FROM revision m WHERE m.field = 'merge' AND 1 <>
			(SELECT count(*) FROM history d JOIN revision r ON r.id = d.id WHERE d.field = 'curator_decision'
				AND d.entry_id = m.entry_id AND r.trace_id = m.trace_id AND d.new_value ->> '$.decision' = 'MERGE')`,
		"merges without an answer": `SELECT count(*) FROM revision m WHERE m.field = 'merge' AND NOT EXISTS
			(SELECT 1 FROM trace t WHERE t.id = m.trace_id AND t.kind = 'reply')`,
		"claims that came over without their transaction": `
			SELECT count(*) FROM revision c WHERE c.actor = 'curator' AND c.field = 'claim'
			AND NOT EXISTS (SELECT 1 FROM revision m WHERE m.field = 'merge' AND m.trace_id = c.trace_id)`,
		"merged entries whose claims are gone": `
			SELECT count(*) FROM glossary_entry e WHERE e.status = 'merged' AND NOT EXISTS
			(SELECT 1 FROM claim c WHERE c.entry_id = e.id)`,
	} {
		if n := s.count("merged", query); n > 0 {
			t.Errorf("%d %s", n, what)
		}
	}
}

// TestFact12CuratorIsAFork tests a failure of a former program: its curator was no fork, took the wrong thread, failed
// on braces and dropped tags. Here its questions begin with the window, byte for byte, and are not in it afterwards. At
// the end of a thread it decides on the entries of the thread before. At the corpus's end it also decides on the last
// ones. Braces are text, and a merge keeps the tags of both.
func TestFact12CuratorIsAFork(t *testing.T) {
	t.Parallel()
	var bodies []string
	s := newStage(t, story{threads: 3, scenes: 4}, scripted.Options{
		Strict: true, OnRequest: func(r scripted.Request) { bodies = append(bodies, string(r.Body)) },
		Script: func(r scripted.Request) scripted.Reply {
			reply := deciding(func(_ scripted.Request, c scripted.Candidate) map[string]any {
				if c.Entry%3 == 0 && len(c.Similar) > 0 {
					return map[string]any{
						"decision": "MERGE", "target": c.Similar[0],
						"reason": `{"decision":"REJECT"} }{`,
					}
				}
				return map[string]any{"decision": "CONFIRM", "reason": "It {is} named."}
			})(r)
			if shownTo(r) != nil {
				reply.Text = "```json\n" + reply.Text + "\n```"
			}
			return reply
		},
	})
	s.config.Curator.Batch = 2 // the entries of each thread fill a question
	if err := s.run("forked"); err != nil {
		t.Fatal(err)
	}
	s.verify("forked")
	s.noViolations()
	s.checkThreadsDecided("forked")
	s.checkForks(bodies)
	s.checkTagsKept("forked")
	for id, made := range s.decisions("forked") {
		if len(made) != 1 || made[0].Action != curator.Confirm && made[0].Action != curator.Merge {
			t.Errorf("entry %d: %+v", id, made)
		}
	}
}

// checkThreadsDecided checks that each entry was decided on when the thread after its own had ended, and the last ones
// with theirs.
func (s *stage) checkThreadsDecided(name string) {
	s.t.Helper()
	db := s.open(name)
	ctx := context.Background()
	for id, made := range s.decisions(name) {
		e, err := db.Glossary.Entry(ctx, id)
		if err != nil {
			s.t.Fatal(err)
		}
		scene, err := db.Scenes.At(ctx, e.First.Order())
		if err != nil {
			s.t.Fatal(err)
		}
		decided, err := db.Threads.Get(ctx, made[0].Thread)
		if err != nil {
			s.t.Fatal(err)
		}
		threads, err := db.Threads.All(ctx)
		if err != nil {
			s.t.Fatal(err)
		}
		place := func(order annotator.Order) int {
			return slices.IndexFunc(threads, func(t annotator.Thread) bool { return t.Order == order })
		}
		if want := min(place(scene.Thread.Order)+1, 2); place(decided.Order) != want {
			s.t.Errorf("entry %d of thread %d was decided on at the end of thread %d", id, scene.Thread.ID,
				made[0].Thread)
		}
	}
}

// checkForks checks that a question begins with the request before the curator was asked, and is not in the next one
// after.
func (s *stage) checkForks(bodies []string) {
	s.t.Helper()
	const mark = `Set the scenes aside for a moment, call no tool, and `
	var window string
	forks := 0
	for _, body := range bodies {
		body, _, _ = strings.Cut(body, `],"tools":`)
		at := strings.Index(body, mark)
		if at < 0 {
			window = body
			continue
		}
		forks++
		if !strings.HasPrefix(body, window) || strings.Count(body, mark) > 3 ||
			strings.Count(body, "threads have ended: ") > 1 {
			s.t.Fatal("a question is not the window and itself")
		}
	}
	if forks == 0 || strings.Contains(window, mark) {
		s.t.Errorf("%d questions", forks)
	}
}

func (s *stage) checkTagsKept(name string) {
	s.t.Helper()
	g := s.open(name).Glossary
	merged := 0
	for e, err := range g.All(context.Background()) {
		if err != nil {
			s.t.Fatal(err)
		}
		if e.Status != annotator.Merged {
			continue
		}
		merged++
		target, err := g.Entry(context.Background(), e.MergedInto)
		if err != nil {
			s.t.Fatal(err)
		}
		for _, tag := range e.Tags {
			if !slices.Contains(target.Tags, tag) {
				s.t.Errorf("the tag %q of entry %d is lost in entry %d", tag, e.ID, target.ID)
			}
		}
	}
	if merged == 0 {
		s.t.Error("nothing was merged")
	}
}
