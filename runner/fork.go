package runner

import (
	"cmp"
	"context"
	"slices"

	"annotator"
	"annotator/context/prompt"
	"annotator/curator"
)

// fork is the window as it stands when a thread ends, put to another use: questions follow it one at a time, and none of them
// is there for the next. Nothing is copied, and nothing of it remains but what was decided.
type fork struct {
	*Runner
	turn     int64           // before which the window is looked at; 0: all of it
	question question        // but for its words
	last     annotator.Post  // that has been read
	at       annotator.Place // of that
}

func (r *Runner) fork(ctx context.Context, turn int64) (*fork, error) {
	row := r.day.row
	f := &fork{Runner: r, turn: turn, at: annotator.PlaceAt(row.N, len(row.Posts)-1)}
	last, err := r.Corpus.Post(ctx, row.Posts[len(row.Posts)-1])
	if err != nil {
		return nil, err
	}
	f.last = *last
	f.question = question{
		purpose: "curate", most: r.Config.Curator.MaxTokens, temperature: r.Config.Curator.Temperature, frame: r.frame,
	}
	if r.Config.Curator.Prompt == CuratorReplaced {
		f.question.frame = frame{system: curator.System(), size: prompt.Size(curator.System(), "")}
	}
	return f, r.learnNames(ctx)
}

// candidate gathers what the judge is shown with an entry.
func (f *fork) candidate(ctx context.Context, id int64) (*curator.Candidate, error) {
	e, err := f.Store.Glossary().Entry(ctx, id)
	if err != nil {
		return nil, err
	}
	c := &curator.Candidate{Entry: *e}
	if c.First, err = f.firstNaming(ctx, e); err != nil {
		return nil, err
	}
	if c.Posts, err = f.around(ctx, c.First); err != nil {
		return nil, err
	}
	c.Similar, err = f.similar(ctx, e)
	return c, err
}

// firstNaming returns the post that an entry appears in first: the one of its first scene that names it, else the one that it
// was dated by.
func (f *fork) firstNaming(ctx context.Context, e *annotator.Entry) (int64, error) {
	row, err := f.Store.Scene(ctx, max(e.First.Scene(), 1))
	if err != nil {
		return 0, err
	}
	posts, err := f.Corpus.Scene(ctx, row.Thread.ID, row.Posts)
	if err != nil {
		return 0, err
	}
	at := curator.FirstNaming(posts, e)
	if at < 0 {
		at = min(e.First.Rank(), len(posts)-1)
	}
	return posts[at].ID, nil
}

// neighbors is how many posts before and after the first appearance the judge is shown.
const neighbors = 3

// around returns the posts around one, without those that are not read yet.
func (f *fork) around(ctx context.Context, post int64) ([]annotator.Post, error) {
	posts, err := f.Corpus.Around(ctx, post, neighbors)
	return slices.DeleteFunc(posts, func(p annotator.Post) bool {
		return p.Thread == f.last.Thread && cmp.Or(cmp.Compare(p.Time, f.last.Time), cmp.Compare(p.ID, f.last.ID)) > 0
	}), err
}

// namesakes is how many entries that share a word of their names are looked at for the similar ones.
const namesakes = 20

func (f *fork) similar(ctx context.Context, e *annotator.Entry) ([]annotator.Entry, error) {
	g := f.Store.Glossary()
	ids, err := g.Namesakes(ctx, e, namesakes)
	if err != nil {
		return nil, err
	}
	closest := curator.Closest(e, append(ids, f.alike.Like(e)...), f.known)
	entries, err := g.Entries(ctx, closest)
	slices.SortFunc(entries, func(a, b annotator.Entry) int {
		return cmp.Compare(slices.Index(closest, a.ID), slices.Index(closest, b.ID))
	})
	return entries, err
}
