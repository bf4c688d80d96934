package main

import (
	"strconv"

	"annotator/context/compaction"

	"github.com/spf13/pflag"
)

// threshold is a value of the compaction policy that a flag sets. It has a share or a count.
type threshold struct {
	flag, usage string
	share       func(*compaction.Policy) *float64
	count       func(*compaction.Policy) *int
	least       int // of a count
}

// The thresholds, in the order of their flags.
func thresholds() []threshold {
	return []threshold{
		{
			flag: "compaction-high-water", usage: "`SHARE` of the window at which compaction begins, 0 to 1",
			share: func(p *compaction.Policy) *float64 { return &p.High },
		},
		{
			flag: lowWater, usage: "`SHARE` of the window that compaction leaves filled, 0 to 1",
			share: func(p *compaction.Policy) *float64 { return &p.Low },
		},
		{
			flag: "compaction-emergency", usage: "`SHARE` of the window above which old replies are stripped and cut, 0 to 1",
			share: func(p *compaction.Policy) *float64 { return &p.Emergency },
		},
		{
			flag: "compaction-summaries", usage: "`SHARE` of the window that chunk summaries may take before they join the story so far, 0 to 1",
			share: func(p *compaction.Policy) *float64 { return &p.Chunks },
		},
		{
			flag: "compaction-keep-scenes", usage: "newest `SCENES` that stay verbatim, if they leave half of the space free",
			count: func(p *compaction.Policy) *int { return &p.KeepTurns },
		},
		{
			flag: "compaction-chunk-scenes", usage: "`SCENES` of a whole chunk; 0: as many as leave at a time",
			count: func(p *compaction.Policy) *int { return &p.ChunkScenes },
		},
		{
			flag: "compaction-keep-chunks", usage: "newest whole `CHUNKS` that stay verbatim",
			count: func(p *compaction.Policy) *int { return &p.KeepChunks },
		},
		{
			flag: "compaction-strip-age", usage: "newest `SCENES` whose replies keep their reasoning",
			count: func(p *compaction.Policy) *int { return &p.KeepReplies },
		},
		{
			flag: "compaction-cut-age", usage: "newest `SCENES` whose replies are not cut",
			count: func(p *compaction.Policy) *int { return &p.KeepLong },
		},
		{
			flag: "compaction-cut-length", usage: "`CHARACTERS` that a cut reply keeps", least: 1,
			count: func(p *compaction.Policy) *int { return &p.CutAt },
		},
	}
}

// fromPreset is the value of a threshold that leaves it to the preset, and lowWater the flag that must be below another.
const (
	fromPreset = "auto"
	lowWater   = "compaction-low-water"
)

// thresholdFlags declares the thresholds, and returns where their values are.
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
	if t.share == nil {
		n, err := strconv.Atoi(value)
		if err != nil || n < t.least {
			return invalidSetting(t.flag, "auto, or a whole number of at least "+strconv.Itoa(t.least), value)
		}
		*t.count(p) = n
		return nil
	}
	share, err := strconv.ParseFloat(value, 64)
	if err != nil || !(share >= 0 && share <= 1) { // which NaN is not, either
		return invalidSetting(t.flag, "auto, or a number from 0 to 1", value)
	}
	*t.share(p) = share
	return nil
}
