package ingest

import (
	"cmp"
	"context"
	"maps"
	"slices"

	"annotator"
	"annotator/corpus"
)

// forum is what has to be remembered of the threads of an archive while its posts pass by.
type forum struct {
	titles map[int64]threadTitle
}

// threadTitle is a thread's title: the best that its posts gave.
type threadTitle struct {
	text string
	rank int
}

// How much a title is worth: a thread's own, the opening post's subject, the subject of any other.
const (
	anySubject = iota + 1
	openingSubject
	ownTitle
)

func newForum() forum { return forum{titles: map[int64]threadTitle{}} }

// forumPost is a post of an archive, with what belongs to it.
type forumPost struct {
	annotator.Post
	file   corpus.File
	quotes []int64
	title  string // of its thread; may be empty
}

// addPost writes a post. Where it came from is for the report.
func (j *job) addPost(ctx context.Context, p *forumPost, where string) error {
	for _, text := range []*string{&p.Name, &p.Trip, &p.Subject, &p.Body, &p.title, &p.file.URL, &p.file.Name} {
		*text = j.report.clean(*text, where)
	}
	added, err := j.writer.Post(ctx, &p.Post, p.file, p.quotes)
	if err != nil {
		return err
	}
	if !added {
		j.report.leaveOut("posts with the id of an earlier one", where)
		return nil
	}
	j.forum.entitle(p)
	return nil
}

func (f *forum) entitle(p *forumPost) {
	best := threadTitle{p.title, ownTitle}
	if p.title == "" {
		best = threadTitle{p.Subject, anySubject}
		if p.ID == p.Thread {
			best.rank = openingSubject
		}
	}
	known, seen := f.titles[p.Thread]
	if !seen || best.text != "" && best.rank > known.rank {
		if best.text == "" {
			best.rank = 0
		}
		f.titles[p.Thread] = best
	}
}

// closeForum writes the threads, and finds out who tells the story if no post says so.
func (j *job) closeForum(ctx context.Context) error {
	for _, id := range slices.Sorted(maps.Keys(j.forum.titles)) {
		if err := j.writer.Thread(ctx, id, j.forum.titles[id].text); err != nil {
			return err
		}
	}
	if ids := slices.Collect(maps.Keys(j.forum.titles)); len(ids) == 1 {
		j.report.Title = cmp.Or(j.report.Title, j.forum.titles[ids[0]].text)
	}
	told, anonymous, err := j.writer.TagStory(ctx)
	if err != nil {
		return err
	}
	if told > 0 {
		j.report.note("no post says that it tells the story, so what whoever opened the thread wrote was taken for it: %s", plural(int(told), "post"))
	}
	if anonymous > 0 {
		j.report.note("of threads that were opened without a name only the opening post was taken: %s", plural(int(anonymous), "thread"))
	}
	return nil
}
