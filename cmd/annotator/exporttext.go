package main

import (
	"context"
	"iter"
	"unicode/utf8"

	"annotator"
	"annotator/context/mention"
	"annotator/corpus"
	"annotator/exporters"
	"annotator/storage"
)

// storyText is the text of the story within the limit of a view, with the names of the entries that are exported.
type storyText struct {
	view   *storage.View
	corpus *corpus.DB
	names  *mention.Index
}

// newStoryText returns the text with the occurrences of names that the entries have.
func newStoryText(view *storage.View, posts *corpus.DB, entries []exporters.Entry) *storyText {
	s := &storyText{view: view, corpus: posts, names: mention.New()}
	for i := range entries {
		e := &entries[i]
		names := []string{e.Term}
		for _, a := range e.Aliases {
			names = append(names, a.Name)
		}
		s.names.SetNames(e.ID, names)
	}
	return s
}

// Threads returns the threads in story order.
func (s *storyText) Threads(ctx context.Context) ([]exporters.Thread, error) {
	spans, err := s.view.Threads(ctx)
	threads := make([]exporters.Thread, len(spans))
	for i := range spans {
		threads[i] = exporters.Thread{ID: spans[i].ID, Title: spans[i].Title}
	}
	return threads, err
}

// Posts returns the story posts of a thread in order.
func (s *storyText) Posts(ctx context.Context, thread int64) iter.Seq2[*exporters.Post, error] {
	return func(yield func(*exporters.Post, error) bool) {
		origins, err := s.corpus.Origins(ctx, thread)
		if err != nil {
			yield(nil, err)
			return
		}
		scenes, err := s.view.Scenes(ctx, thread)
		if err != nil {
			yield(nil, err)
			return
		}
		for i := range scenes {
			posts, err := s.corpus.Scene(ctx, thread, scenes[i].Posts)
			if err != nil {
				yield(nil, err)
				return
			}
			for _, p := range posts {
				if !yield(s.newPost(&p, scenes[i].N, origins[p.ID]), nil) {
					return
				}
			}
		}
	}
}

func (s *storyText) newPost(p *annotator.Post, scene int, origin corpus.Origin) *exporters.Post {
	post := &exporters.Post{Post: *p, Scene: scene, Document: origin.Document, Offset: origin.Offset}
	bytes, runes := 0, 0 // offsets of the same place
	for _, o := range s.names.Occurrences(p.Body) {
		runes += utf8.RuneCountInString(p.Body[bytes:o.Start])
		bytes = o.Start
		post.Mentions = append(post.Mentions, exporters.Mention{Entry: o.ID, Start: runes, End: runes + utf8.RuneCountInString(p.Body[o.Start:o.End])})
	}
	return post
}
