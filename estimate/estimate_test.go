package estimate

import (
	"math"
	"reflect"
	"testing"

	"annotator"
	"annotator/context/compaction"
)

var plain = Rates{Prefix: 1000, Server: 1, Growth: 1.5, Calls: 1, Out: 0.5, Cached: 1}

// TestWithoutCompaction: as long as all fits, each prompt has all scenes before it, and all but the newest is cached.
func TestWithoutCompaction(t *testing.T) {
	t.Parallel()
	scenes := []Scene{{1, 100}, {1, 200}, {1, 300}}
	got := Of(scenes, plain, Settings{Policy: compaction.Auto(), Prompt: 100_000, NoSummaries: true})
	out := 50 + 100*newIn(1) + 150*newIn(2)
	want := Figures{Calls: 3, Prompt: 1100 + 1350 + 1750, Cached: 0 + 1100 + 1350, Out: out}
	if got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

// TestWindowIsBounded: however long the story is, no prompt of a scene exceeds the budget, and the cost of a scene does
// not grow.
func TestWindowIsBounded(t *testing.T) {
	t.Parallel()
	s := Settings{Policy: compaction.Auto(), Prompt: 10_000, SummaryTokens: 200, Batch: 16}
	for _, policy := range []compaction.Policy{compaction.Auto(), compaction.ThreeMarks()} {
		s.Policy = policy
		mean := func(n int) float64 {
			scenes := make([]Scene, n)
			for i := range scenes {
				scenes[i] = Scene{int64(i / 7), 400}
			}
			f := Of(scenes, plain, s)
			if f.Cached > f.Prompt || f.Prompt/f.Calls > 10_000 {
				t.Errorf("%d scenes: %+v", n, f)
			}
			return f.Prompt / float64(n)
		}
		if short, long := mean(500), mean(5000); math.Abs(short/long-1) > 0.1 {
			t.Errorf("a scene costs %.0f tokens in a short story, %.0f in a long one", short, long)
		}
	}
}

// TestRates: the rates are those of the calls.
func TestRates(t *testing.T) {
	t.Parallel()
	call := func(scene, prompt, cached, out int) annotator.Call {
		return annotator.Call{
			Scene: scene, Purpose: annotator.PurposeAnnotate, Estimate: prompt,
			Usage: annotator.Usage{Prompt: prompt, Cached: cached, Completion: round(float64(out) * newIn(scene-1))},
		}
	}
	const many = 50_000_000 // so that rounding does not count
	p := Probe{
		Scenes: []Scene{{1, 100}, {1, 100}, {1, 100}}, Entries: 4,
		Calls: []annotator.Call{
			call(1, 1100, 0, many), call(2, 1250, 1100, many), call(3, 1400, 1250, many),
			{
				Scene: 3, Purpose: annotator.PurposeCurate, Estimate: 1800,
				Usage: annotator.Usage{Prompt: 1800, Cached: 1400, Completion: 40},
			},
		},
	}
	got := p.Rates()
	got.Entries, got.Out = 0, math.Round(got.Out)
	want := plain
	want.Question, want.Answer, want.Out = 100, 10, many/100
	if got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
	whole := func(r Rates) Figures { return Figures{Out: 100 * r.Out} }
	if r := Spread(&p, whole); r.High.Out-r.Low.Out > r.Out/1_000_000 {
		t.Errorf("probes that are alike have the range %+v to %+v", r.Low, r.High)
	}
	p.Calls[1].Usage.Completion = 2 * many
	if r := Spread(&p, whole); !(r.Low.Out < r.Out && r.Out < r.High.Out) {
		t.Errorf("probes that differ have the range %+v to %+v", r.Low, r.High)
	}
}

// TestParts: parts are cut at chapters and have all scenes.
func TestParts(t *testing.T) {
	t.Parallel()
	scenes := []Scene{{1, 10}, {1, 10}, {2, 20}, {3, 40}}
	if got, want := Parts(scenes, 2), [][]Scene{scenes[:3], scenes[3:]}; !reflect.DeepEqual(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	if got := Parts(scenes, 9); len(got) != 3 {
		t.Errorf("three chapters have %d parts", len(got))
	}
}
