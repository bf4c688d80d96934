package main

import (
	"math"
	"strconv"
	"strings"

	"annotator"
	"annotator/context/compaction"
)

// The presets of compaction.
const (
	presetAuto  = "auto"
	presetMarks = "60-80-90"
)

// lowAuto leaves the low mark to the preset.
const lowAuto = "auto"

// policy is how the window is compacted; annotator.Misused where the settings say something else than there is.
func (c *Config) policy() (compaction.Policy, error) {
	var p compaction.Policy
	switch c.Compaction {
	case presetAuto:
		p = compaction.Auto()
	case presetMarks:
		p = compaction.Seed()
	default:
		return p, outOfRange("compaction-preset", presetAuto+" or "+presetMarks, c.Compaction)
	}
	if c.LowWater == lowAuto {
		return p, nil
	}
	low, err := strconv.ParseFloat(c.LowWater, 64)
	if err != nil || math.IsNaN(low) || low < 0 || low >= p.High {
		return p, outOfRange("compaction-low-water", "auto, or 0 to less than "+strconv.FormatFloat(p.High, 'g', -1, 64), c.LowWater)
	}
	p.Low = low
	return p, nil
}

// contexts reads what models take, as MODEL=TOKENS with commas between them; annotator.Misused where it is something else.
func (c *Config) contexts() (map[string]int, error) {
	takes := map[string]int{}
	for pair := range strings.SplitSeq(c.ModelContext, ",") {
		if strings.TrimSpace(pair) == "" {
			continue
		}
		at := strings.LastIndexByte(pair, '=')
		tokens, err := strconv.Atoi(strings.TrimSpace(pair[at+1:]))
		if at <= 0 || err != nil || tokens <= 0 {
			return nil, annotator.Errorf(annotator.Misused, "--model-context takes MODEL=TOKENS, not %q", pair).
				WithAdvice("as in: --model-context qwen3-32b=40960,small=8192")
		}
		takes[strings.TrimSpace(pair[:at])] = tokens
	}
	return takes, nil
}
