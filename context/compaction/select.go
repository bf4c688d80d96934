package compaction

// Overflow tells what a selection had to leave out.
type Overflow struct {
	Dropped int // items
	Tokens  int // estimate of them
}

// Select returns the longest run of the newest items that fits a budget of tokens, and what that leaves out (nil if
// nothing). Items are whole turns, so that a call is never parted from its result. Where not even the newest fits, none is
// selected: what to do about that is the caller's to decide.
func Select[T any](items []T, budget int, estimate func(T) int) (selected []T, overflow *Overflow) {
	first := len(items)
	for first > 0 {
		tokens := estimate(items[first-1])
		if tokens > budget {
			break
		}
		budget -= tokens
		first--
	}
	if first == 0 {
		return items, nil
	}
	overflow = &Overflow{Dropped: first}
	for _, item := range items[:first] {
		overflow.Tokens += estimate(item)
	}
	return items[first:], overflow
}
