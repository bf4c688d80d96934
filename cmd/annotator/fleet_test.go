package main

import (
	"bytes"
	"database/sql"
	"flag"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"annotator/internal/longstory"
	"annotator/internal/longtest"
	"annotator/internal/scripted"
	"annotator/internal/tables"
)

var writeTables = flag.Bool("tables", false, "measure several stories, and parts of one, in full; write the tables of "+
	"docs/performance.md")

// clientTime is what the program is taken to need before each request. It needs about three times that for a scene,
// which has as many requests.
const clientTime = 10 * time.Millisecond

// fleetServer is a paced server, and what its clients do. Time is that of a synctest bubble: only servers and waiting
// take any.
type fleetServer struct {
	*scripted.Server
	context int  // tokens that a story takes at most
	telling bool // of its room
	began   time.Time

	mu    sync.Mutex
	lines bytes.Buffer
	done  []reading // when each story was done
}

// reading is the time since the beginning, and how long slots were in use.
type reading struct{ took, busy time.Duration }

// inBubble runs a test in a synctest bubble. The signals that commands wait for are switched on outside of it.
func inBubble(t *testing.T, test func(*testing.T)) {
	t.Helper()
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, stopSignals()...)
	defer signal.Stop(signals)
	synctest.Test(t, test)
}

// newFleetServer returns a server that has room for as many stories as slots. Prefill is in tokens a second.
func newFleetServer(prefill, slots, context int, telling bool) *fleetServer {
	const block, share = 16, 0.85 // a server tells its cache in blocks, and stories take their share of it
	return &fleetServer{
		Server: scripted.New(scripted.Options{Strict: true, Pace: &scripted.Pace{
			Slots: slots, Prefill: float64(prefill), Decode: 40, Pool: int(float64(slots*context)/share) + block,
		}}),
		context: context, telling: telling, began: time.Now(),
	}
}

// RoundTrip answers a request.
func (s *fleetServer) RoundTrip(r *http.Request) (*http.Response, error) {
	answer := httptest.NewRecorder()
	if !s.telling && r.URL.Path == "/metrics" {
		answer.WriteHeader(http.StatusNotFound)
		return answer.Result(), nil
	}
	time.Sleep(clientTime)
	s.ServeHTTP(answer, r)
	return answer.Result(), nil
}

// Write reads the progress.
func (s *fleetServer) Write(text []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lines.Write(text)
	if strings.HasSuffix(string(text), ": done\n") {
		s.done = append(s.done, reading{time.Since(s.began), s.Busy()})
	}
	return len(text), nil
}

// run runs the program with the server.
func (s *fleetServer) run(t *testing.T, args ...string) {
	t.Helper()
	a := newApp()
	a.out, a.err, a.transport = &bytes.Buffer{}, s, s
	a.lookup = func(string) (string, bool) { return "", false }
	if status := a.run(t.Context(), append([]string{
		"run", "--endpoint", "http://scripted/v1", "--context-budget", fmt.Sprint(s.context),
	}, args...)); status != 0 {
		t.Fatalf("%v ends with %d: %s", args, status, &s.lines)
	}
	if broken := s.Violations(); len(broken) > 0 {
		t.Fatalf("%v broke the template: %v", args, broken[0])
	}
}

// TestSlotsAreBusy: with as many stories as a server has slots, nothing of it is idle. The table has other numbers of
// stories, and what happens without admission.
func TestSlotsAreBusy(t *testing.T) {
	const slots = 8
	type variant struct {
		stories int
		admits  bool
	}
	variants := []variant{{8, true}}
	if *writeTables {
		variants = []variant{
			{1, true}, {2, true}, {4, true}, {8, true}, {16, true}, {16, false}, {32, true}, {32, false},
		}
	}
	scenes := longtest.Pick(6, 14)
	if *writeTables {
		scenes = 14
	}
	var rows [][]string
	for _, v := range variants {
		folder := t.TempDir()
		args := []string{"--stories", fmt.Sprint(v.stories)}
		for i := range v.stories {
			path := filepath.Join(folder, fmt.Sprintf("story%d.corpus.db", i))
			first := 1 + i*longstory.Chapter
			if err := longstory.WritePart(t.Context(), path, first, scenes, longstory.Chapter); err != nil {
				t.Fatal(err)
			}
			args = append(args, path)
		}
		inBubble(t, func(t *testing.T) {
			s := newFleetServer(5_000, slots, 30_000, v.admits)
			s.run(t, args...)
			took, usage := time.Since(s.began), s.Usage()
			s.done = append(s.done, reading{took, s.Busy()})
			full := s.done[max(0, v.stories-slots)] // then there are fewer stories than slots
			busy := 100 * full.busy.Seconds() / (full.took.Seconds() * float64(min(slots, v.stories)))
			if v.stories == slots && busy < 97 {
				t.Errorf("slots are busy for %.1f %% of the time, not 97", busy)
			}
			rows = append(rows, []string{
				fmt.Sprint(v.stories), map[bool]string{true: "yes", false: "no"}[v.admits],
				tables.Count(int64(float64(v.stories*scenes) / took.Hours())), fmt.Sprintf("%.1f", busy),
				fmt.Sprintf("%.1f", 100*float64(usage.Cached)/float64(usage.Prompt)),
			})
		})
	}
	writeTable(t, "stories", []string{
		"stories", "admission", "scenes an hour", "slots busy, %", "of the prompts cached, %",
	}, rows)
}

func writeTable(t *testing.T, name string, head []string, rows [][]string) {
	t.Helper()
	text := tables.Markdown(head, rows)
	t.Log("\n" + text)
	if !*writeTables {
		return
	}
	if err := tables.Write("../../docs/performance.md", map[string]string{name: text}); err != nil {
		t.Error(err)
	}
}

// TestPartsAreFaster: a story is read in parts in a fraction of the time. The table has more parts, what they cost, and
// a server that reads prompts more slowly.
func TestPartsAreFaster(t *testing.T) {
	const fast, slow = 20_000, 5_000
	prefills, numbers, scenes, chapter := []int{fast}, []int{1, 4}, longtest.Pick(48, 96), 4
	if *writeTables {
		prefills, numbers, scenes, chapter = []int{fast, slow}, []int{1, 2, 4, 8, 16}, 1_000, 10
	}
	story := filepath.Join(t.TempDir(), "story.corpus.db")
	if err := longstory.WritePart(t.Context(), story, 1, scenes, chapter); err != nil {
		t.Fatal(err)
	}
	rows, took := make([][]string, len(prefills)*len(numbers)), make([]time.Duration, len(prefills)*len(numbers))
	t.Run("read", func(t *testing.T) {
		for i := range rows {
			prefill, parts := prefills[i/len(numbers)], numbers[i%len(numbers)]
			t.Run(fmt.Sprint(parts, " at ", prefill), func(t *testing.T) {
				t.Parallel()
				db := filepath.Join(t.TempDir(), "story.annotator.db")
				inBubble(t, func(t *testing.T) {
					s := newFleetServer(prefill, numbers[len(numbers)-1], 16_384, true)
					s.run(t, story, "--db", db, "--parts", fmt.Sprint(parts))
					took[i], rows[i] = time.Since(s.began), s.partsRow(t, parts, scenes, db)
				})
			})
		}
	})
	for i := range rows {
		prefill, parts := prefills[i/len(numbers)], numbers[i%len(numbers)]
		faster := took[i-i%len(numbers)].Seconds() / took[i].Seconds()
		if least := 0.75 * float64(parts); prefill == fast && parts <= 8 && faster < least {
			t.Errorf("%d parts are %.2f times as fast, not %.2f", parts, faster, least)
		}
		rows[i] = append([]string{
			tables.Count(int64(prefill)), fmt.Sprint(parts), fmt.Sprintf("%.1f", took[i].Minutes()),
			fmt.Sprintf("%.2f", faster),
		}, rows[i]...)
	}
	writeTable(t, "parts", []string{
		"prefill, tokens a second", "parts", "minutes", "times as fast", "minutes of the join", "calls of the parts",
		"calls of the join", "prompt tokens a scene", "of them not cached", "tokens of replies",
	}, rows)
}

// partsRow returns how long the join of a story in parts took, and what all has cost.
func (s *fleetServer) partsRow(t *testing.T, parts, scenes int, db string) (figures []string) {
	t.Helper()
	usage, calls, joins, minutes := s.Usage(), s.Calls(), 0, 0.0
	if parts > 1 {
		joins, minutes = joinOf(t, db)
	}
	figures = []string{fmt.Sprintf("%.1f", minutes)}
	for _, n := range []int{
		calls - joins, joins, usage.Prompt / scenes, (usage.Prompt - usage.Cached) / scenes, usage.Completion / scenes,
	} {
		figures = append(figures, tables.Count(int64(n)))
	}
	return figures
}

// joinOf returns the number of calls in the database of a join, and the minutes from its first step to its last row.
func joinOf(t *testing.T, path string) (calls int, minutes float64) {
	t.Helper()
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	if err := db.QueryRowContext(t.Context(), `SELECT (SELECT count(*) FROM call), (max(at) - min(at)) / 60000.0
		FROM trace WHERE id >= (SELECT min(id) FROM trace WHERE kind = 'join')`).Scan(&calls, &minutes); err != nil {
		t.Fatal(err)
	}
	return calls, minutes
}
