package tools

import (
	"context"
	"fmt"
	"slices"

	"annotator"
)

type readPostArguments struct {
	PostID          int64 `json:"post_id" jsonschema:"its id"`
	IncludeAdjacent bool  `json:"include_adjacent,omitempty" default:"false" jsonschema:"also two posts before it and two after it in its thread"`
}

// adjacent is the number of posts on either side that include_adjacent adds.
const adjacent = 2

func readPost(ctx context.Context, env *Env, a readPostArguments) (Result, error) {
	post, err := env.post(ctx, a.PostID)
	if err != nil {
		return Result{}, err
	}
	if !a.IncludeAdjacent {
		return postsResult([]annotator.Post{*post}, 0, "", env.maxContent()), nil
	}
	posts, err := env.Posts.Around(ctx, a.PostID, adjacent)
	if err != nil {
		return Result{}, err
	}
	read, note, err := env.filterReadable(ctx, posts)
	if err != nil {
		return Result{}, err
	}
	first := slices.IndexFunc(read, func(p annotator.Post) bool { return p.ID == a.PostID })
	if first < 0 {
		return Result{}, fmt.Errorf("the posts around post %d do not include it", a.PostID)
	}
	return postsResult(read, first, note, env.maxContent()), nil
}

// filterReadable returns the posts that the model may read, and a note if others are omitted.
func (env *Env) filterReadable(ctx context.Context, posts []annotator.Post) ([]annotator.Post, string, error) {
	var read []annotator.Post
	for i := range posts {
		known, err := env.isReadable(ctx, &posts[i])
		if err != nil {
			return nil, "", err
		}
		if known {
			read = append(read, posts[i])
		}
	}
	if len(read) < len(posts) {
		return read, "later posts are left out: they are not read yet", nil
	}
	return read, "", nil
}
