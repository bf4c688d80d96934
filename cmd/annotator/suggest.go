package main

import "slices"

// nearest returns the name that a mistyped one was probably meant to be, or "": one in three letters may be wrong.
func nearest(typed string, names []string) string {
	best, least := "", len(typed)/3+1
	for _, name := range names {
		if d := distance(typed, name); d < least || d == least && best == "" {
			best, least = name, d
		}
	}
	return best
}

// distance counts the letters to insert, delete, replace or swap with their neighbour to turn one word into the other.
func distance(a, b string) int {
	var before []int
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		next := make([]int, len(b)+1)
		next[0] = i + 1
		for j := range len(b) {
			replaced := row[j]
			if a[i] != b[j] {
				replaced++
			}
			next[j+1] = slices.Min([]int{replaced, row[j+1] + 1, next[j] + 1})
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				next[j+1] = min(next[j+1], before[j-1]+1)
			}
		}
		before, row = row, next
	}
	return row[len(b)]
}
