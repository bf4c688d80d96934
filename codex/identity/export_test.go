package identity

import "slices"

// All returns the names of each group as they were added, sorted.
func (g *Groups) All() [][]string {
	var all [][]string
	seen := map[*group]bool{}
	for _, m := range g.members {
		if !seen[m.group] {
			seen[m.group] = true
			all = append(all, m.group.names())
		}
	}
	slices.SortFunc(all, slices.Compare[[]string])
	return all
}
