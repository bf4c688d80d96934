package main

import (
	"slices"
	"strconv"
	"strings"
	"testing"
)

func FuzzCitations(f *testing.F) {
	for _, text := range []string{
		"", "It was so [post 12].", "[post 12] and [Post 13], [posts 14, 15; 12]", "[post: 7]", "post 9", "[post x]", "[post 99999999999999999999]", "[post 1", "[[post 2]]",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		ids := citations(text)
		for i, id := range ids {
			if slices.Contains(ids[:i], id) || id < 0 {
				t.Errorf("%q names %v", text, ids)
			}
			if !strings.Contains(text, strings.TrimLeft(strconv.FormatInt(id, 10), "0")) {
				t.Errorf("%q names %d", text, id)
			}
		}
	})
}

func TestCitations(t *testing.T) {
	t.Parallel()
	got := citations("It was so [post 12], [Posts 14, 15; 12], [post #7], not post 9 or [post x].")
	if want := []int64{12, 14, 15, 7}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}
