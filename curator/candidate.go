package curator

import (
	"cmp"
	"context"
	"slices"

	"annotator"
)

// Candidate is a tentative entry with what a question shows of it.
type Candidate struct {
	Entry   annotator.Entry
	First   int64             // the post in which it appears first
	Posts   []annotator.Post  // around that one and with it, in order
	Similar []annotator.Entry // live ones that may be the same thing, the most similar first
	Revised bool              // a decision on it has reworded it; the one that is asked for is the last
}

const (
	maxSimilar = 5 // entries that a candidate is shown with
	neighbors  = 3 // posts that are shown before and after the first appearance
)

// candidates gathers what a question shows of entries. They come in story order, so that neighbours share what is read
// for them.
func (c *Curator) candidates(
	ctx context.Context, open []annotator.UndecidedEntry, last *annotator.Post,
) (Batch, error) {
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
	batch, scenes, similar := make(Batch, len(open)), map[int][]annotator.Post{}, make([][]int64, len(open))
	for i, id := range ids {
		batch[i] = &Candidate{Revised: open[i].Revised, Entry: *entries[id]}
		if batch[i].First, err = c.firstPost(ctx, &batch[i].Entry, scenes); err != nil {
			return nil, err
		}
		if i > 0 && batch[i-1].First == batch[i].First {
			batch[i].Posts = batch[i-1].Posts
		} else if batch[i].Posts, err = c.postsAround(ctx, batch[i].First, last); err != nil {
			return nil, err
		}
		similar[i] = index.Similar(id, names(&batch[i].Entry), maxSimilar)
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

// firstPost returns the post in which an entry appears first: the one of its first scene that names it, else the one at
// the place of its first claim. It keeps the posts of scenes that it has read.
func (c *Curator) firstPost(ctx context.Context, e *annotator.Entry, scenes map[int][]annotator.Post) (int64, error) {
	n := max(e.First.Scene(), 1)
	posts, known := scenes[n]
	if !known {
		row, err := c.GetScene(ctx, n)
		if err != nil {
			return 0, err
		}
		if posts, err = c.Posts.Scene(ctx, row.Thread.ID, row.Posts); err != nil {
			return 0, err
		}
		scenes[n] = posts
	}
	at := FirstNaming(posts, e)
	if at < 0 {
		at = min(e.First.Rank(), len(posts)-1)
	}
	return posts[at].ID, nil
}

// postsAround returns the posts around one, without those after the last that was read.
func (c *Curator) postsAround(ctx context.Context, post int64, last *annotator.Post) ([]annotator.Post, error) {
	posts, err := c.Posts.Around(ctx, post, neighbors)
	return slices.DeleteFunc(posts, func(p annotator.Post) bool {
		return p.Thread == last.Thread && cmp.Or(cmp.Compare(p.Time, last.Time), cmp.Compare(p.ID, last.ID)) > 0
	}), err
}
