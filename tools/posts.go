package tools

import (
	"fmt"
	"slices"

	"annotator"
)

type postView struct {
	ID      int64  `json:"id"`
	Thread  int64  `json:"thread"`
	Author  string `json:"author"`
	Subject string `json:"subject"`
	Body    string `json:"body"`
	Story   bool   `json:"story"`
}

const (
	maxByline = 200 // characters of an author or a subject
	minBody   = 200 // characters: less of a post is not worth showing
)

func viewPost(p *annotator.Post) postView {
	return postView{
		ID: p.ID, Thread: p.Thread, Author: truncate(p.Name, maxByline), Subject: truncate(p.Subject, maxByline), Body: p.Body,
		Story: slices.Contains(p.Tags, annotator.TagStory),
	}
}

type postsView struct {
	OK        bool       `json:"ok"`
	Posts     []postView `json:"posts"`
	Truncated string     `json:"truncated,omitempty"`
}

// postsResult shows posts in order. The post at index first gets its room first, then the others from the front; the
// last that fits is cut, and what does not fit at all is left out.
func postsResult(posts []annotator.Post, first int, note string) Result {
	room := maxContent
	views := make([]*postView, len(posts))
	views[first], room = fitPost(&posts[first], room)
	for i := range posts {
		if i != first {
			views[i], room = fitPost(&posts[i], room)
		}
	}
	view := postsView{OK: true, Posts: []postView{}, Truncated: note}
	for _, v := range views {
		if v != nil {
			view.Posts = append(view.Posts, *v)
		}
	}
	if left := len(posts) - len(view.Posts); left > 0 {
		view.Truncated = fmt.Sprintf("%d more posts are left out for length; the first of them is post %d",
			left, posts[slices.Index(views, nil)].ID)
	}
	return Result{Content: encode(view)}
}

// fitPost gives a post as an answer shows it in at most room characters, and what room it leaves: none once a post had to
// be cut. Nil is a post that does not fit.
func fitPost(p *annotator.Post, room int) (view *postView, left int) {
	v := viewPost(p)
	if left = room - jsonLength(v) - len(","); left >= 0 {
		return &v, left
	}
	bodyRoom := jsonLength(v.Body) - len(`""`) + left
	if bodyRoom < minBody {
		return nil, 0
	}
	v.Body = truncate(v.Body, bodyRoom)
	return &v, 0
}
