package exporters

import (
	"cmp"
	"context"
	"iter"
	"maps"
	"slices"

	"annotator"
	"annotator/codex"
)

// History reads the history of the codex up to its limit. It restores the codex as of the end of a scene, which has
// only the revisions that were made by then.
type History interface {
	// Histories yields the revisions of each entry, oldest first.
	Histories(ctx context.Context) iter.Seq2[[]annotator.Revision, error]
	// Episodes returns all summaries of the story and of threads, oldest first. Each is known from the end of a scene.
	Episodes(ctx context.Context) ([]annotator.Episode, []annotator.Order, error)
	// MentionsOf returns how often the story mentions entries, by their ids.
	MentionsOf(ctx context.Context, entries []int64) (map[int64]int, error)
}

// entryHistory replays the revisions of an entry.
type entryHistory struct {
	entry annotator.Entry
	made  []annotator.Revision // applied, in the order of their ids
	next  []annotator.Revision // not applied yet, in the order in which a reader of the story learns of them
}

// histories yields all entries over the story, also those that the codex no longer has.
func (c *Codex) histories(ctx context.Context) iter.Seq2[*entryHistory, error] {
	return func(yield func(*entryHistory, error) bool) {
		for revisions, err := range c.History.Histories(ctx) {
			if err != nil {
				yield(nil, err)
				return
			}
			slices.SortStableFunc(revisions, func(a, b annotator.Revision) int { return cmp.Compare(a.Seen, b.Seen) })
			if !yield(&entryHistory{entry: firstState(revisions), next: revisions}, nil) {
				return
			}
		}
	}
}

// firstState is the entry of some revisions before any of them.
func firstState(revisions []annotator.Revision) annotator.Entry {
	return annotator.Entry{ID: revisions[0].Entry, Status: annotator.Tentative}
}

// at returns the entry as of the end of a scene, and the revisions since the previous call. Scenes must ascend from
// call to call, and the entry is valid until the next call. Before its first scene it has no revisions.
//
// A person's edit may be seen from an earlier scene than revisions before it. Then the entry is replayed.
func (l *entryHistory) at(scene annotator.Order) (*annotator.Entry, []annotator.Revision, error) {
	n := 0
	for n < len(l.next) && l.next[n].Seen <= scene {
		n++
	}
	since := l.next[:n]
	l.next = l.next[n:]
	byID := func(a, b annotator.Revision) int { return cmp.Compare(a.ID, b.ID) }
	slices.SortFunc(since, byID)
	apply := since
	if former := len(l.made); n > 0 && former > 0 && since[0].ID < l.made[former-1].ID {
		l.entry, apply = firstState(since), append(l.made, since...)
		slices.SortFunc(apply, byID)
		l.made = nil
	}
	for i := range apply {
		if err := codex.Apply(&l.entry, &apply[i]); err != nil {
			return nil, nil, err
		}
	}
	l.made = append(l.made, apply...)
	return &l.entry, since, nil
}

// has reports whether the codex has an earlier version of an entry.
func (c *Codex) has(e *annotator.Entry) bool { return e.Revisions > 0 && c.Selection.Has(e) }

// summariesAt returns the summaries as of the end of a scene, given the result of Episodes.
func summariesAt(scene annotator.Order, episodes []annotator.Episode, known []annotator.Order) *Summaries {
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
	threads := slices.SortedFunc(maps.Values(newest), func(a, b annotator.Episode) int {
		return cmp.Or(cmp.Compare(a.From, b.From), cmp.Compare(a.ID, b.ID))
	})
	return NewSummaries(story, threads)
}

// count returns how many scenes the story has up to one. It is the number of the scene unless scenes were inserted.
func (c *Codex) count(scene annotator.Order) int {
	n, found := slices.BinarySearchFunc(c.Scenes, scene, func(s annotator.SceneOrder, order annotator.Order) int {
		return cmp.Compare(s.Order, order)
	})
	if found {
		n++
	}
	return n
}

// sceneOf is the position of a place for formats that show only the number of the scene.
func (c *Codex) sceneOf(p annotator.Place) (position annotator.Position) {
	if n := c.count(p.Order()); n > 0 {
		position.Scene = c.Scenes[n-1].N
	}
	return position
}

// placeOf is the position of a place with its thread, for a format that counts the scenes in story order.
func (c *Codex) placeOf(p annotator.Place) annotator.Position {
	position := annotator.Position{Scene: c.count(p.Order())}
	number := c.sceneOf(p).Scene
	at := slices.IndexFunc(c.Chapters, func(t Chapter) bool { return t.FromScene <= number && number <= t.ToScene })
	if at >= 0 {
		position.Thread = c.Chapters[at].Thread
	}
	return position
}
