package runner

import (
	"cmp"
	"context"
	"slices"

	"annotator"
	"annotator/context/prompt"
	"annotator/curator"
	"annotator/storage"
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
		purpose: purposeCurate, most: r.Config.Curator.MaxTokens, temperature: r.Config.Curator.Temperature, frame: r.frame,
	}
	if r.Config.Curator.Prompt == CuratorReplaced {
		f.question.frame = frame{system: curator.System(), size: prompt.Size(curator.System(), "")}
	}
	return f, nil
}

// candidates gathers what the judge is shown with entries. They come in story order, so that neighbours share what is read for them.
func (f *fork) candidates(ctx context.Context, open []storage.Undecided) (curator.Batch, error) {
	names, err := f.names.Index(ctx)
	if err != nil {
		return nil, err
	}
	ids := make([]int64, len(open))
	for i := range open {
		ids[i] = open[i].Entry
	}
	entries, err := f.entries(ctx, ids)
	if err != nil {
		return nil, err
	}
	batch, scenes, closest := make(curator.Batch, len(open)), map[int][]annotator.Post{}, make([][]int64, len(open))
	for i, id := range ids {
		c := &curator.Candidate{Entry: *entries[id]}
		if c.First, err = f.firstNaming(ctx, &c.Entry, scenes); err != nil {
			return nil, err
		}
		if i > 0 && batch[i-1].First == c.First {
			c.Posts = batch[i-1].Posts
		} else if c.Posts, err = f.around(ctx, c.First); err != nil {
			return nil, err
		}
		closest[i] = names.Similar(c.Entry.ID, c.Names(), curator.MaxSimilar)
		batch[i] = c
	}
	similar, err := f.entries(ctx, slices.Concat(closest...))
	if err != nil {
		return nil, err
	}
	for i, c := range batch {
		for _, id := range closest[i] {
			c.Similar = append(c.Similar, *similar[id])
		}
	}
	return batch, nil
}

// entries returns entries by id. They must be in the glossary.
func (f *fork) entries(ctx context.Context, ids []int64) (map[int64]*annotator.Entry, error) {
	found, err := f.Store.Glossary.Entries(ctx, ids)
	if err != nil {
		return nil, err
	}
	byID := make(map[int64]*annotator.Entry, len(found))
	for i := range found {
		byID[found[i].ID] = &found[i]
	}
	for _, id := range ids {
		if byID[id] == nil {
			return nil, annotator.Errorf(annotator.Violation, "entry %d is not in the glossary any more", id).
				WithAdvice("check the database with `annotator verify`")
		}
	}
	return byID, nil
}

// firstNaming returns the post that an entry appears in first: the one of its first scene that names it, else the one that it
// was dated by. The posts of scenes that were read are kept in scenes.
func (f *fork) firstNaming(ctx context.Context, e *annotator.Entry, scenes map[int][]annotator.Post) (int64, error) {
	n := max(e.First.Scene(), 1)
	posts, known := scenes[n]
	if !known {
		row, err := f.Store.Scenes.Get(ctx, n)
		if err != nil {
			return 0, err
		}
		if posts, err = f.Corpus.Scene(ctx, row.Thread.ID, row.Posts); err != nil {
			return 0, err
		}
		scenes[n] = posts
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
