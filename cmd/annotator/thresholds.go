package main

import (
	"strconv"

	"annotator/context/compaction"

	"github.com/spf13/pflag"
)

// threshold is a value of the compaction policy that a flag sets: a share (*float64) or a count (*int).
type threshold struct {
	flag, usage string
	field       func(*compaction.Policy) any
	least       int // of a count
}

// The thresholds, in the order of their flags.
func thresholds() []threshold {
	type policy = compaction.Policy
	return []threshold{
		{
			"compaction-high-water", "`SHARE` of the window at which compaction begins, 0 to 1",
			func(p *policy) any { return &p.High }, 0,
		},
		{
			lowWater, "`SHARE` of the window that compaction leaves filled, 0 to 1",
			func(p *policy) any { return &p.Low },
			0,
		},
		{
			"compaction-emergency", "`SHARE` of the window above which old replies are stripped and cut, 0 to 1",
			func(p *policy) any { return &p.Emergency }, 0,
		},
		{
			"compaction-summaries",
			"`SHARE` of the window that chunk summaries may take before they join the story so far, 0 to 1",
			func(p *policy) any { return &p.Chunks }, 0,
		},
		{
			"compaction-keep-scenes", "newest `SCENES` that stay verbatim, if they leave half of the space free",
			func(p *policy) any { return &p.KeepTurns }, 0,
		},
		{
			"compaction-chunk-scenes", "`SCENES` of a whole chunk; 0: as many as leave at a time",
			func(p *policy) any { return &p.ChunkScenes }, 0,
		},
		{
			"compaction-keep-chunks", "newest whole `CHUNKS` that stay verbatim",
			func(p *policy) any { return &p.KeepChunks }, 0,
		},
		{
			"compaction-strip-age", "newest `SCENES` whose replies keep their reasoning",
			func(p *policy) any { return &p.KeepReplies }, 0,
		},
		{
			"compaction-cut-age", "newest `SCENES` whose replies are not cut",
			func(p *policy) any { return &p.KeepLong },
			0,
		},
		{"compaction-cut-length", "`CHARACTERS` that a cut reply keeps", func(p *policy) any { return &p.CutAt }, 1},
	}
}

// fromPreset is the value of a threshold that the preset sets. The flag lowWater must be below compaction-high-water.
const (
	fromPreset = "auto"
	lowWater   = "compaction-low-water"
)

// thresholdFlags declares the thresholds, and returns their values.
func thresholdFlags(s *pflag.FlagSet) map[string]*string {
	values := map[string]*string{}
	for _, t := range thresholds() {
		values[t.flag] = s.String(t.flag, fromPreset, t.usage+"; auto: the preset's")
	}
	return values
}

// readThresholds sets the values of a policy that flags set. Its errors are annotator.Misused.
func readThresholds(p *compaction.Policy, values map[string]*string) error {
	for _, t := range thresholds() {
		if value := values[t.flag]; value != nil && *value != fromPreset {
			if err := t.read(p, *value); err != nil {
				return err
			}
		}
	}
	if low := values[lowWater]; !(p.Low < p.High) && low != nil {
		return invalidSetting(lowWater, "auto, or 0 to less than "+strconv.FormatFloat(p.High, 'g', -1, 64), *low)
	}
	return nil
}

func (t *threshold) read(p *compaction.Policy, value string) error {
	switch field := t.field(p).(type) {
	case *int:
		n, err := strconv.Atoi(value)
		if err != nil || n < t.least {
			return invalidSetting(t.flag, "auto, or a whole number of at least "+strconv.Itoa(t.least), value)
		}
		*field = n
	case *float64:
		share, err := strconv.ParseFloat(value, 64)
		if err != nil || !(share >= 0 && share <= 1) { // which NaN is not, either
			return invalidSetting(t.flag, "auto, or a number from 0 to 1", value)
		}
		*field = share
	}
	return nil
}
