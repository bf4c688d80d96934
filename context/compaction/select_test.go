package compaction_test

import (
	"slices"
	"testing"

	"annotator/context/compaction"

	"pgregory.net/rapid"
)

func TestSelectTakesTheLongestEnd(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		items := rapid.SliceOfN(rapid.IntRange(0, 20), 0, 12).Draw(t, "items")
		budget := rapid.IntRange(-5, 100).Draw(t, "budget")
		selected := compaction.Select(items, budget, func(tokens int) int { return tokens })
		dropped := items[:len(items)-len(selected)]
		if !slices.Equal(items[len(dropped):], selected) {
			t.Fatalf("of %v, %v is no end", items, selected)
		}
		if len(selected) > 0 && sum(selected) > budget {
			t.Fatalf("%v is more than %d", selected, budget)
		}
		if len(dropped) == 0 {
			return
		}
		if longer := items[len(dropped)-1:]; sum(longer) <= budget {
			t.Fatalf("%v fits %d too", longer, budget)
		}
	})
}

func sum(items []int) int {
	total := 0
	for _, n := range items {
		total += n
	}
	return total
}
