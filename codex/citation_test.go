package codex_test

import (
	"slices"
	"strconv"
	"strings"
	"testing"

	"annotator/codex"
)

func TestCitations(t *testing.T) {
	t.Parallel()
	const answer = "It was so [post 12], [Posts 14, 15; 12], [post #7], not post 9 or [post x]."
	var posts []int64
	var texts []string
	for _, c := range codex.Citations(answer) {
		posts, texts = append(posts, c.Posts...), append(texts, answer[c.Start:c.End])
	}
	if want := []int64{12, 14, 15, 12, 7}; !slices.Equal(posts, want) {
		t.Errorf("got %v, want %v", posts, want)
	}
	if want := []string{"[post 12]", "[Posts 14, 15; 12]", "[post #7]"}; !slices.Equal(texts, want) {
		t.Errorf("got %q, want %q", texts, want)
	}
}

func FuzzCitations(f *testing.F) {
	for _, text := range []string{
		"", "It was so [post 12].", "[post 12] and [Post 13], [posts 14, 15; 12]", "[post: 7]", "post 9", "[post x]",
		"[post 99999999999999999999]", "[post 1", "[[post 2]]",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		last := 0
		for _, c := range codex.Citations(text) {
			if c.Start < last || c.End <= c.Start || c.End > len(text) {
				t.Fatalf("%q has a citation from %d to %d after %d", text, c.Start, c.End, last)
			}
			last = c.End
			for _, id := range c.Posts {
				if id < 0 || !strings.Contains(text[c.Start:c.End], strconv.FormatInt(id, 10)) {
					t.Errorf("%q names %d", text[c.Start:c.End], id)
				}
			}
		}
	})
}
