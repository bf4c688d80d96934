package runner_test

import (
	"fmt"
	"slices"
	"testing"

	"annotator/internal/scripted"

	"github.com/google/go-cmp/cmp"
)

// callsAtOnce returns the most calls in one message of any request from the n-th on.
func callsAtOnce(requests []scripted.Request, from int) (most int) {
	for _, r := range requests[min(from, len(requests)):] {
		for i := range r.Messages {
			most = max(most, len(r.Messages[i].ToolCalls))
		}
	}
	return most
}

// TestTemplateTakesOneCall: a template that refuses several calls in a message gets them in pairs. That is on record, so
// that a resumed run renders its messages as the undisturbed one.
func TestTemplateTakesOneCall(t *testing.T) {
	t.Parallel()
	family := scripted.Families()["Llama 3.1"]
	s := newStage(t, story{threads: 2, scenes: 3}, scripted.Options{Strict: true, Keep: true, Template: family})
	if err := s.run("calm"); err != nil {
		t.Fatal(err)
	}
	s.config.Limit = 1
	for n := range 6 {
		before := len(s.server.Requests())
		if err := s.run("halting"); err != nil {
			t.Fatal(err)
		}
		if most := callsAtOnce(s.server.Requests(), before); n > 0 && most > 1 {
			t.Errorf("process %d sends %d calls in one message", n, most)
		}
	}
	for _, name := range []string{"calm", "halting"} {
		s.verify(name)
		if got := fmt.Sprint(s.column(name, `SELECT id FROM snapshot_context WHERE workarounds = 'pair_calls'`)); got != "[2]" {
			t.Errorf("%s: pairs are on record as %s", name, got)
		}
		if n := s.count(name, `SELECT count(*) FROM call WHERE decision = 'adapt'`); n != 1 {
			t.Errorf("%s: the server had to say it %d times", name, n)
		}
	}
	if diff := cmp.Diff(s.entries("calm"), s.entries("halting")); diff != "" {
		t.Errorf("the resumed run has other entries (+) than the undisturbed one (-):\n%s", diff)
	}
	growAtTheirEnd(t, s.server.Requests())
}

// growAtTheirEnd checks that the requests for scenes begin with the messages of the one before, but where the form of
// messages has changed: once.
func growAtTheirEnd(t *testing.T, requests []scripted.Request) {
	t.Helper()
	changes := 0
	var before []string
	for _, r := range requests {
		var now []string
		for i := range r.Messages {
			now = append(now, string(r.Messages[i].Raw))
		}
		if len(now) < len(before) || !slices.Equal(now[:len(before)], before) {
			changes++
		}
		before = now
	}
	if changes != 3 { // pairs; the second database; pairs there
		t.Errorf("%d requests begin otherwise than the one before", changes)
	}
}

// entries returns the glossary of a database.
func (s *stage) entries(name string) []string {
	s.t.Helper()
	return slices.DeleteFunc(dump(s.t, s.db(name)), func(line string) bool { return len(line) < 9 || line[:9] != "glossary_" })
}
