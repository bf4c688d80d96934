package runner_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"annotator"
	"annotator/internal/longtest"
	"annotator/internal/scripted"
	"annotator/model/openai"
	"annotator/snapshot"
	"annotator/storage"
)

// styles are the ways in which models end a scene, with the requests that 50 scenes and 102 things to note cost.
var styles = map[string]struct {
	style    scripted.Style
	requests int // for scenes
}{
	"says done":        {scripted.Style{Done: true}, 50},
	"says done beside": {scripted.Style{Done: true, Remark: true}, 50},
	"never says":       {scripted.Style{}, 59},
	"one call":         {scripted.Style{Single: true}, 152},
	"one call, done":   {scripted.Style{Single: true, Done: true}, 152},
	"careless":         {scripted.Style{Done: true, Careless: true}, 87},
	"careless, silent": {scripted.Style{Careless: true}, 96},
}

// TestFollowUps tests that, for any way in which a model ends a scene, no edit is lost, and no unnecessary request is
// made.
func TestFollowUps(t *testing.T) {
	t.Parallel()
	for name, test := range styles {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, terms := styleStage(t, test.style, 25)
			if err := s.run("run"); err != nil {
				t.Fatal(err)
			}
			s.verify("run")
			s.noViolations()
			if len(terms) != 102 {
				t.Errorf("%d things are to be noted", len(terms))
			}
			for term := range terms {
				if n := s.count("run", fmt.Sprintf(`SELECT count(*) FROM glossary_alias WHERE name = '%s'`,
					term)); n != 1 {
					t.Errorf("%d entries are called %q", n, term)
				}
			}
			if n := s.count("run", `SELECT count(*) FROM call WHERE purpose = 'annotate'`); n != test.requests {
				t.Errorf("%d requests for scenes, want %d", n, test.requests)
			}
			closing := "No further notes on this scene."
			if test.style.Remark {
				closing = "Of scene % I note this."
			}
			ended := s.count("run",
				`SELECT count(*) FROM scene WHERE (SELECT kind FROM trace t WHERE t.turn = scene.turn ORDER BY seq DESC LIMIT 1) = 'close'`)
			if n := s.count("run", `SELECT count(*) FROM trace WHERE kind = 'close' AND content LIKE '`+closing+
				`'`); n != ended || test.style.Done && !test.style.Single && n != 50 {
				t.Errorf("%d of %d turns that end with calls are closed by %q", n, ended, closing)
			}
		})
	}
}

// TestFollowUpWithSeveralCalls: what a follow-up brings is recorded where only its calls show that the model makes
// several in a reply.
func TestFollowUpWithSeveralCalls(t *testing.T) {
	t.Parallel()
	s := newStage(t, story{threads: 1, scenes: 1}, scripted.Options{Script: func(r scripted.Request) scripted.Reply {
		edit := func(term string) annotator.ToolCall { return makes(term, "person", `["It stood."]`, `,"done":true`) }
		if strings.HasPrefix(r.Messages[len(r.Messages)-1].Content, "<scene ") {
			return scripted.Reply{ToolCalls: []annotator.ToolCall{edit("One")}}
		}
		return scripted.Reply{ToolCalls: []annotator.ToolCall{edit("Two"), edit("Three")}}
	}})
	s.config.Curator.Off = true
	if err := s.run("run"); err != nil {
		t.Fatal(err)
	}
	if found, made := s.count("run", `SELECT count(*) FROM scene WHERE follow_up = 'edits'`),
		s.count("run", `SELECT count(*) FROM glossary_entry`); found != 1 || made != 3 {
		t.Errorf("%d follow-ups brought edits, %d entries were made", found, made)
	}
}

var threads = flag.Int("threads", longtest.Pick(1, 3), "of the stories that TestRequestsAScene measures")

// TestRequestsAScene measures what scenes cost with the curator and all summaries; docs/requests.md has the figures.
func TestRequestsAScene(t *testing.T) {
	t.Parallel()
	for _, name := range slices.Sorted(maps.Keys(styles)) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			style := styles[name].style
			s := newStage(t, story{threads: *threads, scenes: 20, words: 1_000},
				scripted.Options{Strict: true, Script: style.Annotate})
			if err := s.run("run"); err != nil {
				t.Fatal(err)
			}
			scenes := float64(*threads * 20)
			each := func(what string) float64 { return float64(s.count("run", `SELECT `+what+` FROM call`)) / scenes }
			all := each(`count(*)`)
			t.Logf("| %s | %.2f | %.2f | %.0f | %.0f | %.0f |", name, each(`sum(purpose = 'annotate')`), all,
				each(`sum(prompt_tokens)`),
				each(`sum(prompt_tokens - cached_tokens)`), each(`sum(completion_tokens)`))
			if style.Done && !style.Single && !style.Careless && all > 1.35 {
				t.Errorf("%.2f requests a scene", all)
			}
		})
	}
}

// TestClosedScenesAreRebuilt tests the context after a scene that its calls have ended. The next request begins with
// it, byte for byte, unless the window was compacted in between. It ends with a line of the assistant, so a question
// can follow.
func TestClosedScenesAreRebuilt(t *testing.T) {
	t.Parallel()
	for name, test := range styles {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, _ := styleStage(t, test.style, 12)
			rec := &recording{}
			s.serve(scripted.Options{Strict: true, Script: test.style.Annotate, OnRequest: rec.take})
			if err := s.run("run"); err != nil {
				t.Fatal(err)
			}
			store, wire, compared := s.open("run"), new(openai.Client), 0
			snapshots, err := store.Snapshots.List(t.Context(), storage.SnapshotQuery{})
			if err != nil {
				t.Fatal(err)
			}
			for _, at := range snapshots {
				next := s.count("run",
					fmt.Sprintf(`SELECT coalesce(min(id), 0) FROM call WHERE scene = %d AND purpose = 'annotate'
					AND NOT EXISTS (SELECT 1 FROM compaction WHERE trace_id BETWEEN %d AND call.trace_id)`,
						at.Scene+1, at.Trace))
				restored, err := snapshot.Restore(t.Context(), at, wire, store.Journal, store.Episodes)
				if err != nil {
					t.Fatal(err)
				}
				var all []annotator.Message
				if err := json.Unmarshal(slices.Concat([]byte("["), restored.History(), []byte("]")),
					&all); err != nil {
					t.Fatal(err)
				}
				for i, m := range all {
					if m.Role == annotator.RoleUser && i > 0 && all[i-1].Role != annotator.RoleAssistant ||
						i == len(all)-1 && m.Role != annotator.RoleAssistant {
						t.Errorf("scene %d: message %d is one of the role %s", at.Scene, i, m.Role)
					}
				}
				if next == 0 {
					continue
				}
				_, sent, _ := bytes.Cut(messages(t, rec.bodies[next-1]), []byte(`},`)) // behind the system prompt
				if !bytes.HasPrefix(sent, append(restored.History(), ',')) {
					t.Errorf("scene %d: the next request does not begin with the context after it", at.Scene)
				}
				compared++
			}
			if compared < 15 {
				t.Errorf("%d scenes were compared", compared)
			}
		})
	}
}

// TestFollowUpsTakeLessRoom: the window is compacted inside a scene only where the next request would not fit with half
// of the usual room for its reply.
func TestFollowUpsTakeLessRoom(t *testing.T) {
	t.Parallel()
	inside, shorter := 0, 0
	for budget := 10_350; budget <= 12_100; budget += 250 {
		limits := map[int]bool{}
		s := newTale(t, [][]string{evenScenes(12)}, budget,
			scripted.Options{Script: reader, OnRequest: func(r scripted.Request) {
				limits[r.MaxTokens] = true
			}})
		s.config.MaxTokens, s.config.SummaryTokens = 1_000, 700
		if err := s.run("run"); err != nil {
			t.Fatal(err)
		}
		s.lawful("run")
		for limit := range limits {
			if limit > 700 && limit < 1_000 {
				shorter++
			}
		}
		half := budget - s.config.SafetyMargin - s.config.MaxTokens/2
		for _, tokens := range s.column("run",
			`SELECT c.tokens_before FROM compaction c JOIN trace t ON t.id = (SELECT max(id) FROM trace WHERE turn > 0 AND id < c.trace_id)
			WHERE t.kind = 'tool_result' AND (SELECT kind FROM trace WHERE turn = t.turn AND seq = t.seq + 1) = 'reply'`) {
			inside++
			if tokens <= half {
				t.Errorf("budget %d: a compaction inside a scene at %d tokens, though %d fit", budget, tokens, half)
			}
		}
	}
	if inside == 0 || shorter == 0 {
		t.Errorf("%d compactions inside scenes, %d requests with less room for the reply", inside, shorter)
	}
}

// TestFollowUpsAreLearned tests that five without results end follow-ups, that each tenth scene tries one, and that the
// first with an edit restores them.
func TestFollowUpsAreLearned(t *testing.T) {
	t.Parallel()
	more := func(scene string, replies int) bool { // what comes in a second reply, from scene 30 to 39
		return replies == 1 && strings.HasPrefix(scene, `<scene number="3`) && scene[len(`<scene number="30`)] == '"'
	}
	s := newStage(t, story{threads: 1, scenes: 50},
		scripted.Options{Strict: true, Script: func(r scripted.Request) scripted.Reply {
			at := len(r.Messages) - 1
			for r.Messages[at].Role != annotator.RoleUser {
				at--
			}
			replies := 0
			for _, m := range r.Messages[at:] {
				if m.Role == annotator.RoleAssistant {
					replies++
				}
			}
			scene := r.Messages[at].Content
			switch {
			case !strings.HasPrefix(scene, "<scene "):
				return scripted.Annotate(r)
			case replies == 0:
				return calls(creates(fmt.Sprintf("A %d", r.Tokens)), creates(fmt.Sprintf("B %d", r.Tokens)))
			case more(scene, replies):
				return calls(creates(fmt.Sprintf("C %d", r.Tokens)))
			}
			return scripted.Reply{Text: "That is all."}
		}})
	s.config.Curator.Off = true
	if err := s.run("run"); err != nil {
		t.Fatal(err)
	}
	s.verify("run")
	found, err := s.open("run").Scenes.FollowUps(t.Context(), 100)
	if err != nil {
		t.Fatal(err)
	}
	told := ""
	for _, f := range slices.Backward(found) {
		told += map[storage.FollowUp]string{
			storage.FollowUpEdits: "E", storage.FollowUpNothing: "n",
			storage.FollowUpLeftOut: "-",
		}[f]
	}
	// Scenes 15, 25 and 35 are tried; 35 to 39 bring more; the last five of those asked in vain are 40 to 44.
	if want := "nnnnn---------n---------n---------EEEEEnnnnn------"; told != want {
		t.Errorf("the scenes tell\n%s, want\n%s", told, want)
	}
}

// TestScenesOfDice: scenes of dice, numbers and votes cost no request, and say why.
func TestScenesOfDice(t *testing.T) {
	t.Parallel()
	s := newTale(t, [][]string{
		{"The door creaked.", "rolled 3d6 = 14", "[x] Run\n\n12 votes", "1d20\nShe ran."},
		{"17"},
	}, 32_768, scripted.Options{Strict: true})
	if err := s.run("dice"); err != nil {
		t.Fatal(err)
	}
	s.verify("dice")
	if n := s.column("dice", `SELECT n FROM scene WHERE turn = 0 AND reason = 'nothing but dice,`+
		` numbers and votes' ORDER BY n`); !slices.Equal(n, []int{2, 3, 5}) {
		t.Errorf("the scenes %v were not asked about", n)
	}
	report, err := s.open("dice").Run.Report(t.Context())
	if want := []storage.ReasonCount{{Reason: "nothing but dice, numbers and votes", Count: 3}}; err != nil ||
		!slices.Equal(report.Unasked, want) {
		t.Errorf("the report has %v, %v", report.Unasked, err)
	}
}

// styleStage is a stage with a model of a style, whose findings it collects.
func styleStage(t *testing.T, style scripted.Style, scenes int) (*stage, map[string]bool) {
	t.Helper()
	terms := map[string]bool{}
	s := newStage(t, story{threads: 2, scenes: scenes},
		scripted.Options{Strict: true, Script: style.Annotate, OnRequest: func(r scripted.Request) {
			if last := r.Messages[len(r.Messages)-1].Content; strings.HasPrefix(last, "<scene ") {
				for _, term := range style.Terms(last) {
					terms[term] = true
				}
			}
		}})
	s.config.ContextBudget, s.config.MaxTokens, s.config.Curator.Off = 8_000, 1_000, true
	return s, terms
}

// TestKilledBetweenFollowUps kills a run of each style after its transitions, and lets another process go on.
func TestKilledBetweenFollowUps(t *testing.T) {
	t.Parallel()
	for name, test := range styles {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, _ := styleStage(t, test.style, 9)
			s.killThroughout(1, 3)
		})
	}
}

// TestBranchesKnowFollowUps: a branch goes on as the run did, also where follow-ups are left out.
func TestBranchesKnowFollowUps(t *testing.T) {
	t.Parallel()
	s, _ := styleStage(t, scripted.Style{}, 14)
	if err := s.run("calm"); err != nil {
		t.Fatal(err)
	}
	if n := s.count("calm", `SELECT count(*) FROM scene WHERE follow_up = 'left out'`); n < 10 {
		t.Fatalf("%d follow-ups were left out", n)
	}
	calm := dump(t, s.db("calm"))
	for _, at := range []int64{3, 9, 16, 25} {
		name := fmt.Sprintf("branch-%d", at)
		if err := storage.Branch(t.Context(), s.db("calm"), s.db(name), at); err != nil {
			t.Fatal(err)
		}
		s.verify(name)
		if err := s.run(name); err != nil {
			t.Fatal(err)
		}
		s.verify(name)
		if diff := cmp.Diff(calm, dump(t, s.db(name))); diff != "" {
			t.Errorf("%s differs from the undisturbed run (-calm +branch):\n%s", name, diff)
		}
	}
}
