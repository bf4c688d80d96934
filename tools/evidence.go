package tools

import (
	"context"
	"fmt"
	"slices"

	"annotator"
)

// place returns the place of a post of the scene, and the scene's end for any other.
func (env *Env) place(post int64) annotator.Place {
	if rank := env.rank(post); rank >= 0 {
		return annotator.PlaceAt(env.Scene.Order, rank)
	}
	return env.Scene.End()
}

func (env *Env) rank(post int64) int {
	return slices.IndexFunc(env.Scene.Posts, func(p annotator.Post) bool { return p.ID == post })
}

// post returns a post that the model may read.
func (env *Env) post(ctx context.Context, id int64) (*annotator.Post, error) {
	if rank := env.rank(id); rank >= 0 {
		return &env.Scene.Posts[rank], nil
	}
	post, err := env.Posts.Post(ctx, id)
	if annotator.KindOf(err) == annotator.NotFound {
		return nil, &Failure{Code: NotFound, Message: fmt.Sprintf("there is no post %d", id), Post: id}
	}
	if err != nil {
		return nil, err
	}
	known, err := env.isReadable(ctx, post)
	if err == nil && !known {
		failure := failf(NotFound, "post %d is not read yet: it comes later in the story", id)
		failure.Post = id
		return nil, failure
	}
	return post, err
}

// isReadable reports whether the model may read a post.
func (env *Env) isReadable(ctx context.Context, post *annotator.Post) (bool, error) {
	if env.Readable == nil || env.rank(post.ID) >= 0 {
		return true, nil
	}
	return env.Readable(ctx, post)
}
