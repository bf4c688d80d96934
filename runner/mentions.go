package runner

import (
	"context"
	"slices"
	"unicode/utf8"

	"annotator"
	"annotator/context/mention"
	"annotator/storage"
)

// PendingMentions looks for names where they may have come or gone since the last checkpoint: in scenes that were not
// looked at, and in those that have the words of a name that was added or given up. The cost is that of these scenes, at
// any length of the story.
func PendingMentions(
	ctx context.Context, store *storage.Mentions, names *mention.Cache, posts func(context.Context, int) ([]annotator.Post, error),
) ([]storage.SceneMentions, error) {
	scenes, changed, err := store.Pending(ctx)
	if err != nil {
		return nil, err
	}
	for _, name := range changed {
		found, err := store.ScenesWith(ctx, mention.Words(name))
		if err != nil {
			return nil, err
		}
		scenes = append(scenes, found...)
	}
	slices.Sort(scenes)
	scenes = slices.Compact(scenes)
	if len(scenes) == 0 {
		return nil, nil
	}
	index, err := names.Index(ctx)
	if err != nil {
		return nil, err
	}
	all := make([]storage.SceneMentions, len(scenes))
	for i, n := range scenes {
		bodies, err := posts(ctx, n)
		if err != nil {
			return nil, err
		}
		all[i] = mentionsIn(index, n, bodies)
	}
	return all, nil
}

func (r *Runner) findMentions(ctx context.Context) ([]storage.SceneMentions, error) {
	return PendingMentions(ctx, r.Store.Mentions, r.names, r.postsOf)
}

// postsOf returns the posts of a scene.
func (r *Runner) postsOf(ctx context.Context, n int) ([]annotator.Post, error) {
	if r.scene != nil && r.scene.row.N == n && len(r.scene.Posts) > 0 {
		return r.scene.Posts, nil
	}
	row, err := r.Store.Scenes.Get(ctx, n)
	if err != nil {
		return nil, err
	}
	return r.corpus.Scene(ctx, row.Thread.ID, row.Posts)
}

// mentionsIn finds the names in the posts of a scene.
func mentionsIn(index *mention.Index, scene int, posts []annotator.Post) storage.SceneMentions {
	s := storage.SceneMentions{Scene: scene, Mentions: map[storage.Mention]string{}}
	bodies := make([]string, len(posts))
	for rank := range posts {
		body := posts[rank].Body
		bodies[rank] = body
		if len(body) > maxSceneBytes {
			continue // no scene with it is read
		}
		at, characters := 0, 0 // characters are those before the byte at
		for _, o := range index.Occurrences(body) {
			characters += utf8.RuneCountInString(body[at:o.Start])
			at = o.Start
			text := body[o.Start:o.End]
			m := storage.Mention{Entry: o.ID, Place: annotator.PlaceAt(scene, rank), Start: characters, End: characters + utf8.RuneCountInString(text)}
			s.Mentions[m] = text
		}
	}
	s.Words = mention.DistinctWords(bodies)
	return s
}

// FindMentions returns a function that finds the names of entries in a scene.
func FindMentions(names map[int64][]string) storage.MentionFinder {
	index := mention.New()
	for entry, list := range names {
		index.SetNames(entry, list)
	}
	return func(s *annotator.Scene) storage.SceneMentions { return mentionsIn(index, s.N, s.Posts) }
}

// catchUpMentions looks for names in the scenes of a run that an earlier version of the program has read, or after names
// were changed without a scene. Between a scene's end and its checkpoint, the checkpoint does it.
func (r *Runner) catchUpMentions(ctx context.Context, openScene int) error {
	for openScene == 0 && ctx.Err() == nil {
		scenes, err := r.findMentions(ctx)
		if err != nil || len(scenes) == 0 {
			return err
		}
		if err := r.Store.Mentions.Update(ctx, scenes); err != nil {
			return err
		}
	}
	return ctx.Err()
}
