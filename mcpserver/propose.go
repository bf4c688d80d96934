package mcpserver

import (
	"context"
	"errors"
	"slices"

	"annotator"
	"annotator/codex"
	"annotator/view"
)

type proposeArguments struct {
	entryArguments
	Do    annotator.Deed `json:"do"` // see describe
	Fact  int64          `json:"fact,omitempty" jsonschema:"the number of the fact, for edit, reject and end"`
	Text  string         `json:"text,omitempty" jsonschema:"the fact, for edit and add; the reason, for hide"`
	Name  string         `json:"name,omitempty" jsonschema:"the name, for rename, or to add or reject a name"`
	Tags  []string       `json:"tags,omitempty" jsonschema:"all tags of the entry, for retag"`
	Other string         `json:"other,omitempty" jsonschema:"the other entry, for merge and never"`
	Post  int64          `json:"post,omitempty" jsonschema:"the post that bears a new fact out"`
	Quote string         `json:"quote,omitempty" jsonschema:"its words, exactly as they stand in the post"`
	Why   string         `json:"why" jsonschema:"why, for the person who decides"`
}

// proposable are the deeds that an agent can propose.
func proposable() []any {
	return []any{
		annotator.DeedEdit, annotator.DeedAdd, annotator.DeedReject, annotator.DeedEnd, annotator.DeedRename,
		annotator.DeedRetag, annotator.DeedHide, annotator.DeedMerge, annotator.DeedNever,
	}
}

type proposeResult struct {
	Proposal int64 `json:"proposal" jsonschema:"its number; a person decides on it"`
}

// propose stores an operation for a person to decide on. It is about what the limit shows, and is seen no earlier.
func (s *server) propose(ctx context.Context, a proposeArguments) (proposeResult, error) {
	shown, e, err := s.entry(ctx, a.entryArguments)
	if err != nil {
		return proposeResult{}, err
	}
	p := annotator.Proposal{Why: a.Why, Operation: annotator.Operation{
		Do: a.Do, Entry: e.ID, Fact: a.Fact, Text: a.Text, Name: a.Name, Tags: a.Tags,
	}}
	if !slices.Contains(proposable(), any(a.Do)) {
		return proposeResult{}, annotator.Errorf(annotator.Misused, "%q cannot be proposed", a.Do)
	}
	if a.Other != "" {
		other := a.entryArguments
		other.Entry = a.Other
		_, e, err := s.entry(ctx, other)
		if err != nil {
			return proposeResult{}, err
		}
		p.Operation.Other = e.ID
	}
	if a.Quote != "" {
		if p.Operation.Evidence, err = s.ground(ctx, shown, a.Post, a.Quote); err != nil {
			return proposeResult{}, err
		}
	}
	if err := shown.Confine(ctx, &p.Operation); err != nil {
		return proposeResult{}, err
	}
	if p.Seen, err = s.DB.Edits.ReadTo(ctx); err != nil {
		return proposeResult{}, err
	}
	m := shown.Moment()
	if !m.IsZero() {
		p.Seen = min(p.Seen, m.Order())
	}
	err = s.Propose(ctx, &p)
	if refusal := (*codex.Refusal)(nil); errors.As(err, &refusal) {
		err = annotator.Errorf(annotator.Misused, "the rules do not allow this")
		if m.IsZero() { // else the reason may be what comes later
			err = annotator.Errorf(annotator.Misused, "the rules do not allow this: %s", refusal.Message)
		}
	}
	return proposeResult{p.ID}, err
}

// ground returns the evidence for a quotation of a post.
func (s *server) ground(ctx context.Context, shown *view.View, post int64, words string) (*annotator.Evidence, error) {
	place, err := shown.PlaceOf(ctx, post)
	if err != nil {
		return nil, err
	}
	if s.Posts == nil {
		return nil, annotator.Errorf(annotator.NotFound, "the text of the story is not here, so nothing can be quoted")
	}
	at := view.NewPositions(ctx, s.DB)
	posts, err := s.Posts.Scene(ctx, at.At(place).Thread, []int64{post})
	if err != nil || at.Err != nil {
		return nil, errors.Join(err, at.Err)
	}
	found, ok := codex.GroundIn(posts[:1], words)
	if !ok {
		return nil, annotator.Errorf(annotator.NotFound, "post %d does not have the words %q", post, words).
			WithAdvice("quote whole words as they stand there")
	}
	return &found, nil
}
