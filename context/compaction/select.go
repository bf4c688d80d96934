package compaction

// Select returns the longest run of the newest items that fits a budget of tokens: none if not even the newest does.
// Items are whole turns, so that a call is never parted from its result.
func Select[T any](items []T, budget int, estimate func(T) int) []T {
	first := len(items)
	for first > 0 {
		if budget -= estimate(items[first-1]); budget < 0 {
			break
		}
		first--
	}
	return items[first:]
}
