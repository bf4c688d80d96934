package main

import (
	"errors"
	"testing"

	"annotator"
	"annotator/context/compaction"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

func TestPolicy(t *testing.T) {
	t.Parallel()
	lower := compaction.ThreeMarks()
	lower.Low = 0.3
	for _, test := range []struct {
		preset string
		low    string
		want   compaction.Policy
	}{
		{"auto", "auto", compaction.Auto()},
		{"60-80-90", "auto", compaction.ThreeMarks()},
		{"60-80-90", "0.3", lower},
		{"60-80-90", "0.8", compaction.Policy{}},
		{"auto", "-0.1", compaction.Policy{}},
		{"auto", "1", compaction.Policy{}},
		{"auto", "NaN", compaction.Policy{}},
		{"auto", "low", compaction.Policy{}},
	} {
		c := Config{CompactionPreset: test.preset, LowWater: test.low}
		got, err := c.readCompaction()
		if wrong := test.want == (compaction.Policy{}); wrong != errors.Is(err, annotator.Misused) || !wrong && got != test.want {
			t.Errorf("%s, %s: %+v, %v", test.preset, test.low, got, err)
		}
	}
}

func FuzzContexts(f *testing.F) {
	for _, text := range []string{"", "a=1", "a=1, b=22 ,", "org/m=x=3", "=1", "a=", "a=-1", "a=99999999999999999999", ","} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		c := Config{ModelContext: text}
		takes, err := c.readContexts()
		if err != nil && annotator.KindOf(err) != annotator.Misused {
			t.Error(err)
		}
		for name, tokens := range takes {
			if name != "" && tokens <= 0 {
				t.Errorf("%q takes %d", name, tokens)
			}
		}
	})
}

func TestContexts(t *testing.T) {
	t.Parallel()
	c := Config{ModelContext: "a=1, org/m=x=3,"}
	got, err := c.readContexts()
	if diff := cmp.Diff(map[string]int{"a": 1, "org/m=x": 3}, got, cmpopts.EquateEmpty()); diff != "" || err != nil {
		t.Error(err, diff)
	}
}
