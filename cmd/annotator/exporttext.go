package main

import (
	"context"
	"iter"

	"annotator"
	"annotator/corpus"
	"annotator/exporters"
	"annotator/storage"
)

// storyText is the text of the story within the limit of a view.
type storyText struct {
	view   *storage.View
	corpus *corpus.DB
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
				if !yield(newPost(&p, scenes[i].N, origins[p.ID]), nil) {
					return
				}
			}
		}
	}
}

func newPost(p *annotator.Post, scene int, origin corpus.Origin) *exporters.Post {
	return &exporters.Post{Post: *p, Scene: scene, Document: origin.Document, Offset: origin.Offset}
}
