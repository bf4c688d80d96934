package main

import (
	"errors"
	"strings"
	"testing"

	"annotator"
	"annotator/context/compaction"
	"annotator/runner"

	"github.com/google/go-cmp/cmp"
)

func TestCompactionSettings(t *testing.T) {
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
		if wrong := test.want == (compaction.Policy{}); wrong != errors.Is(err, annotator.Misused) || !wrong &&
			got != test.want {
			t.Errorf("%s, %s: %+v, %v", test.preset, test.low, got, err)
		}
	}
}

// TestThresholds: each flag sets one value of the policy.
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
		"compaction-high-water": "1.5", "compaction-emergency": "NaN", "compaction-keep-scenes": "-1",
		"compaction-cut-length":   "0",
		"compaction-chunk-scenes": "2.5",
	} {
		c.Thresholds = map[string]*string{flag: &value}
		if _, err := c.readCompaction(); !errors.Is(err, annotator.Misused) {
			t.Errorf("--%s %s: %v", flag, value, err)
		}
	}
}

// FuzzModels: any setting by model is a usage error or within its bounds.
func FuzzModels(f *testing.F) {
	for _, text := range []string{
		"", "a=1", "a=1, b=22 ,", "org/m=x=3", "=1", "a=", "a=-1", "a=99999999999999999999",
		",", "a=0.5", "a=NaN", "a=1e-9",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, c := range []Config{
			{ModelContext: text},
			{ModelMargin: text},
			{ModelHighWater: text},
			{ModelTokenRatio: text},
		} {
			if err := c.readModels(); err != nil {
				if annotator.KindOf(err) != annotator.Misused {
					t.Error(err)
				}
				continue
			}
			for name := range c.MaxContext {
				if name != "" && c.MaxContext[name] <= 0 {
					t.Errorf("%q takes %d", name, c.MaxContext[name])
				}
			}
			for name := range c.Margins {
				if c.Margins[name] < 0 {
					t.Errorf("%q has the margin %d", name, c.Margins[name])
				}
			}
			for name, share := range c.HighWater {
				if !(share > 0 && share <= 1) {
					t.Errorf("%q has the high water %g", name, share)
				}
			}
			for name, ratio := range c.TokenRatio {
				if !(ratio >= 0.25 && ratio <= 4) {
					t.Errorf("%q has the ratio %g", name, ratio)
				}
			}
		}
	})
}

func TestSettingsByModel(t *testing.T) {
	t.Parallel()
	c := Config{
		ModelContext: "a=1, org/m=x=3,", ModelMargin: "a=0", ModelHighWater: "org/m=x=0.75",
		ModelTokenRatio: "a=1.5,b=0.5",
	}
	err := c.readModels()
	got := []any{c.MaxContext, c.Margins, c.HighWater, c.TokenRatio}
	want := []any{
		map[string]int{"a": 1, "org/m=x": 3},
		map[string]int{"a": 0},
		map[string]float64{"org/m=x": 0.75},
		map[string]float64{"a": 1.5, "b": 0.5},
	}
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Error(err, diff)
	}
	for flag, c := range map[string]Config{
		"model-context": {ModelContext: "a=0"}, "model-margin": {ModelMargin: "a=-1"},
		"model-high-water":  {ModelHighWater: "a=1.1"},
		"model-token-ratio": {ModelTokenRatio: "a=5"},
		"above 0.6":         {ModelHighWater: "a=0.6", Config: runner.Config{Compaction: compaction.ThreeMarks()}},
	} {
		if err := c.readModels(); !errors.Is(err, annotator.Misused) || !strings.Contains(err.Error(), flag) {
			t.Errorf("%s: %v", flag, err)
		}
	}
}
