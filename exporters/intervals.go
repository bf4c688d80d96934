package exporters

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// intervals are scenes at whose ends something begins to be in force and ceases to be, in turn.
type intervals []int

// set sets whether something is in force from the end of a scene on. Scenes must ascend from call to call.
func (b *intervals) set(scene int, inForce bool) {
	if (len(*b)%2 == 1) != inForce {
		*b = append(*b, scene)
	}
}

// in reports whether something is in force at the end of a scene.
func (b intervals) in(scene int) bool {
	n, found := slices.BinarySearch(b, scene)
	if found {
		n++
	}
	return n%2 == 1
}

// String returns the scenes, separated by spaces.
func (b intervals) String() string {
	return strings.Join(each(b, strconv.Itoa), " ")
}

// timed is a value with the intervals in which it is in force.
type timed[T any] struct {
	Value T
	In    intervals
}

// timeline holds the values of a field over the story, each once.
type timeline[T comparable] []*timed[T]

// set sets the values that are in force from the end of a scene on.
func (l *timeline[T]) set(scene int, values ...T) {
	for _, v := range *l {
		v.In.set(scene, slices.Contains(values, v.Value))
	}
	for _, value := range values {
		if !slices.ContainsFunc(*l, func(v *timed[T]) bool { return v.Value == value }) {
			*l = append(*l, &timed[T]{value, intervals{scene}})
		}
	}
}

// ranks are the ranks that something gets at the ends of scenes, from 1; 0: none from then on.
type ranks []struct{ Scene, Rank int }

// set sets the rank from the end of a scene on. Scenes must ascend from call to call.
func (r *ranks) set(scene, rank int) {
	if r.at(scene) != rank {
		*r = append(*r, struct{ Scene, Rank int }{scene, rank})
	}
}

// at returns the rank at the end of a scene.
func (r ranks) at(scene int) (rank int) {
	for _, set := range r {
		if set.Scene <= scene {
			rank = set.Rank
		}
	}
	return rank
}

// String returns the scenes and ranks, separated by spaces.
func (r ranks) String() string {
	return strings.Join(each(r, func(set struct{ Scene, Rank int }) string {
		return fmt.Sprintf("%d %d", set.Scene, set.Rank)
	}), " ")
}
