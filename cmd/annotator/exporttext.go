package main

import (
	"context"
	"iter"

	"annotator"
	"annotator/corpus"
	"annotator/exporters"
	"annotator/storage"
	"annotator/view"
)

// storyText is the text of the story within the limit of a view.
type storyText struct {
	view   *view.View
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

// scene returns the posts of a scene whose text the source has.
func (s *storyText) scene(ctx context.Context, row *annotator.SceneRow,
	origins map[int64]corpus.Origin,
) ([]exporters.Post, error) {
	found, err := s.corpus.Scene(ctx, row.Thread.ID, row.Posts)
	posts := make([]exporters.Post, 0, len(found))
	for i, p := range found {
		if p.Former {
			continue
		}
		origin := origins[p.ID]
		posts = append(posts, exporters.Post{
			Post: p, Place: annotator.PlaceAt(row.Order, i), Scene: row.N,
			Document: origin.Document, Offset: origin.Offset,
		})
	}
	return posts, err
}

// Mentions returns the names in the posts of a thread.
func (s *storyText) Mentions(ctx context.Context, thread int64) (map[annotator.Place][]exporters.Mention, error) {
	return s.mentions(ctx, thread, s.view.MentionsIn)
}

// MentionsThen returns the names in the posts of a thread, as of the end of each scene. It implements exporters.Text.
func (s *storyText) MentionsThen(ctx context.Context, thread int64) (map[annotator.Place][]exporters.Mention, error) {
	return s.mentions(ctx, thread, s.view.MentionsThen)
}

func (s *storyText) mentions(
	ctx context.Context, thread int64,
	in func(ctx context.Context, first, last annotator.Order) ([]storage.Mention, error),
) (map[annotator.Place][]exporters.Mention, error) {
	span, err := s.view.Thread(ctx, thread)
	if err != nil {
		return nil, err
	}
	last, err := s.view.Scene(ctx, span.Last)
	if err != nil {
		return nil, err
	}
	found, err := in(ctx, span.Order, last.Order)
	byPost := map[annotator.Place][]exporters.Mention{}
	for _, m := range found {
		byPost[m.Place] = append(byPost[m.Place], exporters.Mention{Entry: m.Entry, Start: m.Start, End: m.End})
	}
	return byPost, err
}
