package main

import (
	"fmt"
	"strings"

	"annotator/internal/tables"
)

// aim renders a figure, and whether it meets its aim.
func aim(figure, most float64, format string) string {
	verdict := "met"
	if figure > most {
		verdict = "missed"
	}
	return fmt.Sprintf(format+" (%s)", figure, verdict)
}

// tierOrder is the order in which tiers are listed.
const tierOrder = "0.5 1 2 3 4 5"

func costTable(costs []*cost) string {
	var rows [][]string
	for _, c := range costs {
		scenes := float64(c.scenes)
		var tiers []string
		for tier := range strings.FieldsSeq(tierOrder) {
			if n := c.tiers[tier]; n > 0 {
				tiers = append(tiers, fmt.Sprintf("%s: %d", tier, n))
			}
		}
		rows = append(rows, []string{
			tables.Count(int64(c.budget)), c.name, fmt.Sprintf("%.0f", float64(c.prompt)/scenes),
			fmt.Sprintf("%.0f", float64(c.uncached)/scenes),
			fmt.Sprintf("%.2f", float64(c.uncached)/float64(c.floor)),
			fmt.Sprintf("%.2f", float64(c.calls+c.summaries)/scenes),
			strings.Join(tiers, ", "), fmt.Sprintf("%.1f %%", 100-100*float64(c.again)/float64(max(c.asked, 1))),
			fmt.Sprint(c.refused),
		})
	}
	return tables.Markdown([]string{
		"window", "policy", "prompt tokens a scene", "uncached a scene", "uncached / floor", "calls a scene",
		"compactions by tier",
		"summaries' prompts cached", "scenes refused",
	}, rows)
}
