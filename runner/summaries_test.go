package runner_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"annotator"
	"annotator/internal/scripted"
)

// asksForThreads reports whether a request asks for the summaries of threads that have ended.
func asksForThreads(r scripted.Request) bool {
	return strings.Contains(r.Messages[len(r.Messages)-1].Content, "threads have ended: ")
}

// summariesOf checks that each thread has one summary by an author, and that the newest story so far covers the whole
// story.
func (s *stage) summariesOf(name string, threads, scenes int, author string) {
	s.t.Helper()
	s.verify(name)
	if n := s.count(name, `SELECT count(DISTINCT thread_id) FROM episode WHERE kind = 'thread' AND author = '`+author+
		`'`); n != threads {
		s.t.Errorf("%d of %d threads have a summary by the %s", n, threads, author)
	}
	if n := s.count(name,
		`SELECT to_scene FROM episode WHERE kind = 'cumulative' ORDER BY id DESC LIMIT 1`); n != scenes {
		s.t.Errorf("the story so far ends with scene %d of %d", n, scenes)
	}
}

// TestThreadsAreSummarised at their end, by the questions of the curator, and compaction asks for no story that is
// there.
func TestThreadsAreSummarised(t *testing.T) {
	t.Parallel()
	s := newStage(t, story{threads: 6, scenes: 4, words: 400}, scripted.Options{Strict: true})
	s.config.ContextBudget, s.config.MaxTokens = 16_000, 1_500
	if err := s.run("told"); err != nil {
		t.Fatal(err)
	}
	s.noViolations()
	s.summariesOf("told", 6, 24, "model")
	if n := s.count("told", `SELECT count(*) FROM compaction WHERE tier = '1'`); n == 0 {
		t.Error("no thread has left the window")
	}
	if n := s.count("told", `SELECT count(*) FROM episode WHERE kind = 'cumulative' AND entered > trace_id`); n == 0 {
		t.Error("no story so far was used that was there")
	}
	if n := s.count("told", `SELECT count(*) FROM call WHERE purpose <> 'annotate'`); n > 14 {
		t.Errorf("%d questions about 6 threads", n)
	}
}

// TestSummariesListTheirEntries: those that the turns of their scenes made or changed; a story so far those of all
// threads before it. The window names a chunk as the record does: by its index and the scenes of the story.
func TestSummariesListTheirEntries(t *testing.T) {
	t.Parallel()
	s := newStage(t, story{threads: 3, scenes: 14, words: 400}, scripted.Options{Strict: true, Script: summarised})
	s.config.ContextBudget, s.config.MaxTokens = 16_000, 1_500
	if err := s.run("told"); err != nil {
		t.Fatal(err)
	}
	s.verify("told")
	db, chunks := s.open("told"), 0
	for e, err := range db.Episodes.All(t.Context(), "") {
		if err != nil {
			t.Fatal(err)
		}
		scenes := fmt.Sprintf(`t.scene BETWEEN %d AND %d`, e.FromScene, e.ToScene)
		want := s.column("told", `SELECT DISTINCT r.entry_id FROM revision r JOIN trace t ON t.id = r.trace_id `+
			`WHERE r.turn > 0 AND `+scenes+` ORDER BY 1`)
		if len(want) == 0 || fmt.Sprint(want) != fmt.Sprint(e.Entries) {
			t.Errorf("the %s of the scenes %s lists the entries %v, not %v", e.Kind, e.Scenes(), e.Entries, want)
		}
		if e.Kind != annotator.EpisodeChunk {
			continue
		}
		chunks++
		state, _, err := db.Episodes.WindowState(t.Context(), e.Trace)
		if err != nil {
			t.Fatal(err)
		}
		entries := strings.ReplaceAll(strings.Trim(fmt.Sprint(e.Entries), "[]"), " ", ",")
		shown := fmt.Sprintf(`<chunk thread="%d" index="%d" scenes="%s" entries="%s">`, e.Thread, e.Index, e.Scenes(),
			entries)
		if !strings.Contains(state.Memory, shown) {
			t.Errorf("the window shows %s, not %s", state.Memory, shown)
		}
	}
	if chunks < 3 {
		t.Errorf("%d chunks", chunks)
	}
}

// TestCompactionLeavesTheLowMark: only the newest scenes stay, whether the story so far is there already or is asked
// for.
func TestCompactionLeavesTheLowMark(t *testing.T) {
	t.Parallel()
	uncached := map[bool]int{}
	for _, off := range []bool{false, true} {
		s := newTale(t, [][]string{evenScenes(30), evenScenes(30), evenScenes(30)}, 16_000,
			scripted.Options{Strict: true, Script: summarised})
		s.config.MaxTokens, s.config.NoThreadSummaries = 1_000, off
		if err := s.run("tale"); err != nil {
			t.Fatal(err)
		}
		s.verify("tale")
		left := s.column("tale",
			`SELECT (SELECT count(DISTINCT turn) FROM trace t WHERE t.id < c.trace_id AND t.turn > c.through_turn)
			FROM compaction c ORDER BY trace_id`)
		if len(left) == 0 || slices.Max(left) > s.config.Compaction.KeepTurns {
			t.Errorf("without summaries of threads %v: compactions leave the scenes %v", off, left)
		}
		there := s.count("tale", `SELECT count(*) FROM episode e WHERE kind = 'cumulative' AND entered > trace_id
			AND EXISTS (SELECT 1 FROM episode c WHERE c.kind = 'chunk' AND c.trace_id = e.entered)`)
		if !off && there == 0 {
			t.Error("no story so far that was there entered the window together with a chunk")
		}
		uncached[off] = s.count("tale", `SELECT sum(prompt_tokens - cached_tokens) FROM call WHERE purpose <> 'curate'`)
	}
	if 100*uncached[false] > 103*uncached[true] {
		t.Errorf("%d uncached tokens with summaries of threads, %d without", uncached[false], uncached[true])
	}
}

// TestNoChunkOfAThreadThatWasSummedUp: scenes of a thread that ended leave the window for the story so far that
// includes them. This holds where the newest of them stay.
func TestNoChunkOfAThreadThatWasSummedUp(t *testing.T) {
	t.Parallel()
	const length = 17
	var threads [][]string
	for range 5 {
		threads = append(threads, evenScenes(length))
	}
	chunks, again := 0, 0
	s := newTale(t, threads, 16_000, scripted.Options{Strict: true, Script: func(r scripted.Request) scripted.Reply {
		var first, last int
		question := r.Messages[len(r.Messages)-1].Content
		_, leaving, found := strings.Cut(question, " Scenes ")
		if _, err := fmt.Sscanf(leaving, "%d to %d are to leave", &first, &last); found && err == nil {
			chunks++
			for _, m := range r.Messages {
				var n int
				_, err := fmt.Sscanf(m.Content, `<scene number="%d"`, &n)
				if err == nil && (n-1)/length > (last-1)/length {
					again++
				}
			}
		}
		return summarised(r)
	}})
	s.config.MaxTokens = 1_000
	if err := s.run("tale"); err != nil {
		t.Fatal(err)
	}
	s.lawful("tale")
	t.Logf("%d chunks", chunks)
	if again > 0 || chunks == 0 {
		t.Errorf("%d chunks were asked for, %d times with scenes of a later thread in the window", chunks, again)
	}
	told := s.count("tale", `SELECT count(*) FROM compaction c JOIN trace t ON t.turn = c.through_turn + 1 AND t.seq = 0
		WHERE (SELECT thread_id FROM scene WHERE turn = c.through_turn) = (SELECT thread_id FROM scene WHERE n = t.scene)
		  AND NOT EXISTS (SELECT 1 FROM episode e WHERE e.trace_id = c.trace_id AND e.kind = 'chunk')`)
	if told == 0 {
		t.Error("no compaction left the newest scenes of a thread whose other scenes the story so far tells")
	}
}

// TestNoChunkIsWritten: where the model writes no chunk, the story so far that is there enters the window all the same.
func TestNoChunkIsWritten(t *testing.T) {
	t.Parallel()
	s := newTale(t, [][]string{evenScenes(30), evenScenes(30), evenScenes(30)}, 16_000,
		scripted.Options{Strict: true, Script: func(r scripted.Request) scripted.Reply {
			if asksSummary(r) && !asksForThreads(r) {
				return scripted.Reply{Text: "- - -"}
			}
			return summarised(r)
		}})
	s.config.MaxTokens = 1_000
	if err := s.run("tale"); err != nil {
		t.Fatal(err)
	}
	s.verify("tale")
	if n := s.count("tale", `SELECT count(*) FROM episode WHERE kind = 'cumulative' AND entered > trace_id`); n == 0 {
		t.Error("no story so far that was there entered the window")
	}
}

// TestShortThreadsShareAQuestion for their summaries.
func TestShortThreadsShareAQuestion(t *testing.T) {
	t.Parallel()
	s := newStage(t, story{threads: 12, scenes: 1}, scripted.Options{Strict: true})
	s.config.Curator.Off = true
	if err := s.run("short"); err != nil {
		t.Fatal(err)
	}
	s.summariesOf("short", 12, 12, "model")
	if n := s.count("short", `SELECT count(*) FROM call WHERE purpose = 'summarise'`); n != 1 {
		t.Errorf("%d questions for the summaries of 12 short threads", n)
	}
}

// TestMissingSummariesAreAskedForOnceMore, alone, and then made by a rule.
func TestMissingSummariesAreAskedForOnceMore(t *testing.T) {
	t.Parallel()
	for name, answer := range map[string]func(question string) string{
		"rule": func(string) string { return "I write none. " },
		"model": func(question string) string {
			if strings.Contains(question, "<candidate ") {
				return "I will not. "
			}
			return scripted.Recap(question)
		},
	} {
		alone := 0
		s := newStage(t, story{threads: 2, scenes: 3},
			scripted.Options{Strict: true, Script: func(r scripted.Request) scripted.Reply {
				if !asksForThreads(r) {
					return scripted.Annotate(r)
				}
				question := r.Messages[len(r.Messages)-1].Content
				if shownTo(r) == nil {
					alone++
				}
				decided := scripted.Decide(question, func(scripted.Candidate) map[string]any {
					return map[string]any{"decision": "CONFIRM", "reason": "It is named."}
				}).Text
				if shownTo(r) == nil {
					decided = ""
				}
				return scripted.Reply{Text: answer(question) + strings.TrimPrefix(decided, scripted.Recap(question))}
			}})
		if err := s.run(name); err != nil {
			t.Fatal(err)
		}
		s.summariesOf(name, 2, 6, name)
		if alone != 1 {
			t.Errorf("%s: asked %d times alone", name, alone)
		}
		if n := s.count(name, `SELECT count(*) FROM glossary_entry WHERE status = 'tentative'`); n > 0 {
			t.Errorf("%s: %d entries are undecided", name, n)
		}
	}
}
