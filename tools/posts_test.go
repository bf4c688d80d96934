package tools_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"annotator"
)

func TestReadPost(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, test := range []struct {
		arguments string
		ids       []int64
		truncated bool
	}{
		{`{"post_id":10}`, []int64{10}, false},
		{`{"post_id":10,"include_adjacent":true}`, []int64{10, 11, 30}, false},
		{`{"post_id":30,"include_adjacent":true}`, []int64{10, 11, 30, 31}, true}, // 40 is not read yet
	} {
		a := w.do("read_post", test.arguments)
		if diff := cmp.Diff(test.ids, ids(a.Posts)); diff != "" || (a.Truncated != "") != test.truncated {
			t.Errorf("%s: %s, %q", test.arguments, diff, a.Truncated)
		}
	}
	want := []post{{
		ID: 10, Thread: 1, Author: "Author", Subject: "Quest", Body: "Mik the smith lives in Vys.",
		Story: true,
	}}
	if diff := cmp.Diff(want, w.do("read_post", `{"post_id":10}`).Posts); diff != "" {
		t.Error(diff)
	}
	for _, id := range []int64{0, -1, 99, 40} {
		if a := w.refused("NOT_FOUND", "read_post", fmt.Sprintf(`{"post_id":%d}`, id)); a.Error.PostID != id {
			t.Errorf("post %d: %+v", id, a.Error)
		}
	}
}

func TestReadThreadRange(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, test := range []struct {
		arguments string
		ids       []int64
	}{
		{`{"thread_id":1}`, []int64{10, 11, 30, 31}},
		{`{"thread_id":1,"start_post_id":11}`, []int64{11, 30, 31}},
		{`{"thread_id":1,"end_post_id":11}`, []int64{10, 11}},
		{`{"thread_id":1,"start_post_id":11,"end_post_id":30}`, []int64{11, 30}},
		{`{"thread_id":1,"tag_filter":"qm_post"}`, []int64{10, 30, 31}},
	} {
		if diff := cmp.Diff(test.ids, ids(w.do("read_thread_range", test.arguments).Posts)); diff != "" {
			t.Errorf("%s: %s", test.arguments, diff)
		}
	}
	for _, arguments := range []string{
		`{"thread_id":2}`, `{"thread_id":1,"start_post_id":40}`, `{"thread_id":1,"start_post_id":30,"end_post_id":10}`,
		`{"thread_id":1,"tag_filter":"vote"}`, `{"thread_id":1,"start_post_id":99}`,
	} {
		w.refused("EMPTY_RANGE", "read_thread_range", arguments)
	}
}

func ids(posts []post) (ids []int64) {
	for _, p := range posts {
		ids = append(ids, p.ID)
	}
	return ids
}

// Posts of any length give an answer of bounded length that says what it omits. The requested post has priority.
func TestLongPosts(t *testing.T) {
	t.Parallel()
	for _, filler := range []string{"a", `"`, "\u2028", "é", "\x01"} {
		w := newWorld(t)
		var long posts
		for i := range 60 {
			long = append(long, annotator.Post{
				ID: int64(i + 1), Thread: 1, Name: strings.Repeat(filler, 900),
				Body: strings.Repeat(filler, 3000),
			})
		}
		w.env.Posts, w.env.Readable = long, nil
		a := w.bounded("read_post", `{"post_id":20,"include_adjacent":true}`)
		shown := strings.Contains(a.Truncated, "left out") && len(a.Posts) > 0
		for _, p := range a.Posts {
			shown = shown && strings.HasPrefix(p.Body, strings.Repeat(filler, 100)) &&
				(p.ID != 20 || len(p.Body) >= len(a.Posts[0].Body))
		}
		if !shown {
			t.Errorf("%q: %d posts, %q", filler, len(a.Posts), a.Truncated)
		}
		if a := w.bounded("read_thread_range", `{"thread_id":1}`); a.Posts[0].ID != 1 ||
			!strings.Contains(a.Truncated, "the first of them is post") {
			t.Errorf("%q: %q", filler, a.Truncated)
		}
	}
}

func TestRangeGoesOn(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var short posts
	for i := range 60 {
		short = append(short, annotator.Post{ID: int64(i + 1), Thread: 1, Body: "x"})
	}
	w.env.Posts, w.env.Readable = short, nil
	if a := w.do("read_thread_range", `{"thread_id":1}`); len(a.Posts) != 50 ||
		!strings.Contains(a.Truncated, "start_post_id 51") {
		t.Errorf("%d posts, %q", len(a.Posts), a.Truncated)
	}
}

func TestKnownMayFail(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.env.Readable = func(context.Context, *annotator.Post) (bool, error) { return false, annotator.Storage }
	for tool, arguments := range map[string]string{
		"read_post": `{"post_id":10}`, "read_thread_range": `{"thread_id":1}`,
		"glossary_create": `{"term":"a","definition":"b","tags":[],"post_id":10}`,
	} {
		_, err := w.registry.Run(t.Context(), w.env,
			w.registry.Parse(annotator.ToolCall{Name: tool, Arguments: arguments}))
		if !errors.Is(err, annotator.Storage) {
			t.Errorf("%s: %v", tool, err)
		}
	}
}
