package tokens_test

import (
	"math"
	"testing"
	"unicode/utf8"

	"annotator/context/tokens"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestEstimateOfThreeScripts(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]int{
		"": 0, "a": 1, "four": 1, "fourt": 2, "слово": 3, "一的是不": 4,
		"a слово 一": 5,
	} {
		if got := tokens.Estimate(text); got != want {
			t.Errorf("%q is estimated at %d tokens, want %d", text, got, want)
		}
	}
}

// TestSizeIsTheSumOfItsParts: the size of a text is the sum of its parts'.
func TestSizeIsTheSumOfItsParts(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		a, b := rapid.String().Draw(t, "a"), rapid.String().Draw(t, "b")
		whole := tokens.Measure(a + b)
		if diff := cmp.Diff(whole, tokens.Measure(a).Plus(tokens.Measure(b))); diff != "" {
			t.Fatal(diff)
		}
		if diff := cmp.Diff(tokens.Measure(b), whole.Minus(tokens.Measure(a))); diff != "" {
			t.Fatal(diff)
		}
		if n := whole[tokens.ASCII] + whole[tokens.Letters] + whole[tokens.Wide]; n != utf8.RuneCountInString(a+b) {
			t.Fatalf("%d characters of %d", n, utf8.RuneCountInString(a+b))
		}
	})
}

// sizes draws the sizes of prompts: a fixed part in ASCII, and scenes of any mixture, of which the first has none.
func sizes(t *rapid.T, n int) []tokens.Size {
	kinds := rapid.SliceOfN(rapid.IntRange(0, 3_000), 3, 3).Draw(t, "a scene")
	kinds[rapid.IntRange(0, 2).Draw(t, "kind")] += 1_000
	all := make([]tokens.Size, n)
	for i := range all {
		scenes := rapid.IntRange(min(i, 1), 12*min(i, 1)).Draw(t, "scenes")
		all[i] = tokens.Size{12_000 + scenes*kinds[0], scenes * kinds[1], scenes * kinds[2], 4 + 8*scenes}
	}
	return all
}

// TestTenReportsAreEnough: for any plausible rates of the kinds of characters, the eleventh prompt is estimated within
// 3 %.
func TestTenReportsAreEnough(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		rate := [4]float64{1, 1, 1, 1}
		for kind := range rate {
			rate[kind] = []float64{0.25, 0.5, 1, 1}[kind] * rapid.Float64Range(0.6, 1.7).Draw(t, "rate")
		}
		count := func(s tokens.Size) int {
			total := 0.0
			for kind := range s {
				total += rate[kind] * float64(s[kind])
			}
			return int(math.Round(total))
		}
		var counter tokens.Counter
		prompts := sizes(t, 11)
		for _, s := range prompts[:10] {
			counter.Observe(s, count(s))
		}
		got, want := counter.Count(prompts[10]), count(prompts[10])
		if off := math.Abs(float64(got-want)) / float64(want); off > 0.03 {
			t.Fatalf("estimated %d, reported %d: %.1f %% off", got, want, 100*off)
		}
	})
}

// TestOnlyTheNewestReportsCount: a counter that was given the newest reports only estimates as one that was given all.
func TestOnlyTheNewestReportsCount(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		observations := rapid.SliceOfN(rapid.Custom(drawReport), 1, 3*tokens.MaxObservations).Draw(t, "observations")
		var long, short tokens.Counter
		for _, o := range observations {
			long.Observe(o.size, o.tokens)
		}
		for _, o := range observations[max(0, len(observations)-tokens.MaxObservations):] {
			short.Observe(o.size, o.tokens)
		}
		s := rapid.Custom(drawReport).Draw(t, "size").size
		if long.Count(s) != short.Count(s) {
			t.Fatalf("%d and %d", long.Count(s), short.Count(s))
		}
	})
}

// report is a prompt that a server has counted.
type report struct {
	size   tokens.Size
	tokens int
}

// drawReport draws any plausible report.
func drawReport(t *rapid.T) report {
	var o report
	for kind := range o.size {
		o.size[kind] = rapid.IntRange(0, 50_000).Draw(t, "characters")
	}
	o.size[tokens.Frame]++
	estimate := o.size.Tokens()
	o.tokens = rapid.IntRange(max(1, estimate/2), 2*estimate).Draw(t, "reported")
	return o
}

// TestReportsOutOfRange are ignored: a server that cut the prompt did not count the rest.
func TestReportsOutOfRange(t *testing.T) {
	t.Parallel()
	var counter tokens.Counter
	size := tokens.Size{40_000, 0, 0, 4}
	for _, reported := range []int{0, -1, 1, 1_000, 100_000} {
		counter.Observe(size, reported)
		if got := counter.Count(size); got != 10_004 {
			t.Errorf("after a report of %d: %d", reported, got)
		}
	}
}

// TestEstimatesStayInRange: no reports make an estimate negative or absurd.
func TestEstimatesStayInRange(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var counter tokens.Counter
		for _, o := range rapid.SliceOfN(rapid.Custom(drawReport), 0, 40).Draw(t, "observations") {
			counter.Observe(o.size, o.tokens)
		}
		s := rapid.Custom(drawReport).Draw(t, "size").size
		if got, plain := counter.Count(s), s.Tokens(); got < plain/4-1 || got > 4*plain+4 {
			t.Fatalf("%v: %d, before any report %d", s, got, plain)
		}
	})
}
