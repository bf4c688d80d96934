package runner_test

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"annotator"
	"annotator/internal/scripted"
)

var shownPost = regexp.MustCompile(`<post id="(\d+)"`)

// TestTheCuratorSeesWhatStandsAroundAQuote tests an entry whose quotations are all in one post. The curator sees three
// posts of the story before it and three after it, across the borders of scenes and threads. It sees none of a scene
// that the run has not read.
func TestTheCuratorSeesWhatStandsAroundAQuote(t *testing.T) {
	t.Parallel()
	const threads, scenes = 3, 4
	var mu sync.Mutex
	var questions []string
	s := newStage(t, story{threads: threads, scenes: scenes}, scripted.Options{
		Strict: true, Script: judging, OnRequest: func(r scripted.Request) {
			mu.Lock()
			defer mu.Unlock()
			if shownTo(r) != nil {
				questions = append(questions, r.Messages[len(r.Messages)-1].Content)
			}
		},
		Fault: func(_ int, r scripted.Request) *scripted.Fault { // the sixth scene is refused, and so not read
			if last := r.Messages[len(r.Messages)-1].Content; strings.Contains(last, `<scene number="6"`) {
				return &scripted.Fault{Status: 400, Body: `{"error":{"message":"content_filter: it is refused"}}`}
			}
			return nil
		},
	})
	s.config.Curator.Batch = 1
	_ = s.run("around")
	s.verify("around")
	store := s.open("around")
	var order, refused []int64 // posts of the story; those of the scene that was refused
	sceneOf := map[int64]int{}
	for n := 1; n <= threads*scenes; n++ {
		row, err := store.Scenes.Get(t.Context(), n)
		if err != nil {
			t.Fatal(err)
		}
		if order = append(order, row.Posts...); row.State == annotator.SceneQuarantined {
			refused = append(refused, row.Posts...)
		}
		for _, post := range row.Posts {
			sceneOf[post] = n
		}
	}
	if len(refused) == 0 {
		t.Fatal("no scene was refused")
	}
	forks := s.column("around", `SELECT scene FROM snapshot WHERE type = 'curator_fork' ORDER BY id`)
	whole, across := 0, 0
	for i, question := range questions {
		var shown []int64
		if above := postsAbove.FindStringSubmatch(question); above != nil { // its scene is in the window
			for text := range strings.SplitSeq(above[1], ",") {
				id, _ := strconv.ParseInt(text, 10, 64)
				shown = append(shown, id)
			}
		}
		for _, match := range shownPost.FindAllStringSubmatch(question, -1) {
			id, _ := strconv.ParseInt(match[1], 10, 64)
			shown = append(shown, id)
			if n := sceneOf[id]; n == 0 || n > forks[i] || slices.Contains(refused, id) {
				t.Errorf("question %d, after scene %d, shows post %d of scene %d", i, forks[i], id, n)
			}
		}
		center := slices.Index(order, quotedPost(question))
		if center < 0 {
			continue
		}
		want := order[max(0, center-3):min(len(order), center+4)]
		if slices.ContainsFunc(want, func(post int64) bool {
			return slices.Contains(refused, post) || sceneOf[post] > forks[i]
		}) {
			continue
		}
		if whole++; sceneOf[want[0]] != sceneOf[want[len(want)-1]] {
			across++
		}
		for _, post := range want {
			if !slices.Contains(shown, post) {
				t.Errorf("question %d about post %d shows the posts %v, not %d", i, order[center], shown, post)
			}
		}
	}
	if whole < 5 || across < 5 {
		t.Errorf("%d questions with all neighbours, %d across a border", whole, across)
	}
}

// quotedPost returns the post that has all quotations of a question; 0 if there are several.
func quotedPost(question string) (post int64) {
	for _, match := range regexp.MustCompile(`<quote post="(\d+)"`).FindAllStringSubmatch(question, -1) {
		id, _ := strconv.ParseInt(match[1], 10, 64)
		if post != 0 && post != id {
			return 0
		}
		post = id
	}
	return post
}
