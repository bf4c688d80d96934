package ingest

import "slices"

// maxNumberGap is how many numbers may be missing in a count.
const maxNumberGap = 3

// What a step of a count is worth: to the next number, to a new beginning, over a gap, and a first number but 1.
const (
	worthOfNext  = 1.0
	worthOfAnew  = 0.4
	worthOfGap   = 0.5
	worthOfStart = 0.3
)

// inCount finds the numbers that make the best count, and reports for each whether it belongs. A stray number, an item
// of a list or a year, is in no order with the others.
func inCount(numbers []int) []bool {
	worth, before := make([]float64, len(numbers)), make([]int, len(numbers))
	last := map[int]int{} // the best of those with a number
	best := -1
	for i, n := range numbers {
		worth[i], before[i] = worthOfStart, -1
		if n == 1 {
			worth[i] = worthOfNext
			if best >= 0 {
				worth[i], before[i] = worth[best]+worthOfAnew, best
			}
		}
		for gap := range maxNumberGap + 1 {
			if j, ok := last[n-gap-1]; ok && worth[j]+step(gap, worth[j]) > worth[i] {
				worth[i], before[i] = worth[j]+step(gap, worth[j]), j
			}
		}
		if j, ok := last[n]; !ok || worth[i] >= worth[j] {
			last[n] = i
		}
		if best < 0 || worth[i] >= worth[best] {
			best = i
		}
	}
	belongs := make([]bool, len(numbers))
	if best >= 0 && worth[best] < worthOfNext {
		return belongs // a single number
	}
	for i := best; i >= 0; i = before[i] {
		belongs[i] = true
		if j := before[i]; j >= 0 && j == i-2 && numbers[i] == numbers[j]+2 {
			belongs[i-1] = true // one wrong numeral
		}
	}
	return belongs
}

// step is what a number is worth behind a count. A gap needs a count on one side.
func step(gap int, count float64) float64 {
	switch {
	case gap == 0:
		return worthOfNext
	case count < 2*worthOfNext:
		return -worthOfGap
	}
	return worthOfGap
}

// counted are the candidates that make a count from 1 on; nil if they are fewer than those that do not.
func counted(all []candidate) []candidate {
	numbers := make([]int, len(all))
	for i, c := range all {
		numbers[i] = c.head.number
	}
	belongs, i := inCount(numbers), -1
	named := func(c candidate) bool { return c.head.number == 0 } // a prologue
	kept := slices.DeleteFunc(slices.Clone(all), func(c candidate) bool { i++; return !belongs[i] && !named(c) })
	counts := slices.DeleteFunc(slices.Clone(kept), named)
	if n := len(counts); n*2 < len(all) || n == 0 || counts[0].head.number != 1 ||
		counts[n-1].head.number*3 > n*4 { // 1, 3, 5 are of a larger series
		return nil
	}
	return kept
}
