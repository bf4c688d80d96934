package web

import (
	"context"
	"slices"

	"annotator"
	"annotator/view"
)

// contents is the list of the chapters, with who appears in each.
type contents struct {
	part
	Chapters []listedChapter
}

// listedChapter is a chapter in a list.
type listedChapter struct {
	ID    int64
	Label string
	Who   []*annotator.Entry // who is mentioned most, of the cast
}

// listSize is the number of chapters on a page of the list.
const listSize = 200

func showStory(r *request) (*page, error) {
	all, err := r.view.Threads(r.Context())
	if err != nil {
		return nil, err
	}
	s := &contents{part: r.part(len(all), listSize)}
	cast, err := r.view.cast(r.Context(), castInLists)
	if err == nil {
		s.Chapters, err = r.view.chapters(r.Context(), all, s.From, s.To, cast)
	}
	return &page{template: "story", Title: "Chapters", Section: "story", Data: s}, err
}

// castInLists is the number of entries of which lists of chapters name those that appear.
const castInLists = 40

// whoInLists is the number of entries that a list names for a chapter.
const whoInLists = 4

// cast returns the entries that the story has most of, without their claims.
func (v *codexView) cast(ctx context.Context, size int) ([]*annotator.Entry, error) {
	mentioned, err := v.Foremost(ctx, size)
	if err != nil {
		return nil, err
	}
	ids := idsOf(mentioned, func(m *view.EntryCount) int64 { return m.Entry })
	entries, err := v.Headings(ctx, ids)
	return present(ids, entries), err
}

// chapters lists some of all chapters, with those of the cast that appear in each.
func (v *codexView) chapters(ctx context.Context, all []view.ThreadSpan, from, to int,
	cast []*annotator.Entry,
) ([]listedChapter, error) {
	ids := make([]int64, len(cast))
	entries := map[int64]*annotator.Entry{}
	for i, e := range cast {
		ids[i], entries[e.ID] = e.ID, e
	}
	if from == to {
		return nil, nil
	}
	counts, err := v.MentionCountsIn(ctx, ids, all[from].Order, all[to-1].Order)
	if err != nil {
		return nil, err
	}
	slices.SortStableFunc(counts, func(a, b view.ThreadCount) int { return b.Count - a.Count })
	who := map[int64][]*annotator.Entry{}
	for _, c := range counts {
		if len(who[c.Thread]) < whoInLists {
			who[c.Thread] = append(who[c.Thread], entries[c.Entry])
		}
	}
	list := make([]listedChapter, 0, to-from)
	for i := from; i < to; i++ {
		t := &all[i]
		list = append(list, listedChapter{t.ID, chapterLabel(i+1, t.Title), who[t.ID]})
	}
	return list, nil
}
