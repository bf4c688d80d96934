package runner_test

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"annotator/internal/scripted"
)

var (
	postsAbove  = regexp.MustCompile(`<above posts="([\d,]+)"/>`)
	postsNeeded = regexp.MustCompile(`<candidate first_post="(\d+)"|<quote post="(\d+)"`)
)

// TestQuestionsShowEachPostOnce tests that a post of a candidate is in the question, or in the window before it, where
// the question says so.
func TestQuestionsShowEachPostOnce(t *testing.T) {
	t.Parallel()
	for _, budget := range []int{9_000, 16_000, 65_536} {
		above, within := 0, 0
		s := newStage(t, story{threads: 3, scenes: 8, words: 300},
			scripted.Options{Strict: true, OnRequest: func(r scripted.Request) {
				if shownTo(r) == nil {
					return
				}
				question := r.Messages[len(r.Messages)-1].Content
				posts := question[strings.Index(question, "\n<posts>"):]
				var before strings.Builder
				for _, m := range r.Messages[:len(r.Messages)-1] {
					before.WriteString(m.Content)
				}
				var named []string
				if match := postsAbove.FindStringSubmatch(posts); match != nil {
					named = strings.Split(match[1], ",")
				}
				for _, match := range postsNeeded.FindAllStringSubmatch(posts, -1) {
					id := match[1] + match[2]
					tag := fmt.Sprintf("<post id=%q", id)
					inWindow, inQuestion := strings.Contains(before.String(), tag), strings.Contains(posts, tag)
					if slices.Contains(named, id) != inWindow || inQuestion == inWindow {
						t.Errorf("budget %d: post %s stands in the window: %v, in the question: %v, and is named as "+
							"one above: %v",
							budget, id, inWindow, inQuestion, slices.Contains(named, id))
					}
					if inWindow {
						above++
					} else {
						within++
					}
				}
			}})
		s.config.ContextBudget, s.config.MaxTokens = budget, 1_000
		if err := s.run("posts"); err != nil {
			t.Fatal(err)
		}
		s.verify("posts")
		if budget == 65_536 && above == 0 || budget == 9_000 && within == 0 {
			t.Errorf("budget %d: %d posts stand above, %d in the question", budget, above, within)
		}
	}
}
