package runner_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"annotator"
	"annotator/corpus"
	"annotator/internal/scripted"
)

// scripts are letters to make words of, and how many a word has.
var scripts = map[string]struct {
	letters string
	word    int
	space   string
}{
	"Latin":    {"etaoinshrdlucmfwyp", 5, " "},
	"Cyrillic": {"оеаинтсрвлкмдпуяыь", 6, " "},
	"CJK":      {"的一是不了人我在有他这为之大来以个中上们", 8, "，"},
}

// prose writes a number of characters in a script, the same for the same seed.
func prose(script string, characters int, seed uint64) string {
	s := scripts[script]
	letters := []rune(s.letters)
	random := rand.New(rand.NewPCG(seed, 1))
	var b strings.Builder
	for n, word := 0, 0; n < characters; n++ {
		b.WriteRune(letters[random.IntN(len(letters))])
		if word++; word >= s.word/2+random.IntN(s.word) {
			word = 0
			b.WriteString(s.space)
			if random.IntN(12) == 0 {
				b.WriteString("Mirel Ash. ")
			}
		}
	}
	return b.String()
}

// writeTale makes a corpus of threads, each a list of scenes, each of which is one post. A reader's post is between the
// scenes and, where wanted, after the last of each thread.
func writeTale(t testing.TB, path string, threads [][]string, readerEnds bool) {
	t.Helper()
	ctx := context.Background()
	w, err := corpus.Create(ctx, path)
	if err != nil {
		t.Fatal(err)
	}
	id := int64(100)
	post := func(thread int64, name, body string, tags ...string) {
		t.Helper()
		p := annotator.Post{Thread: thread, ID: id, Time: id, Name: name, Body: body, Tags: tags}
		if _, err := w.Post(ctx, &p, corpus.File{}, nil); err != nil {
			t.Fatal(err)
		}
		id++
	}
	for n, scenes := range threads {
		thread := id
		if err := w.Thread(ctx, thread, fmt.Sprintf("Chapter %d", n+1)); err != nil {
			t.Fatal(err)
		}
		for i, body := range scenes {
			post(thread, "Storyteller", body, annotator.TagStory)
			if readerEnds || i < len(scenes)-1 {
				post(thread, "Reader", "Go on.")
			}
		}
	}
	if err := w.Close(ctx); err != nil {
		t.Fatal(err)
	}
}

// newTale is a stage for such a corpus. Its server refuses what the strictest template would, and any prompt beyond the
// context that the run is configured with.
func newTale(t testing.TB, threads [][]string, budget int, options scripted.Options) *stage {
	t.Helper()
	s := &stage{t: t, dir: t.TempDir(), config: defaults()}
	s.corpus = filepath.Join(s.dir, "story.corpus.db")
	writeTale(t, s.corpus, threads, true)
	s.config.ContextBudget, s.config.Retry.Base = budget, time.Millisecond
	options.Strict, options.MaxModelLen = true, budget
	s.serve(options)
	return s
}

// lawful demands that no request was refused for its length or by the template.
func (s *stage) lawful(name string) {
	s.t.Helper()
	s.verify(name)
	s.noViolations()
	if n := s.count(name, `SELECT count(*) FROM call WHERE outcome = 'prompt too long'`); n > 0 {
		s.t.Errorf("%d requests passed the limit", n)
	}
}

// TestTokensAreKnownBeforehand tests that, after ten calls, the estimate of each next prompt is within 3 % of what the
// server then reports. This also holds where a compaction has just changed the window.
func TestTokensAreKnownBeforehand(t *testing.T) {
	t.Parallel()
	for script := range scripts {
		t.Run(script, func(t *testing.T) {
			t.Parallel()
			var scenes []string
			for n := range 40 {
				scenes = append(scenes, prose(script, 1_500+137*(n%7), uint64(n)))
			}
			s := newTale(t, [][]string{scenes[:17], scenes[17:]}, 16_000, scripted.Options{})
			s.config.MaxTokens = 1_500
			if err := s.run("told"); err != nil {
				t.Fatal(err)
			}
			s.lawful("told")
			if n := s.count("told", `SELECT count(*) FROM compaction WHERE tier IN ('1', '2')`); n < 3 {
				t.Fatalf("%d compactions", n)
			}
			for _, purpose := range []string{"annotate", "summarise"} {
				worst := s.count("told", `SELECT max(abs(estimate - prompt_tokens) * 10000 / prompt_tokens)
					FROM call WHERE outcome = 'ok' AND id > 10 AND purpose = '`+purpose+`'`)
				t.Logf("%s: at worst %.2f %%", purpose, float64(worst)/100)
				if worst > 300 {
					t.Errorf("%s: an estimate is %.2f %% off", purpose, float64(worst)/100)
				}
			}
		})
	}
}

// TestServerCountsTheSceneThatDecides tests that a server with a tokenizer is asked once at the start, and then about
// the few scenes that may fill the window. A server without one is asked once.
func TestServerCountsTheSceneThatDecides(t *testing.T) {
	t.Parallel()
	for _, has := range []bool{true, false} {
		s := newTale(t, [][]string{evenScenes(24)}, 16_000, scripted.Options{Script: summarised})
		s.config.MaxTokens = 1_000
		asked := 0
		front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path != "/tokenize" {
				s.server.ServeHTTP(w, r)
				return
			}
			asked++
			if has {
				s.server.ServeHTTP(w, r)
			} else {
				http.NotFound(w, r)
			}
		}))
		t.Cleanup(front.Close)
		s.base = front.URL + "/v1"
		if err := s.run("counted"); err != nil {
			t.Fatal(err)
		}
		s.lawful("counted")
		compactions := s.count("counted", `SELECT count(*) FROM compaction`)
		if has && (asked <= compactions || asked > 4*compactions) || !has && asked != 1 {
			t.Errorf("has a tokenizer: %v; asked %d times, %d compactions", has, asked, compactions)
		}
	}
}

// TestContextOfTheModel: the budget is never more than the model takes, by what the server says or by what the user
// knows.
func TestContextOfTheModel(t *testing.T) {
	t.Parallel()
	for name, known := range map[string]map[string]int{"server": nil, "user": {"scripted": 9_000, "another": 1_000}} {
		largest := 0
		s := newTale(t, [][]string{evenScenes(12)}, 12_000,
			scripted.Options{Script: summarised, OnRequest: func(r scripted.Request) {
				largest = max(largest, r.Tokens+r.MaxTokens)
			}})
		s.config.ContextBudget, s.config.MaxContext, s.config.MaxTokens = 100_000, known, 1_000
		if err := s.run(name); err != nil {
			t.Fatal(err)
		}
		s.lawful(name)
		if most := map[string]int{"server": 12_000, "user": 9_000}[name]; largest > most || largest < most*8/10 {
			t.Errorf("as the %s knows, %d tokens fit; the largest request had %d", name, most, largest)
		}
	}
}

// TestSettingsOfTheModel tests that margin, high water and token ratio of the model in use replace the general ones.
// Those of another model do not.
func TestSettingsOfTheModel(t *testing.T) {
	t.Parallel()
	type run struct{ largest, before, first int }
	read := func(name, model string) run {
		largest := 0
		s := newTale(t, [][]string{evenScenes(14)}, 12_000,
			scripted.Options{Script: summarised, OnRequest: func(r scripted.Request) {
				largest = max(largest, r.Tokens+r.MaxTokens)
			}})
		s.config.MaxTokens = 1_000
		switch name {
		case "margin":
			s.config.Margins = map[string]int{model: 3_000}
		case "high":
			s.config.HighWater = map[string]float64{model: 0.7}
		case "ratio":
			s.config.TokenRatio = map[string]float64{model: 2}
		}
		if err := s.run("set"); err != nil {
			t.Fatal(err)
		}
		s.lawful("set")
		return run{
			largest, s.count("set", `SELECT max(tokens_before) FROM compaction`),
			s.count("set", `SELECT estimate FROM call WHERE purpose = 'annotate' ORDER BY id LIMIT 1`),
		}
	}
	plain := read("plain", "scripted")
	for _, name := range []string{"margin", "high", "ratio"} {
		if other := read(name, "another"); other != plain {
			t.Errorf("the %s of another model: %+v, not %+v", name, other, plain)
		}
	}
	if got := read("margin", "scripted"); got.largest > plain.largest-2_000 {
		t.Errorf("with a margin of 3000 tokens the largest request has %d, without %d", got.largest, plain.largest)
	}
	if got := read("high", "scripted"); got.before > plain.before*9/10 {
		t.Errorf("compaction begins at %d tokens with a high water of 0.7, at %d without", got.before, plain.before)
	}
	if got := read("ratio", "scripted"); got.first < plain.first*19/10 || got.first > plain.first*21/10 {
		t.Errorf("the first prompt is estimated at %d tokens with a ratio of 2, at %d without", got.first, plain.first)
	}
}

// TestVerifyKnowsAllWords: a story with letters of many scripts, old forms and new ones, is sound.
func TestVerifyKnowsAllWords(t *testing.T) {
	t.Parallel()
	s := newTale(t, [][]string{{
		"The ſhip and the ship were one. Don't x-ray the Ängstrom, ΛΌΓΟΣ λόγος λόγοσ, Straße STRASSE ẞ, Ǆ ǅ ǆ, " +
			"İstanbul ıstanbul.",
		"角の港 한글 ไทย देवनागरी עברית العربية \U0001E900\U0001E922 \uA7B6\uA7B7 \u1C80 \U0001F600 a\u0301 µ μ \u212A " +
			"k. Ash’s lamp.",
	}, {"Ash met the ship again. 角."}}, 30_000, scripted.Options{Script: summarised})
	if err := s.run("words"); err != nil {
		t.Fatal(err)
	}
	s.lawful("words")
	s.verify("words")
}
