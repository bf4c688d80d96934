package curator

import (
	"context"
	"math"
	"slices"

	"annotator"
	"annotator/codex"
)

// Candidate is a tentative entry with what a question shows of it.
type Candidate struct {
	Entry  annotator.Entry
	First  int64 // the post in which it appears first
	Center int64 // the post that has all quotations; 0: several posts
	// the first, and those of its quotations; those around the center, if there is one; in order
	Posts   []annotator.Post
	Similar []annotator.Entry // live ones that may be the same thing, the most similar first

	// support returns the quotations of a fact as they are stored, and the words that they lack; nil: as they are
	support  func(f *codex.Fact, posts []annotator.Post) ([]annotator.Evidence, []string)
	places   map[int64]annotator.Place // of the posts that support a decision
	passages map[lengths][][]passage   // that were computed; questions of several sizes have the same
	sections map[int]string            // that were rendered, by the most quotations
}

const (
	maxSimilar = 5 // entries that a candidate is shown with
	// posts of the story that are shown before and after the one that has all quotations of an entry
	neighbors = 3
)

// candidates gathers what a question shows of entries.
func (c *Curator) candidates(ctx context.Context, open []annotator.UndecidedEntry) (Batch, error) {
	index, usage, err := c.Names.Words(ctx, c.Scene.Order)
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
	batch, similar, posts := make(Batch, len(open)), make([][]int64, len(open)), c.newPosts()
	for i, id := range ids {
		e := entries[id]
		batch[i] = &Candidate{Entry: *e, support: func(f *codex.Fact, posts []annotator.Post) (
			[]annotator.Evidence, []string,
		) {
			return index.Wording(f.Text+" "+f.Speaker, e, usage).Support(f, nil, posts)
		}}
		similar[i] = index.Similar(id, names(&batch[i].Entry), maxSimilar)
	}
	quotes := batch.lengths().quotes
	for _, candidate := range batch {
		if err := posts.show(ctx, candidate, quotes); err != nil {
			return nil, err
		}
	}
	if c.above, err = c.Window.Posts(ctx, c.Turn); err != nil {
		return nil, err
	}
	if entries, err = c.entries(ctx, slices.Concat(similar...)); err != nil {
		return nil, err
	}
	for i := range batch {
		for _, id := range similar[i] {
			if !codex.IsOther(&batch[i].Entry, entries[id]) {
				batch[i].Similar = append(batch[i].Similar, *entries[id])
			}
		}
	}
	return batch, nil
}

// findPlaces looks up where the posts of candidates are whose answers have facts of their own.
func (c *Curator) findPlaces(ctx context.Context, batch Batch, answers []Answer) (err error) {
	for i, candidate := range batch {
		if len(answers[i].Decision.Facts) == 0 {
			continue
		}
		candidate.places = map[int64]annotator.Place{}
		for j := range candidate.Posts {
			id := candidate.Posts[j].ID
			candidate.places[id], err = c.Scenes.PlaceOf(ctx, id)
			if err != nil && annotator.KindOf(err) != annotator.NotFound {
				return err
			}
		}
	}
	return nil
}

// entries returns entries by id. They must be in the glossary.
func (c *Curator) entries(ctx context.Context, ids []int64) (map[int64]*annotator.Entry, error) {
	found, err := c.Entries.Entries(ctx, ids)
	if err != nil {
		return nil, err
	}
	for _, id := range ids {
		if found[id] == nil {
			return nil, annotator.Errorf(annotator.Violation, "entry %d is not in the codex any more", id).
				WithReason(annotator.ReasonDatabaseDamaged)
		}
	}
	return found, nil
}

// posts are those that were read for a question: entries in story order share scenes and posts.
type posts struct {
	*Curator
	scenes    map[annotator.Order]scene
	neighbors map[neighbor]scene
	byID      map[int64]*annotator.Post
}

// neighbor is some scenes after another, or before it.
type neighbor struct {
	of       annotator.Order
	distance int
}

// scene is a scene of the story with its posts.
type scene struct {
	n     int
	order annotator.Order
	posts []annotator.Post
}

func (c *Curator) newPosts() *posts {
	return &posts{c, map[annotator.Order]scene{}, map[neighbor]scene{}, map[int64]*annotator.Post{}}
}

// show gives a candidate its posts: the one in which it appears first, and those of its first quotations. If all of
// them are in one post, the posts around it are shown, which explain it; without any, those around the first.
func (p *posts) show(ctx context.Context, c *Candidate, quotes int) error {
	s, first, err := p.first(ctx, &c.Entry)
	if err != nil {
		return err
	}
	c.First = s.posts[first].ID
	c.Posts = []annotator.Post{s.posts[first]}
	all := c.evidence(math.MaxInt)
	if !slices.ContainsFunc(all, func(e support) bool { return e.Post != all[0].Post }) {
		if err := p.showAround(ctx, c, s, first, all); err != nil {
			return err
		}
	}
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
	return nil
}

// showAround gives a candidate the posts around the one that has all quotations. If there is none, or if no scene has
// it, these are the posts around the first.
func (p *posts) showAround(ctx context.Context, c *Candidate, s scene, at int, quotations []support) error {
	if len(quotations) > 0 {
		quoted, err := p.scene(ctx, quotations[0].claim.From.Order())
		if err != nil {
			return err
		}
		if i := slices.IndexFunc(quoted.posts, func(post annotator.Post) bool {
			return post.ID == quotations[0].Post
		}); i >= 0 {
			s, at = quoted, i
		}
	}
	c.Center = s.posts[at].ID
	around, err := p.around(ctx, s, at)
	if !slices.ContainsFunc(around, func(post annotator.Post) bool { return post.ID == c.First }) {
		around = append(c.Posts, around...)
	}
	c.Posts = around
	return err
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

// around returns a post of a scene with its neighbours in the story, also those in other scenes as far as the run has
// read. A scene that it has not read ends them.
func (p *posts) around(ctx context.Context, s scene, at int) ([]annotator.Post, error) {
	posts, first, last := s.posts, s.order, s.order
	for at < neighbors {
		former, err := p.readScene(ctx, first, -1)
		if err != nil {
			return nil, err
		}
		if former.n == 0 {
			break
		}
		first, posts, at = former.order, slices.Concat(former.posts, posts), at+len(former.posts)
	}
	for len(posts) <= at+neighbors {
		next, err := p.readScene(ctx, last, 1)
		if err != nil {
			return nil, err
		}
		if next.n == 0 {
			break
		}
		last, posts = next.order, slices.Concat(posts, next.posts)
	}
	return posts[max(0, at-neighbors):min(len(posts), at+neighbors+1)], nil
}

// readScene returns the neighbor of a scene, if the run has read it; else the zero scene. A decision is dated to the
// present scene, so it depends on nothing after that.
func (p *posts) readScene(ctx context.Context, order annotator.Order, distance int) (s scene, err error) {
	at := neighbor{order, distance}
	if s, known := p.neighbors[at]; known {
		return s, nil
	}
	row, err := p.Scenes.Neighbor(ctx, order, distance)
	switch {
	case annotator.KindOf(err) == annotator.NotFound:
		err = nil
	case err == nil && row.State == annotator.SceneRecorded && row.Order <= p.Scene.Order:
		s, err = p.read(ctx, row)
	}
	if err == nil {
		p.neighbors[at] = s
	}
	return s, err
}

// scene returns the scene with an order, with its posts.
func (p *posts) scene(ctx context.Context, order annotator.Order) (scene, error) {
	s, known := p.scenes[order]
	if known {
		return s, nil
	}
	row, err := p.Scenes.At(ctx, order)
	if err != nil {
		return s, err
	}
	return p.read(ctx, row)
}

// read returns a scene with its posts.
func (p *posts) read(ctx context.Context, row *annotator.SceneRow) (s scene, err error) {
	if s, known := p.scenes[row.Order]; known {
		return s, nil
	}
	s = scene{n: row.N, order: row.Order}
	s.posts, err = p.Posts.Scene(ctx, row.Thread.ID, row.Posts)
	p.scenes[row.Order] = s
	return s, err
}

// first returns the scene in which an entry appears first, and the index of the post that names it first. If no post
// names it, that is the post at the place of its first claim.
func (p *posts) first(ctx context.Context, e *annotator.Entry) (scene, int, error) {
	s, err := p.scene(ctx, e.First.Order())
	if err != nil {
		return s, 0, err
	}
	at := firstNaming(s.posts, e)
	if at < 0 {
		at = min(e.First.Rank(), len(s.posts)-1)
	}
	return s, at, nil
}
