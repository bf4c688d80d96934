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
			posts, err := s.scene(ctx, &scenes[i], origins)
			if err != nil {
				yield(nil, err)
				return
			}
			for k := range posts {
				if !yield(&posts[k], nil) {
					return
				}
			}
		}
	}
}

// scene returns the posts of a scene with the names that occur in them.
func (s *storyText) scene(ctx context.Context, row *annotator.SceneRow, origins map[int64]corpus.Origin) ([]exporters.Post, error) {
	found, err := s.corpus.Scene(ctx, row.Thread.ID, row.Posts)
	if err != nil {
		return nil, err
	}
	mentions, err := s.view.MentionsIn(ctx, row.N)
	posts := make([]exporters.Post, len(found))
	for i, p := range found {
		origin := origins[p.ID]
		posts[i] = exporters.Post{Post: p, Scene: row.N, Document: origin.Document, Offset: origin.Offset}
	}
	for _, m := range mentions {
		if rank := m.Place.Rank(); rank < len(posts) {
			posts[rank].Mentions = append(posts[rank].Mentions, exporters.Mention{Entry: m.Entry, Start: m.Start, End: m.End})
		}
	}
	return posts, err
}
