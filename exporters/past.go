package exporters

import (
	"cmp"
	"context"
	"iter"
	"slices"

	"annotator"
	"annotator/codex"
)

// Past is how the codex came about, as far as it goes. Of a format with states, the state of a scene is the codex as
// --as-of has it at the scene's end: of what had been written by then, and not of what the codex has made of it since.
type Past interface {
	// Histories yields the revisions of each entry, oldest first.
	Histories(ctx context.Context) iter.Seq2[[]annotator.Revision, error]
	// Episodes returns all stories so far and summaries of threads, oldest first, and the scene from whose end each is known.
	Episodes(ctx context.Context) ([]annotator.Episode, []int, error)
}

// life is an entry over the story.
type life struct {
	entry annotator.Entry
	next  []annotator.Revision // those that the entry lacks
}

// lives yields the entries over the story, those as well that the codex no longer has.
func (c *Codex) lives(ctx context.Context) iter.Seq2[*life, error] {
	return func(yield func(*life, error) bool) {
		for revisions, err := range c.Past.Histories(ctx) {
			if err != nil {
				yield(nil, err)
				return
			}
			if !yield(&life{annotator.Entry{ID: revisions[0].Entry, Status: annotator.Tentative}, revisions}, nil) {
				return
			}
		}
	}
}

// at returns the entry as of the end of a scene, and the revisions that made it so since the call before. Scenes must
// rise from call to call, and the entry is valid until the next. It has no revisions before it is known.
func (l *life) at(scene int) (*annotator.Entry, []annotator.Revision, error) {
	n := 0
	for ; n < len(l.next) && l.next[n].Seen <= scene; n++ {
		if err := codex.Apply(&l.entry, &l.next[n]); err != nil {
			return nil, nil, err
		}
	}
	since := l.next[:n]
	l.next = l.next[n:]
	return &l.entry, since, nil
}

// has reports whether the codex had an entry as it was at some time.
func (c *Codex) has(e *annotator.Entry) bool { return e.Revisions > 0 && c.Selection.Has(e) }

// summariesAt returns the summaries as of the end of a scene, out of those that Past has.
func summariesAt(scene int, episodes []annotator.Episode, known []int) *Summaries {
	var story *annotator.Episode
	newest := map[int64]annotator.Episode{} // by thread
	for i := range episodes {
		switch {
		case known[i] > scene:
		case episodes[i].Kind == annotator.EpisodeCumulative:
			story = &episodes[i]
		default:
			newest[episodes[i].Thread] = episodes[i]
		}
	}
	var threads []annotator.Episode
	for _, e := range newest {
		threads = append(threads, e)
	}
	slices.SortFunc(threads, func(a, b annotator.Episode) int {
		return cmp.Or(cmp.Compare(a.FromScene, b.FromScene), cmp.Compare(a.ID, b.ID))
	})
	return NewSummaries(story, threads)
}

// sceneOnly is the position of a place for formats that show no more of it.
func sceneOnly(p annotator.Place) annotator.Position { return annotator.Position{Scene: p.Scene()} }
