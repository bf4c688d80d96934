package curator

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"annotator"
	"annotator/context/tokens"
)

// shownScenes is the number of scenes in which the narration must show an entry that is confirmed without a question.
// One may be a passing mention, but a reader looks up a thing to which the story returns.
const shownScenes = 2

// confirmShown confirms the entries that the narration shows, by a rule, and returns the others. Quotations of story
// posts support narrated claims of such an entry in several scenes. No other entry has a similar name, so it cannot be
// the same thing. An entry that was asked about before is left to the model.
func (c *Curator) confirmShown(
	ctx context.Context, open []annotator.UndecidedEntry,
) (left []annotator.UndecidedEntry, err error) {
	shown, err := c.shown(ctx, open)
	if err != nil || len(shown) == 0 {
		return open, err
	}
	at := annotator.PlaceAt(c.Scene.Order, len(c.Scene.Posts)-1)
	answers, names := make([]Answer, len(shown)), make([]string, len(shown))
	for i, candidate := range shown {
		scenes, err := c.numbers(ctx, narrated(&candidate.Entry))
		if err != nil {
			return nil, err
		}
		answers[i].Decision = Decision{Action: Shown, Reason: fmt.Sprintf("narrated in the scenes %v", scenes)}
		names[i] = candidate.Entry.Name()
	}
	decisions, revisions := shown.Resolve(answers, Keep, c.Scene.Thread.ID, at)
	text := "Confirmed without a question, because the narration shows them: " + strings.Join(names, ", ") + "."
	note := &annotator.Trace{Kind: annotator.TraceNote, Content: text, Tokens: tokens.EstimateMessage(text)}
	if err := c.Records.Decide(ctx, nil, note, revisions, nil); err != nil {
		return nil, err
	}
	for i, d := range decisions {
		c.Decided(&shown[i].Entry, d)
	}
	return slices.DeleteFunc(open, func(u annotator.UndecidedEntry) bool {
		return slices.ContainsFunc(shown, func(s *Candidate) bool { return s.Entry.ID == u.Entry })
	}), nil
}

// shown returns those of the entries that the narration shows.
func (c *Curator) shown(ctx context.Context, open []annotator.UndecidedEntry) (shown Batch, err error) {
	var ids []int64
	for _, u := range open {
		if u.RetryReason == "" {
			ids = append(ids, u.Entry)
		}
	}
	if len(ids) == 0 {
		return nil, nil
	}
	index, err := c.Names.Index(ctx)
	if err != nil {
		return nil, err
	}
	entries, err := c.entries(ctx, ids)
	if err != nil {
		return nil, err
	}
	read := c.newPosts()
	for _, id := range ids {
		e := entries[id]
		if len(narrated(e)) < shownScenes || len(index.Similar(id, names(e), 1)) > 0 {
			continue
		}
		if err := read.dropReaders(ctx, e); err != nil {
			return nil, err
		}
		if len(narrated(e)) >= shownScenes {
			shown = append(shown, &Candidate{Entry: *e})
		}
	}
	return shown, nil
}

// narrated returns the scenes of an entry's narrated claims that a quotation supports, in order.
func narrated(e *annotator.Entry) (scenes []annotator.Order) {
	for i := range e.Claims {
		if c := &e.Claims[i]; c.Until == 0 && c.Kind == annotator.Narrated && len(c.Evidence) > 0 {
			scenes = append(scenes, c.From.Order())
		}
	}
	slices.Sort(scenes)
	return slices.Compact(scenes)
}

// numbers returns the numbers of scenes.
func (c *Curator) numbers(ctx context.Context, scenes []annotator.Order) ([]int, error) {
	numbers := make([]int, len(scenes))
	for i, order := range scenes {
		row, err := c.Scenes.At(ctx, order)
		if err != nil {
			return nil, err
		}
		numbers[i] = row.N
	}
	return numbers, nil
}

// dropReaders removes the quotations of posts that are not part of the story.
func (p *posts) dropReaders(ctx context.Context, e *annotator.Entry) (err error) {
	for i := range e.Claims {
		claim := &e.Claims[i]
		claim.Evidence = slices.DeleteFunc(slices.Clone(claim.Evidence), func(evidence annotator.Evidence) bool {
			post, readErr := p.post(ctx, evidence.Post)
			if readErr != nil {
				err = readErr
				return false
			}
			return !slices.Contains(post.Tags, annotator.TagStory)
		})
	}
	return err
}
