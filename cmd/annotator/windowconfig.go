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

// policy is how the window is compacted; annotator.Misused where the settings say something else than there is.
func (c *Config) policy() (compaction.Policy, error) {
	var p compaction.Policy
	switch c.Compaction {
	case presetAuto:
		p = compaction.Auto()
	case presetMarks:
		p = compaction.Seed()
	default:
		return p, outOfRange("compaction", presetAuto+" or "+presetMarks, c.Compaction)
	}
	if c.LowWater == 0 {
		return p, nil
	}
	if p.Low = c.LowWater; math.IsNaN(p.Low) || p.Low < 0 || p.Low >= p.High {
		return p, outOfRange("low-water", "0 to less than "+strconv.FormatFloat(p.High, 'g', -1, 64), c.LowWater)
	}
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
