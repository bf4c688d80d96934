package runner_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"annotator"
	"annotator/context/compaction"
	"annotator/context/window"
	"annotator/internal/longtest"
	"annotator/internal/scripted"
	"annotator/model/openai"
	"annotator/storage"

	"github.com/google/go-cmp/cmp"
)

// asksSummary reports whether a request asks for a summary.
func asksSummary(r scripted.Request) bool {
	return strings.HasPrefix(r.Messages[len(r.Messages)-1].Content, "Set the scenes aside")
}

// summarised answers questions for summaries with what is asked for, and all else as Annotate does.
func summarised(r scripted.Request) scripted.Reply {
	if !asksSummary(r) {
		return scripted.Annotate(r)
	}
	return scripted.Reply{Text: summaryOf(r)}
}

// summaryOf writes each element that is asked for, and the prompt's length by which the answer is known again.
func summaryOf(r scripted.Request) string {
	question := r.Messages[len(r.Messages)-1].Content
	text := scripted.Recap(question)
	if text != "" {
		return text
	}
	for _, element := range []string{"cumulative", "chunk"} {
		if strings.Contains(question, "<"+element+">") {
			text += fmt.Sprintf("<%[1]s>This is the %[1]s at %[2]d tokens. Ash went on.</%[1]s>\n", element, r.Tokens)
		}
	}
	return text
}

// recording keeps the bodies of all requests.
type recording struct {
	mu     sync.Mutex
	bodies [][]byte
}

func (rec *recording) take(r scripted.Request) {
	rec.mu.Lock()
	defer rec.mu.Unlock()
	rec.bodies = append(rec.bodies, bytes.Clone(r.Body))
}

// folds demands that the window folded from what the journal held before each reply is what was sent for it, byte for
// byte.
func (rec *recording) folds(t *testing.T, s *stage, name string) {
	t.Helper()
	ctx := context.Background()
	db := s.open(name)
	run, err := db.Run.Status(ctx)
	if err != nil {
		t.Fatal(err)
	}
	encode := new(openai.Client).Encode
	system, err := encode([]annotator.Message{{Role: annotator.RoleSystem, Content: run.Prompt.SystemPrompt}})
	if err != nil {
		t.Fatal(err)
	}
	sent := map[string]bool{}
	for _, body := range rec.bodies {
		sent[string(messages(t, body))] = true
	}
	calls := 0
	for _, reply := range s.column(name, `SELECT trace_id FROM call WHERE outcome = 'ok' AND purpose = 'annotate' `+
		`ORDER BY id`) {
		window := rebuild(t, db, encode, int64(reply)-1)
		if !sent[`"messages":[`+string(system)+","+string(window)] {
			t.Fatalf("the window before row %d was never sent", reply)
		}
		calls++
	}
	if calls == 0 {
		t.Fatal("no calls")
	}
}

// rebuild folds the journal up to a row.
func rebuild(t *testing.T, db *storage.DB, encode func([]annotator.Message) ([]byte, error), through int64) []byte {
	t.Helper()
	ctx := context.Background()
	fold, _, err := db.Episodes.WindowState(ctx, through)
	if err != nil {
		t.Fatal(err)
	}
	rows, err := db.Journal.Window(ctx, through)
	if err != nil {
		t.Fatal(err)
	}
	w, err := window.NewHistory(encode, fold, rows)
	if err != nil {
		t.Fatal(err)
	}
	history, err := w.Encoded()
	if err != nil {
		t.Fatal(err)
	}
	return history
}

// column reads numbers from the named database.
func (s *stage) column(name, query string) []int {
	s.t.Helper()
	n := s.count(name, `SELECT count(*) FROM (`+query+`)`)
	values := make([]int, n)
	for i := range values {
		values[i] = s.count(name, fmt.Sprintf(`%s LIMIT 1 OFFSET %d`, query, i))
	}
	return values
}

// whim is a model that does anything that a model may do, the same for the same request.
type whim struct {
	seed uint64
	bad  bool // its summaries are often of no use
}

func (w whim) answer(r scripted.Request) scripted.Reply {
	sum := fnv.New64a() // what was said before is a piece of the prompt, so that no two scenes may have the same reply
	_, _ = sum.Write([]byte(r.Messages[len(r.Messages)-1].Content))
	random := rand.New(rand.NewPCG(w.seed+uint64(r.Tokens), sum.Sum64()))
	if asksSummary(r) {
		return w.summary(r, random)
	}
	if !r.MayCall() || random.IntN(3) == 0 {
		return scripted.Reply{Text: w.text(random), Reasoning: strings.Repeat("Hm. ", random.IntN(200))}
	}
	reply := scripted.Reply{Text: strings.Repeat("<thinking>So be it.</thinking>", random.IntN(2))}
	for n := range 1 + random.IntN(4) {
		reply.ToolCalls = append(reply.ToolCalls, w.call(r, random, n))
	}
	return reply
}

func (w whim) text(random *rand.Rand) string {
	text := strings.Repeat("<analysis>This and that.</analysis>", random.IntN(3)) +
		prose("Latin", 12*(1+random.IntN(150)), random.Uint64())
	return text + []string{"", "<codex_updates>[]</codex_updates>"}[random.IntN(2)]
}

func (w whim) call(r scripted.Request, random *rand.Rand, n int) annotator.ToolCall {
	switch random.IntN(4) {
	case 0:
		return annotator.ToolCall{Name: "glossary_search", Arguments: fmt.Sprintf(`{"query":"Ash %d.%d"}`, r.Tokens, n)}
	case 1:
		return annotator.ToolCall{
			Name:      "read_post",
			Arguments: fmt.Sprintf(`{"post_id":%d,"include_adjacent":true}`, 100+random.IntN(1+r.Tokens/200)),
		}
	case 2:
		return annotator.ToolCall{
			Name:      "glossary_create",
			Arguments: fmt.Sprintf(`{"term":"no object %d.%d`, r.Tokens, n),
		}
	}
	return annotator.ToolCall{Name: "glossary_create", Arguments: fmt.Sprintf(
		`{"term":"Thing %d.%d","definition":"%s","tags":["object"],"done":%v}`, r.Tokens, n,
		strings.Repeat("It is a thing. ", 1+random.IntN(20)), random.IntN(2) == 0)}
}

func (w whim) summary(r scripted.Request, random *rand.Rand) scripted.Reply {
	if !w.bad {
		return scripted.Reply{Text: summaryOf(r)}
	}
	return scripted.Reply{Text: []string{
		"", summaryOf(r), strings.Repeat("字", 3_000), "<thinking>",
		"- - -",
	}[random.IntN(5)]}
}

// TestAnyStory reads generated stories with models of every behaviour in small windows under every policy. No request
// passes the limit or breaks the template. All scenes are read, or refused for their length. Each window is equal to
// the one computed from the journal.
func TestAnyStory(t *testing.T) {
	t.Parallel()
	seeds := longtest.Pick(4, 24)
	for seed := range uint64(seeds) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			anyStory(t, seed)
		})
	}
}

func anyStory(t *testing.T, seed uint64) {
	t.Helper()
	random := rand.New(rand.NewPCG(seed, 7))
	var threads [][]string
	total := 0
	for range 1 + random.IntN(4) {
		var scenes []string
		for range 1 + random.IntN(14) {
			script := []string{"Latin", "Cyrillic", "CJK"}[random.IntN(3)]
			scenes = append(scenes, prose(script, 50+random.IntN(3_000), random.Uint64()))
		}
		threads = append(threads, scenes)
		total += len(scenes)
	}
	rec := &recording{}
	model := whim{seed, seed%3 == 0}
	filtering := seed%4 > 1 // some scenes are refused at first, and read late
	s := newTale(t, threads, 7_000+random.IntN(9_000), scripted.Options{
		Script: model.answer, OnRequest: rec.take, Fault: func(_ int, r scripted.Request) *scripted.Fault {
			if !filtering || asksSummary(r) || r.Tokens%3 > 0 {
				return nil
			}
			return &scripted.Fault{Status: 400, Body: `{"error":{"code":"content_filter","message":"not nice"}}`}
		},
	})
	s.config.MaxTokens, s.config.ToolRounds = 700+random.IntN(600), 3
	s.config.Compaction = []compaction.Policy{
		compaction.Auto(), compaction.ThreeMarks(), marked(0.15),
		marked(0.45),
	}[random.IntN(4)]
	s.config.Curator.Off = seed%2 == 0
	if filtering {
		s.config.Limit = 1 + total/2
		s.pushOn("any")
		s.config.Limit, filtering = 0, false
		s.putBack("any")
	}
	s.pushOn("any")
	s.lawful("any")
	rec.folds(t, s, "any")
	if run := s.state("any"); run.Recorded+run.Quarantined != total {
		t.Errorf("%d scenes recorded and %d refused of %d", run.Recorded, run.Quarantined, total)
	}
	refused, err := s.open("any").Scenes.Quarantined(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	for _, scene := range refused {
		if !strings.HasPrefix(scene.Reason, "too long") {
			t.Errorf("scene %d is refused: %s", scene.N, scene.Reason)
		}
	}
}

// pushOn runs again where too many scenes in a row are too long.
func (s *stage) pushOn(name string) {
	s.t.Helper()
	err := s.run(name)
	for errors.Is(err, annotator.Halted) {
		err = s.run(name)
	}
	silent := errors.Is(err, annotator.NoCalls) // as such a model may be through a short story
	if err != nil && !silent && !errors.Is(err, annotator.Quarantined) {
		s.t.Fatal(err)
	}
}

// marked is the policy of this program with another low mark.
func marked(low float64) compaction.Policy {
	p := compaction.Auto()
	p.Low = low
	return p
}

// TestCompactionRests tests that a run that is stopped and resumed at every scene compacts when and how an
// uninterrupted one does. So a window that fits is left unchanged.
func TestCompactionRests(t *testing.T) {
	t.Parallel()
	for name, policy := range map[string]compaction.Policy{"auto": compaction.Auto(), "seed": compaction.ThreeMarks()} {
		s := newTale(t, [][]string{evenScenes(4), evenScenes(10)}, 9_000, scripted.Options{Script: summarised})
		s.config.Compaction, s.config.MaxTokens = policy, 1_000
		if err := s.run("calm"); err != nil {
			t.Fatal(err)
		}
		s.config.Limit = 1
		for range 14 {
			if err := s.run("halting"); err != nil {
				t.Fatal(err)
			}
		}
		s.lawful("halting")
		const query = `SELECT trace_id * 100000 + tokens_after FROM compaction ORDER BY trace_id`
		calm, halting := s.column("calm", query), s.column("halting", query)
		if diff := cmp.Diff(calm, halting); diff != "" || len(calm) == 0 {
			t.Errorf("%s: %d compactions (-calm +halting):\n%s", name, len(calm), diff)
		}
	}
}

// evenScenes are scenes of about 500 tokens.
func evenScenes(n int) []string {
	var scenes []string
	for i := range n {
		scenes = append(scenes, prose("Latin", 2_000, uint64(i)))
	}
	return scenes
}

// TestLongRun reads hundreds of scenes in two windows. No request passes the limit, and what precedes the turns stays
// small.
func TestLongRun(t *testing.T) {
	t.Parallel()
	scenes := longtest.Pick(60, 300)
	for _, window := range []int{8_192, 32_768} {
		t.Run(fmt.Sprint(window), func(t *testing.T) {
			t.Parallel()
			var threads [][]string
			for chunk := range slices.Chunk(evenScenes(scenes), 60) {
				threads = append(threads, chunk)
			}
			s := newTale(t, threads, window, scripted.Options{Script: summarised})
			s.config.MaxTokens, s.config.Curator.Off = 1_000, true
			if err := s.run("long"); err != nil {
				t.Fatal(err)
			}
			s.lawful("long")
			if run := s.state("long"); run.Recorded != scenes {
				t.Errorf("recorded %d of %d", run.Recorded, scenes)
			}
			if n := s.count("long", `SELECT count(*) FROM compaction WHERE tier = '5'`); n > 0 {
				t.Errorf("%d summaries by rule", n)
			}
			if n := s.count("long", `SELECT max(length(content)) FROM trace WHERE kind = 'compaction'`); n > window {
				t.Errorf("a memory of %d characters", n)
			}
		})
	}
}
