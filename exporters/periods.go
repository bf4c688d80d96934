package exporters

import (
	"slices"
	"strconv"
	"strings"
)

// bounds are when something is in force: from the end of the first scene, until that of the second, from that of the
// third, and so on.
type bounds []int

// set says that something is in force from the end of a scene, or is not. Scenes rise from call to call.
func (b *bounds) set(scene int, inForce bool) {
	if (len(*b)%2 == 1) != inForce {
		*b = append(*b, scene)
	}
}

// in reports whether it is in force at the end of a scene.
func (b bounds) in(scene int) bool {
	n, found := slices.BinarySearch(b, scene)
	if found {
		n++
	}
	return n%2 == 1
}

// String returns the scenes, separated by spaces.
func (b bounds) String() string {
	return strings.Join(each(b, strconv.Itoa), " ")
}

// timed is a value with when it is in force.
type timed[T any] struct {
	Value T
	In    bounds
}

// timeline holds the values of something over the story, each once.
type timeline[T comparable] []*timed[T]

// set says which values are in force from the end of a scene.
func (l *timeline[T]) set(scene int, values ...T) {
	for _, v := range *l {
		v.In.set(scene, slices.Contains(values, v.Value))
	}
	for _, value := range values {
		if !slices.ContainsFunc(*l, func(v *timed[T]) bool { return v.Value == value }) {
			*l = append(*l, &timed[T]{value, bounds{scene}})
		}
	}
}
