package curator

import (
	"context"
	"slices"

	"annotator"
	"annotator/context/mention"
)

// Candidate is a tentative entry with what a question shows of it.
type Candidate struct {
	Entry   annotator.Entry
	First   int64             // the post in which it appears first
	Posts   []annotator.Post  // that one, and those of its quotations; without any, those beside it; in order
	Similar []annotator.Entry // live ones that may be the same thing, the most similar first
	Revised bool              // a decision on it has reworded it; the one that is asked for is the last

	bears func(quote, fact string) bool // whether they share a word or a name; nil: all do
}

const (
	maxSimilar = 5 // entries that a candidate is shown with
	neighbors  = 1 // posts that are shown before and after the first one of an entry without quotations elsewhere
)

// candidates gathers what a question shows of entries.
func (c *Curator) candidates(ctx context.Context, open []annotator.UndecidedEntry) (Batch, error) {
	index, err := c.Names.Index(ctx)
	if err != nil {
		return nil, err
	}
	ids := make([]int64, len(open))
	for i := range open {
		ids[i] = open[i].Entry
	}
	entries, err := c.entries(ctx, ids)
	if err != nil {
		return nil, err
	}
	usage, err := c.usage(ctx)
	if err != nil {
		return nil, err
	}
	batch, similar, posts := make(Batch, len(open)), make([][]int64, len(open)), c.newPosts()
	for i, id := range ids {
		e := entries[id]
		batch[i] = &Candidate{Revised: open[i].Revised, Entry: *e, bears: func(quote, fact string) bool { return index.Bears(quote, fact, e, usage) }}
		similar[i] = index.Similar(id, names(&batch[i].Entry), maxSimilar)
	}
	quotes := batch.lengths().quotes
	for _, candidate := range batch {
		if err := posts.show(ctx, candidate, quotes); err != nil {
			return nil, err
		}
	}
	if entries, err = c.entries(ctx, slices.Concat(similar...)); err != nil {
		return nil, err
	}
	for i := range batch {
		for _, id := range similar[i] {
			batch[i].Similar = append(batch[i].Similar, *entries[id])
		}
	}
	return batch, nil
}

// usage returns how the story uses words.
func (c *Curator) usage(ctx context.Context) (*mention.Usage, error) {
	if c.Usage == nil {
		return mention.NewUsage(), nil
	}
	return c.Usage(ctx)
}

// entries returns entries by id. They must be in the glossary.
func (c *Curator) entries(ctx context.Context, ids []int64) (map[int64]*annotator.Entry, error) {
	found, err := c.Entries(ctx, ids)
	if err != nil {
		return nil, err
	}
	for _, id := range ids {
		if found[id] == nil {
			return nil, annotator.Errorf(annotator.Violation, "entry %d is not in the glossary any more", id).
				WithAdvice("check the database with `annotator verify`")
		}
	}
	return found, nil
}

// posts are those that were read for a question: entries in story order share scenes and posts.
type posts struct {
	*Curator
	scenes map[int][]annotator.Post
	byID   map[int64]*annotator.Post
}

func (c *Curator) newPosts() *posts {
	return &posts{c, map[int][]annotator.Post{}, map[int64]*annotator.Post{}}
}

// show gives a candidate its posts: the one in which it appears first, and those that so many of its quotations stand
// in. Without a quotation elsewhere those beside the first are shown, which explain it.
func (p *posts) show(ctx context.Context, c *Candidate, quotes int) error {
	scene, first, err := p.first(ctx, &c.Entry)
	if err != nil {
		return err
	}
	c.First = scene[first].ID
	c.Posts = []annotator.Post{scene[first]}
	for _, e := range c.evidence(quotes) {
		if slices.ContainsFunc(c.Posts, func(shown annotator.Post) bool { return shown.ID == e.Post }) {
			continue
		}
		post, err := p.post(ctx, e.Post)
		if err != nil {
			return err
		}
		c.Posts = append(c.Posts, *post)
	}
	if len(c.Posts) == 1 {
		c.Posts = scene[max(0, first-neighbors):min(len(scene), first+neighbors+1)]
	}
	return nil
}

// post returns a post by its id.
func (p *posts) post(ctx context.Context, id int64) (*annotator.Post, error) {
	if post := p.byID[id]; post != nil {
		return post, nil
	}
	post, err := p.Posts.Post(ctx, id)
	p.byID[id] = post
	return post, err
}

// first returns the posts of the scene in which an entry appears first, and the index of the post that names it first;
// if none does, of the one at the place of its first claim.
func (p *posts) first(ctx context.Context, e *annotator.Entry) ([]annotator.Post, int, error) {
	n := max(e.First.Scene(), 1)
	scene, known := p.scenes[n]
	if !known {
		row, err := p.GetScene(ctx, n)
		if err != nil {
			return nil, 0, err
		}
		if scene, err = p.Posts.Scene(ctx, row.Thread.ID, row.Posts); err != nil {
			return nil, 0, err
		}
		p.scenes[n] = scene
	}
	at := FirstNaming(scene, e)
	if at < 0 {
		at = min(e.First.Rank(), len(scene)-1)
	}
	return scene, at, nil
}
