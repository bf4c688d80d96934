package tools

import (
	"context"
	"fmt"
	"slices"
	"unicode/utf8"

	"annotator"
	"annotator/codex"
)

// citation holds the arguments that support an edit; create and update share them.
type citation struct {
	Quote  string              `json:"quote,omitempty" jsonschema:"a sentence or phrase of the post that bears the definition out, word for word"`
	PostID int64               `json:"post_id,omitempty" jsonschema:"the post that the edit rests on and the quote stands in; default: the post of this scene that holds the quote"`
	Kind   annotator.ClaimKind `json:"kind,omitempty" enum:"narrated,claimed,inferred" default:"narrated" jsonschema:"who vouches for what is new in the definition: the narration, somebody in the story, or your own conclusion"`
}

// locate finds a citation's quotation, if any, and the edit's place: that of a post of the scene, or the scene's end.
func (env *Env) locate(ctx context.Context, b citation) (*annotator.Evidence, annotator.Place, error) {
	if n := utf8.RuneCountInString(b.Quote); n > codex.MaxQuote {
		return nil, 0, &Failure{
			Code: TooLong, Message: fmt.Sprintf("the quote has %d characters; at most %d", n, codex.MaxQuote), Post: b.PostID,
		}
	}
	posts := env.Scene.Posts
	if b.PostID != 0 {
		post, err := env.post(ctx, b.PostID)
		if err != nil {
			return nil, 0, err
		}
		posts = []annotator.Post{*post}
	}
	if codex.Clean(b.Quote) == "" {
		return nil, env.place(b.PostID), nil
	}
	evidence, ok := findQuote(posts, b.Quote)
	if !ok {
		return nil, 0, env.quoteNotFound(b)
	}
	return &evidence, env.place(evidence.Post), nil
}

func findQuote(posts []annotator.Post, quote string) (annotator.Evidence, bool) {
	for _, quote := range []string{quote, unescape(quote)} {
		for i := range posts {
			if evidence, ok := codex.Ground(posts[i].Body, quote); ok {
				evidence.Post = posts[i].ID
				return evidence, true
			}
		}
	}
	return annotator.Evidence{}, false
}

func (env *Env) quoteNotFound(b citation) error {
	failure := &Failure{Code: QuoteNotFound, Post: b.PostID, Message: "no post of this scene holds the quote"}
	if b.PostID != 0 {
		failure.Message = fmt.Sprintf("post %d does not hold the quote", b.PostID)
		if elsewhere, ok := findQuote(env.Scene.Posts, b.Quote); ok {
			failure.Message += fmt.Sprintf("; post %d of this scene does", elsewhere.Post)
			return failure
		}
	}
	failure.Message += "; copy it letter for letter from one sentence or passage"
	return failure
}

// place returns the place of a post of the scene, and the scene's end for any other.
func (env *Env) place(post int64) annotator.Place {
	if rank := env.rank(post); rank >= 0 {
		return annotator.PlaceAt(env.Scene.N, rank)
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
