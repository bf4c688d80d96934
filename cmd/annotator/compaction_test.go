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
		c := Config{CompactionPreset: test.preset, Thresholds: map[string]*string{lowWater: &test.low}}
		got, err := c.readCompaction()
		if wrong := test.want == (compaction.Policy{}); wrong != errors.Is(err, annotator.Misused) || !wrong && got != test.want {
			t.Errorf("%s, %s: %+v, %v", test.preset, test.low, got, err)
		}
	}
}

// TestThresholds: each value of the policy has a flag of its own.
func TestThresholds(t *testing.T) {
	t.Parallel()
	values := map[string]*string{}
	for _, threshold := range thresholds() {
		_, isShare := threshold.field(new(compaction.Policy)).(*float64)
		values[threshold.flag] = new(map[bool]string{true: "0.25", false: "7"}[isShare])
	}
	values["compaction-high-water"] = new("0.5")
	want := compaction.Policy{
		High: 0.5, Low: 0.25, Emergency: 0.25, Chunks: 0.25,
		KeepTurns: 7, ChunkScenes: 7, KeepChunks: 7, KeepReplies: 7, KeepLong: 7, CutAt: 7,
	}
	c := Config{CompactionPreset: presetAuto, Thresholds: values}
	if got, err := c.readCompaction(); err != nil || got != want {
		t.Errorf("%+v, %v", got, err)
	}
	for flag, value := range map[string]string{
		"compaction-high-water": "1.5", "compaction-emergency": "NaN", "compaction-keep-scenes": "-1", "compaction-cut-length": "0",
		"compaction-chunk-scenes": "2.5",
	} {
		c.Thresholds = map[string]*string{flag: &value}
		if _, err := c.readCompaction(); !errors.Is(err, annotator.Misused) {
			t.Errorf("--%s %s: %v", flag, value, err)
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
