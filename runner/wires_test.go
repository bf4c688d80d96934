package runner_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"annotator/internal/scripted"
	"annotator/model"
	"annotator/model/anthropic"
	"annotator/model/endpoint"
	"annotator/model/gemini"
	"annotator/model/openai"
	"annotator/model/responses"

	"github.com/google/go-cmp/cmp"
)

// wire is one of those that the server speaks.
type wire struct {
	name string
	model.Wire
}

func (s *stage) wires() []wire {
	s.t.Helper()
	return []wire{
		{"chat", dial(s.t, openai.New, s.base)},
		{"responses", dial(s.t, responses.New, s.base)},
		{"anthropic", dial(s.t, anthropic.New, s.base)},
		{"gemini", dial(s.t, gemini.New, strings.TrimSuffix(s.base, "/v1")+"/v1beta")},
	}
}

func dial[W interface{ Close() }](t testing.TB, open func(endpoint.Options) (W, error), base string) W {
	t.Helper()
	w, err := open(endpoint.Options{BaseURL: base})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(w.Close)
	return w
}

// over walks the story over a wire.
func (s *stage) over(w wire, name string) {
	s.t.Helper()
	r, end, err := prepare(s.job(name), &s.bus, nil)
	if err != nil {
		s.t.Fatal(err)
	}
	defer end()
	r.Client.Wire = w
	if err := r.Run(context.Background()); err != nil {
		s.t.Fatalf("%s: %v", name, err)
	}
}

// TestStoryIsTheSameOnEveryWire tests that the record does not depend on the wire, and that a run may change its wire
// whenever it is resumed.
func TestStoryIsTheSameOnEveryWire(t *testing.T) {
	t.Parallel()
	s := newStage(t, story{threads: 2, scenes: 4}, scripted.Options{Strict: true})
	s.config.Model = "scripted"
	wires := s.wires()
	for _, w := range wires {
		s.over(w, w.name)
	}
	s.config.Limit = 1
	for n := range 8 {
		s.over(wires[n%len(wires)], "each")
	}
	s.noViolations()
	want := s.told("chat")
	for _, name := range []string{"responses", "anthropic", "gemini", "each"} {
		s.verify(name)
		if diff := cmp.Diff(want, s.told(name)); diff != "" {
			t.Errorf("over %s (+) it is another story than over chat completions (-):\n%s", name, diff)
		}
	}
}

// told is what a run has recorded, except for what the server says of its cost. Over a wire whose arguments are an
// object, they are not quite the text that the model wrote.
func (s *stage) told(name string) []string {
	s.t.Helper()
	return slices.DeleteFunc(dump(s.t, s.db(name)), func(line string) bool {
		return strings.HasPrefix(line, "call ") || strings.HasPrefix(line, "snapshot ") ||
			strings.HasPrefix(line, "run_state ")
	})
}
