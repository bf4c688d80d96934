package runner_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"annotator"
	"annotator/context/compaction"
	"annotator/internal/scripted"
)

// The facts are the failures of the program before this one. Each has its number.

// texts returns what the messages of a request say, in order, with their roles.
func texts(t *testing.T, body []byte) []annotator.Message {
	t.Helper()
	var request struct {
		Messages []struct {
			Role      annotator.Role
			Content   string
			ToolCalls []json.RawMessage `json:"tool_calls"`
		}
	}
	if err := json.Unmarshal(body, &request); err != nil {
		t.Fatal(err)
	}
	var all []annotator.Message
	for _, m := range request.Messages {
		all = append(all, annotator.Message{
			Role: m.Role, Content: m.Content,
			ToolCalls: make([]annotator.ToolCall, len(m.ToolCalls)),
		})
	}
	return all
}

// reader looks posts up, round after round, so that turns grow while they last.
func reader(r scripted.Request) scripted.Reply {
	if asksSummary(r) || !r.MayCall() {
		return scripted.Reply{Text: summaryOf(r) + "Done."}
	}
	rounds := 0
	for i := len(r.Messages) - 1; r.Messages[i].Role != annotator.RoleUser; i-- {
		if r.Messages[i].Role == annotator.RoleTool {
			rounds++
		}
	}
	if rounds == 4 {
		return scripted.Reply{Text: "That is all."}
	}
	return scripted.Reply{ToolCalls: []annotator.ToolCall{{
		Name:      "read_post",
		Arguments: fmt.Sprintf(`{"post_id":%d}`, 100+2*rounds),
	}}}
}

// TestFact01_CompactionInsideTheToolLoop tests that the present scene, its calls and their results are all there after
// the compaction. Which window is full inside a scene depends on the length of the prompt.
func TestFact01_CompactionInsideTheToolLoop(t *testing.T) {
	t.Parallel()
	inside := 0
	for budget := 10_400; budget < 12_400; budget += 200 {
		rec := &recording{}
		s := newTale(t, [][]string{evenScenes(12)}, budget, scripted.Options{Script: reader, OnRequest: rec.take})
		s.config.MaxTokens = 1_000
		if err := s.run("loop"); err != nil {
			t.Fatal(err)
		}
		s.lawful("loop")
		rec.folds(t, s, "loop")
		inside += foldedInside(t, s, rec)
	}
	if inside == 0 {
		t.Fatal("no compaction inside a scene")
	}
}

// foldedInside checks what follows each compaction inside a scene, and returns how many there are.
func foldedInside(t *testing.T, s *stage, rec *recording) int {
	t.Helper()
	inside := s.column("loop", `SELECT id FROM call WHERE purpose = 'summarise' AND turn > 0
		AND (SELECT kind FROM trace WHERE id = trace_id + 1) = 'compaction' ORDER BY id`)
	for _, call := range inside {
		next := texts(t, rec.bodies[call])
		at := len(next) - 1
		for next[at].Role != annotator.RoleUser {
			at--
		}
		rows := s.count("loop", fmt.Sprintf(`SELECT count(*) FROM trace WHERE kind IN ('reply', 'tool_result')
			AND turn = (SELECT turn FROM call WHERE id = %[1]d) AND id < (SELECT trace_id FROM call WHERE id = %[1]d)`, call))
		if scene := next[at].Content; !strings.HasPrefix(scene, "<scene ") || len(next)-1-at != rows || rows == 0 {
			t.Errorf("after the compaction at call %d the turn has %d messages, the journal has %d; it begins with "+
				"%.40q", call, len(next)-1-at, rows, scene)
		}
	}
	return len(inside)
}

// TestFact02_SummaryIsInTheNextRequest: whatever tier made it, it takes effect at once.
func TestFact02_SummaryIsInTheNextRequest(t *testing.T) {
	t.Parallel()
	var scenes []string
	for n := range 140 {
		scenes = append(scenes, prose("Latin", 900, uint64(n)))
	}
	short := func(r scripted.Request) scripted.Reply { return scripted.Reply{Text: summaryOf(r) + "It is read."} }
	for name, tiers := range map[string][]string{"auto": {"1", "2"}, "seed": {"0.5", "1"}} {
		rec := &recording{}
		s := newTale(t, [][]string{scenes[:5], scenes[5:12], scenes[12:]}, 23_000,
			scripted.Options{Script: short, OnRequest: rec.take})
		s.config.MaxTokens = 1_000
		if name == "seed" {
			s.config.Compaction = compaction.ThreeMarks()
		}
		if err := s.run(name); !errors.Is(err, annotator.NoCalls) {
			t.Fatal(err)
		}
		s.lawful(name)
		// What is written at the end of a thread enters the window with the next compaction, which asks for a chunk at
		// most.
		for i, tokens := range s.column(name, `SELECT iif(purpose = 'summarise'
			AND (SELECT kind FROM trace WHERE id = trace_id + 1) = 'compaction', prompt_tokens, 0) FROM call ORDER BY id`) {
			made := fmt.Sprintf(" at %d tokens. Ash went on.", tokens)
			if tokens > 0 && !bytes.Contains(rec.bodies[i+1], []byte(made)) {
				t.Errorf("%s: the summary of call %d is not in the next request", name, i+1)
			}
		}
		for _, tier := range tiers {
			if s.count(name, `SELECT count(*) FROM compaction WHERE tier = '`+tier+`'`) == 0 {
				t.Errorf("%s: no compaction of tier %s", name, tier)
			}
		}
	}
}

// TestFact08_EndsOfThreads tests that a thread ends with its last scene, whoever posts last in it, and so does the last
// of the corpus. The next thread counts its scenes from the beginning.
func TestFact08_EndsOfThreads(t *testing.T) {
	t.Parallel()
	for _, readerEnds := range []bool{true, false} {
		s := newTale(t, [][]string{evenScenes(3), evenScenes(2), evenScenes(4)}, 32_768, scripted.Options{})
		s.corpus = strings.Replace(s.corpus, "story", fmt.Sprint(readerEnds), 1)
		writeTale(t, s.corpus, [][]string{evenScenes(3), evenScenes(2), evenScenes(4)}, readerEnds)
		if err := s.run("ends"); err != nil {
			t.Fatal(err)
		}
		s.lawful("ends")
		if n := s.count("ends", `SELECT count(*) FROM thread_state WHERE status = 'completed' AND completed_at IS `+
			`NOT NULL`); n != 3 {
			t.Errorf("%d of 3 threads are completed", n)
		}
		if got := s.column("ends", `SELECT (SELECT count(*) FROM scene p WHERE p.thread_id = s.thread_id AND p.ord < s.ord) FROM scene s ORDER BY ord`); !slices.Equal(got,
			[]int{0, 1, 2, 0, 1, 0, 1, 2, 3}) {
			t.Errorf("indices of the scenes: %v", got)
		}
		if n := s.count("ends",
			`SELECT count(DISTINCT entry_id) FROM revision WHERE field = 'curator_decision' AND entry_id IN
			(SELECT id FROM glossary_entry WHERE first_scene > 5)`); n == 0 {
			t.Error("nobody has judged the entries of the last thread")
		}
	}
}

// TestFact10_CompactionGoesToItsMark: down to 60 % where that is asked for, step by step if need be.
func TestFact10_CompactionGoesToItsMark(t *testing.T) {
	t.Parallel()
	s := newTale(t, [][]string{evenScenes(8), evenScenes(9), evenScenes(30)}, 24_000,
		scripted.Options{Script: summarised})
	s.config.MaxTokens, s.config.Compaction, s.config.Curator.Off = 1_000, marked(0.6), true
	s.config.Compaction.High = 0.8
	if err := s.run("mark"); err != nil {
		t.Fatal(err)
	}
	s.lawful("mark")
	budget := 24_000 - s.config.MaxTokens - s.config.SafetyMargin
	// no further step followed
	rests := s.column("mark", `SELECT tokens_after FROM compaction c WHERE
		(SELECT kind FROM trace WHERE id > c.trace_id ORDER BY id LIMIT 1) = 'scene' ORDER BY trace_id`)
	if len(rests) < 3 {
		t.Fatalf("%d compactions", len(rests))
	}
	for _, tokens := range rests {
		if tokens > budget*60/100 || tokens < budget*50/100 {
			t.Errorf("compaction came to rest at %d of %d tokens", tokens, budget)
		}
	}
}

// TestFact10_TrimsOutliveTheProcess: what was stripped and cut stays so in the next process.
func TestFact10_TrimsOutliveTheProcess(t *testing.T) {
	t.Parallel()
	for tier, reply := range map[string]string{
		"4": prose("Latin", 1_400, 1),
	} {
		rec := &recording{}
		s := newTale(t, [][]string{evenScenes(14)}, 14_800,
			scripted.Options{OnRequest: rec.take, Script: func(r scripted.Request) scripted.Reply {
				if asksSummary(r) {
					return scripted.Reply{}
				}
				// never what it has said before
				return scripted.Reply{Text: fmt.Sprintf("%d messages. %s", len(r.Messages), reply)}
			}})
		s.config.MaxTokens, s.config.Limit = 1_000, 1
		for trimmed := false; !trimmed; trimmed = s.count("trims",
			`SELECT count(*) FROM compaction WHERE tier = '`+tier+`'`) > 0 {
			if err := s.run("trims"); err != nil {
				t.Fatal(err)
			}
			if s.state("trims").Recorded == 14 {
				t.Fatalf("nothing was trimmed by tier %s", tier)
			}
		}
		sent := len(rec.bodies)
		if err := s.run("trims"); err != nil {
			t.Fatal(err)
		}
		s.lawful("trims")
		rec.folds(t, s, "trims")
		oldest := texts(t, rec.bodies[sent])[2]
		if !strings.HasSuffix(oldest.Content, " [cut]") || len(oldest.Content) > 510 {
			t.Errorf("tier %s: the next process shows the model %.40q of %d characters", tier, oldest.Content,
				len(oldest.Content))
		}
	}
}

// TestFact10_ReasoningInOldReplies: an earlier version recorded replies with their reasoning. If there is no summary, a
// run that continues with such a database removes the reasoning from the window by tier 3, before it cuts anything.
func TestFact10_ReasoningInOldReplies(t *testing.T) {
	t.Parallel()
	rec := &recording{}
	s := newTale(t, [][]string{evenScenes(14)}, 14_300,
		scripted.Options{OnRequest: rec.take, Script: func(r scripted.Request) scripted.Reply {
			if asksSummary(r) {
				return scripted.Reply{}
			}
			return scripted.Reply{Text: fmt.Sprintf("%d messages.", len(r.Messages))}
		}})
	s.config.MaxTokens, s.config.Limit = 1_000, 1
	for stripped := false; !stripped; stripped =
		s.count("old", `SELECT count(*) FROM compaction WHERE tier = '3'`) > 0 {
		if err := s.run("old"); err != nil {
			t.Fatal(err)
		}
		if s.state("old").Recorded == 14 {
			t.Fatal("no reasoning was taken out")
		}
		edit(t, s.db("old"), `UPDATE trace SET content = '<think>'||'`+
			strings.ReplaceAll(prose("Latin", 1_400, 1), "'", "")+`'||'</think>'||content
			WHERE kind = 'reply' AND content LIKE '%messages.' AND content NOT LIKE '<think>%'`)
	}
	sent := len(rec.bodies)
	if err := s.run("old"); err != nil {
		t.Fatal(err)
	}
	with, without := 0, 0
	for _, m := range texts(t, rec.bodies[sent]) {
		if strings.HasSuffix(m.Content, "messages.") && strings.Contains(m.Content, "<think>") {
			with++
		} else if strings.HasSuffix(m.Content, "messages.") {
			without++
		}
	}
	if kept := s.config.Compaction.KeepReplies + 1; with > kept || without == 0 { // one scene was read since
		t.Errorf("the next process shows the model %d replies with reasoning and %d without, want at most %d with",
			with, without, kept)
	}
}

// TestFact14_NoDoomLoop tests that the next tier is tried for any answer of a summariser, and a summary by rule at the
// end, which says so. The model is not asked again and again.
func TestFact14_NoDoomLoop(t *testing.T) {
	t.Parallel()
	fault := func(status int) func(int, scripted.Request) *scripted.Fault {
		return func(_ int, r scripted.Request) *scripted.Fault {
			if !asksSummary(r) {
				return nil
			}
			return &scripted.Fault{Status: status, Body: `{"error":{"message":"no summary today"}}`}
		}
	}
	for name, options := range map[string]scripted.Options{
		"longer":  {Script: summing(strings.Repeat("字", 1_400))},
		"empty":   {Script: summing("")},
		"no word": {Script: summing("...")},
		"refused": {Fault: fault(400), Script: summing("")},
		"failing": {Fault: fault(500), Script: summing("")},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var scenes []string
			for n := range 70 {
				scenes = append(scenes, prose("Latin", 700, uint64(n)))
			}
			s := newTale(t, [][]string{scenes[:20], scenes[20:]}, 7_000, options)
			s.config.MaxTokens, s.config.Curator.Off, s.config.ToolRounds = 600, true, 5
			if name == "longer" { // where few tokens have to go
				s.config.Compaction.Low = 0.97
			}
			if err := s.run("doom"); !errors.Is(err, annotator.NoCalls) {
				t.Fatal(err)
			}
			s.lawful("doom")
			if run := s.state("doom"); run.Recorded != len(scenes) {
				t.Errorf("recorded %d of %d", run.Recorded, len(scenes))
			}
			asked := s.count("doom", `SELECT count(*) FROM call WHERE purpose = 'summarise' AND attempt = 1`)
			made := s.count("doom", `SELECT count(*) FROM compaction`)
			if made == 0 || asked > 2*made {
				t.Errorf("the model was asked for %d summaries, %d compactions came of it", asked, made)
			}
			byRule := s.count("doom", `SELECT count(*) FROM episode WHERE author = 'rule'`)
			byModel := s.count("doom", `SELECT count(*) FROM episode WHERE author = 'model'`)
			if byRule == 0 || byModel > 0 && name != "longer" {
				t.Errorf("%d summaries by rule, %d by the model", byRule, byModel)
			}
			// A server that is not well is asked three times in a row, and once more fifty scenes later.
			if given := s.count("doom", `SELECT count(*) FROM call WHERE decision = 'quarantine'`); name == "failing" &&
				given != 4 {
				t.Errorf("%d questions were given up, want 4", given)
			}
			if name != "longer" && s.count("doom",
				`SELECT count(*) FROM episode WHERE author = 'rule' AND kind = 'cumulative'`) == 0 {
				t.Error("the summaries by rule were never drawn together")
			}
		})
	}
}

// summing is a model that has one answer to every question for a summary.
func summing(text string) scripted.Script {
	return func(r scripted.Request) scripted.Reply {
		if asksSummary(r) {
			return scripted.Reply{Text: text}
		}
		return scripted.Reply{Text: "It is read."}
	}
}

// TestFact14_WhatCannotFitIsRefused tests that a scene longer than the whole window costs one attempt to make room, and
// that its neighbours are read.
func TestFact14_WhatCannotFitIsRefused(t *testing.T) {
	t.Parallel()
	scenes := evenScenes(7)
	scenes[4] = prose("Latin", 30_000, 1)
	s := newTale(t, [][]string{scenes}, 9_000, scripted.Options{Script: summarised})
	s.config.MaxTokens = 1_000
	if err := s.run("giant"); annotator.KindOf(err) != annotator.Quarantined {
		t.Fatal(err)
	}
	s.lawful("giant")
	if run := s.state("giant"); run.Recorded != 6 || run.Quarantined != 1 {
		t.Errorf("recorded %d, refused %d", run.Recorded, run.Quarantined)
	}
	if n := s.count("giant", `SELECT count(*) FROM call WHERE scene = 5`); n > 3 {
		t.Errorf("%d calls for a scene that cannot fit", n)
	}
}

// TestFact15_SnapshotsCostWhatChanged: a position, whatever the context holds.
func TestFact15_SnapshotsCostWhatChanged(t *testing.T) {
	t.Parallel()
	s := newTale(t, [][]string{evenScenes(30)}, 60_000, scripted.Options{})
	if err := s.run("snapshots"); err != nil {
		t.Fatal(err)
	}
	s.lawful("snapshots")
	const row = `length(CAST(concat_ws(' ', id, type, created_at, scene, thread_id, trace_id, revision_id, context_id, entries, tokens) AS BLOB))`
	if n := s.count("snapshots", `SELECT count(*) FROM snapshot WHERE type = 'checkpoint'`); n != 30 {
		t.Errorf("%d checkpoints of 30 scenes", n)
	}
	if n := s.count("snapshots", `SELECT max(`+row+`) FROM snapshot`); n > 100 {
		t.Errorf("a snapshot of %d bytes", n)
	}
	if n := s.count("snapshots", `SELECT count(*) FROM snapshot_context`); n != 1 {
		t.Errorf("the prompt is stored %d times", n)
	}
	if prompt := s.count("snapshots", `SELECT max(tokens) FROM snapshot`); prompt < 20_000 {
		t.Errorf("a context of %d tokens is no test", prompt)
	}
}
