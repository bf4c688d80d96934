package faults_test

import (
	"cmp"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"annotator"
	"annotator/internal/longtest"
	"annotator/policy"
	"annotator/runner"
	"annotator/runner/notify"

	gocmp "github.com/google/go-cmp/cmp"
)

// row is a row of the catalogue of faults: the fault, and the expected behaviour.
type row struct {
	n        int    // in the catalogue
	fault    string // in words
	action   action
	ends     ends
	only     mode   // if it occurs in one mode only
	chat     bool   // it occurs on the wire of chat completions only
	governed bool   // it occurs only if a policy of intents is enforced
	says     string // in the text of the error or the reason, if the run does not end well
	forms    []form
}

// action is the response of the program to a fault.
type action string

const (
	retry       action = "retry"        // the same request, a limited number of times, with increasing pauses
	wait        action = "wait"         // the same request, without charging the scene
	shrink      action = "shrink"       // a smaller prompt
	shrinkReply action = "shrink reply" // fewer tokens for the reply
	reask       action = "re-ask"       // the model receives an error message
	adapt       action = "adapt"        // the request is written otherwise
	refuse      action = "quarantine"
	halt        action = "halt"
	accept      action = "accept"          // it is no fault
	note        action = "accept and note" // it has no effect, and is recorded in the journal
	prevent     action = "prevent"         // no request can cause the fault
)

// ends are the results of a run if a fault occurs once, three times, and permanently: R recorded, Q quarantined, H
// halted. One letter applies to the first, a middle and the last call; three letters are one for each.
type ends [3]string

// of returns the result of a run.
func (e *ends) of(times, place int) byte {
	if letters := e[times]; len(letters) == 3 {
		return letters[place]
	}
	return e[times][0]
}

// mode is the form in which replies are requested.
type mode string

const (
	streamed mode = "streamed"
	whole    mode = "whole"
)

var (
	places    = [3]string{"first", "middle", "last"}
	strikings = [3]string{"once", "three times", "for ever"}
)

// Limits of the cost of a run on a server, and of its waits.
const (
	mostRequests = 200
	// three questions, each of four calls that wait 15 minutes for their first token
	longestRun = 3*time.Hour + 5*time.Minute
)

// cell is one cell of the matrix.
type cell struct {
	row   *row
	form  form
	wire  *wire
	times int // index of strikings
	place int // index of places
	mode  mode
}

func (c *cell) String() string {
	return fmt.Sprintf("%s, %s, %s, %s", places[c.place], strikings[c.times], c.mode, c.wire.name)
}

const (
	middle  = 1 // index of places
	once    = 0 // indices of strikings
	forEver = 2
)

// cells returns the cells of a row, a list for each form. The first form has every place and every number of times. The
// mode changes from one to the next, so that each place and each number occurs in both. Other forms have those of the
// middle call in one mode. If the fault occurs on other wires, it is applied there to the middle call, once and
// permanently.
func (r *row) cells() (all [][]*cell) {
	chat, usual := wires()[0], cmp.Or(r.only, streamed)
	for i, form := range r.forms {
		var those []*cell
		for times := range strikings {
			for place := range places {
				for _, mode := range []mode{streamed, whole} {
					if mode == r.modeOf(times, place) && i == 0 || i > 0 && place == middle && mode == usual {
						those = append(those, &cell{r, form, chat, times, place, mode})
					}
				}
			}
		}
		all = append(all, those)
	}
	if r.chat {
		return all
	}
	var others []*cell
	for _, wire := range wires()[1:] {
		for _, times := range []int{once, forEver} {
			others = append(others, &cell{r, r.forms[0], wire, times, middle, usual})
		}
	}
	return append(all, others)
}

// modeOf returns the mode of a cell of the first form. Rows with an odd number have the other half of the cells.
func (r *row) modeOf(times, place int) mode {
	if r.only != "" {
		return r.only
	}
	return []mode{streamed, whole}[(r.n+times+place)%2]
}

// trouble is the modification of a working server for a cell.
func (c *cell) trouble(calls int) *trouble {
	return &trouble{
		form: c.form, aim: showsScene, place: [3]int{1, calls*2/3 + 1, calls}[c.place],
		times: [3]int{1, 3, mostRequests}[c.times],
	}
}

// catalogueRows returns all rows, in the order of their numbers.
func catalogueRows() (all []row) {
	for _, rows := range [][]row{httpRows(), streamRows(), callRows(), contentRows()} {
		all = append(all, rows...)
	}
	slices.SortStableFunc(all, func(a, b row) int { return cmp.Compare(a.n, b.n) })
	return all
}

// TestCatalogue applies each fault of the catalogue in each of its forms. It occurs at the first, a middle and the last
// call of a story, once, three times and permanently, streamed or not. Every run ends with all scenes recorded, or
// some quarantined with a reason, or halted. Then it continues with a working server. In the end nothing is lost and
// nothing is duplicated.
func TestCatalogue(t *testing.T) {
	t.Parallel()
	b := newBench(t, plain())
	rows := catalogueRows()
	tried, step := 0, longtest.Pick(sampleStep, 1)
	for i := range rows {
		row := &rows[i]
		for j, cells := range row.cells() {
			cells = slices.DeleteFunc(cells, func(*cell) bool { tried++; return tried%step != 0 })
			if len(cells) == 0 {
				continue
			}
			t.Run(fmt.Sprintf("%d %s %d", row.n, row.fault, j+1), func(t *testing.T) {
				t.Parallel()
				for _, c := range cells {
					t.Run(c.String(), func(t *testing.T) { b.try(t, c) })
				}
			})
		}
	}
}

// sampleStep is the distance between the cells of a run without the long tests.
const sampleStep = 41

// bench is the environment of cells: a story, the result of an undisturbed run, and network addresses without a model.
type bench struct {
	corpus string
	config runner.Config
	ways   ways
	calls  int      // that an undisturbed run makes
	rows   []string // of its journal and its scenes
	codex  []string // that it leaves
}

func newBench(t *testing.T, config runner.Config) *bench {
	t.Helper()
	dir := t.TempDir()
	b := &bench{corpus: filepath.Join(dir, "story.corpus.db"), ways: openWays(t), config: config}
	writeStory(t, b.corpus)
	db := filepath.Join(dir, "calm.db")
	synctest.Test(t, func(t *testing.T) {
		s := b.session(t, db, wires()[0], streamed)
		if err := s.run(calm()); err != nil {
			t.Fatal(err)
		}
		b.calls, b.rows, b.codex = s.transport.asked, s.journal(), s.codex()
	})
	return b
}

func (b *bench) session(t *testing.T, db string, w *wire, m mode) *session {
	s := &session{t: t, ways: b.ways, program: program{
		corpus: b.corpus, db: db, wire: w, server: "http://model.test", config: b.config, watcher: &notify.Bus{},
	}}
	s.config.Stream = m == streamed
	return s
}

// reasonOf returns the reason of an error that selects its advice.
func reasonOf(err error) (reason annotator.Reason) {
	if e := (*annotator.Error)(nil); errors.As(err, &e) {
		reason = e.Reason
	}
	return reason
}

// try runs the story with the cell's trouble, and then without.
func (b *bench) try(t *testing.T, c *cell) {
	db := filepath.Join(t.TempDir(), "story.db")
	synctest.Test(t, func(t *testing.T) {
		s := b.session(t, db, c.wire, c.mode)
		if c.row.governed {
			s.config.Governance = policy.Enforce
		}
		begin := time.Now()
		err := s.run(c.trouble(b.calls))
		if took := time.Since(begin); took > longestRun {
			t.Errorf("the run took %s", took)
		}
		got := s.check(err)
		if want := c.row.ends.of(c.times, c.place); got != want {
			t.Errorf("ended %c, want %c: %v\n%s", got, want, err, s.calls())
		}
		if got != 'R' && !strings.Contains(fmt.Sprint(err, reasonOf(err), s.reasons()), c.row.says) {
			t.Errorf("nothing says %q: %v\n%s", c.row.says, err, s.reasons())
		}
		s.finishSound(got)
		b.compare(c, s)
	})
}

// compare compares a run, all of whose scenes are recorded in the end, with the undisturbed one. It compares the codex,
// and also the journal unless the fault leaves a trace in it.
func (b *bench) compare(c *cell, s *session) {
	s.t.Helper()
	if diff := gocmp.Diff(b.codex, s.codex()); diff != "" {
		s.t.Errorf("the codex is not that of the undisturbed run (-calm +this):\n%s", diff)
	}
	switch c.row.action {
	case retry, wait, accept, halt, adapt: // if a refusal names the context, turns leave the window earlier
		if late := s.lines(`SELECT scene FROM refusal`); len(late) > 0 {
			return // quarantined scenes were read later
		}
		rows := s.journal()
		if c.row.action == adapt {
			rows = slices.DeleteFunc(rows, isWorkaround)
		}
		if diff := gocmp.Diff(b.rows, rows); diff != "" {
			s.t.Errorf("the journal is not that of the undisturbed run (-calm +this):\n%s", diff)
		}
	}
}

// isWorkaround reports whether a row activates workarounds, which an undisturbed run does not have.
func isWorkaround(row string) bool {
	return strings.Contains(row, " | prompt | ") && !strings.HasPrefix(row, "0 | 1 |")
}
