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
	maxByline = 200 // maximum characters of an author or a subject
	minBody   = 200 // minimum characters of a truncated body; a shorter one is omitted
)

type postsView struct {
	OK        bool       `json:"ok"`
	Posts     []postView `json:"posts"`
	Truncated string     `json:"truncated,omitempty"`
}

// postsResult shows posts in order, in a limited number of characters. The post at index first is fitted first. The
// last one that fits is truncated.
func postsResult(posts []annotator.Post, first int, note string, room int) Result {
	views := make([]*postView, len(posts))
	view, left := fitPost(&posts[first], room)
	views[first] = view
	for i := range posts {
		if i != first {
			views[i], left = fitPost(&posts[i], left)
		}
	}
	answer := postsView{OK: true, Posts: []postView{}, Truncated: note}
	for _, v := range views {
		if v != nil {
			answer.Posts = append(answer.Posts, *v)
		}
	}
	if omitted := len(posts) - len(answer.Posts); omitted > 0 {
		answer.Truncated = fmt.Sprintf("%d more posts are left out for length; the first of them is post %d",
			omitted, posts[slices.Index(views, nil)].ID)
	}
	return Result{Content: annotator.EncodeJSON(answer)}
}

// fitPost returns a post in at most limit characters, nil if it does not fit, and how many are left: 0 if truncated.
func fitPost(p *annotator.Post, limit int) (view *postView, left int) {
	v := postView{
		ID: p.ID, Thread: p.Thread, Body: p.Body, Story: slices.Contains(p.Tags, annotator.TagStory),
		Author: truncate(p.Name, maxByline), Subject: truncate(p.Subject, maxByline),
	}
	if left = limit - jsonLength(v) - len(","); left >= 0 {
		return &v, left
	}
	bodyLimit := jsonLength(v.Body) - len(`""`) + left
	if bodyLimit < minBody {
		return nil, 0
	}
	v.Body = truncate(v.Body, bodyLimit)
	return &v, 0
}
