package web

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"annotator"
	"annotator/codex"
	"annotator/context/mention"
	"annotator/storage"
)

// namesIn returns the names in some scenes of a chapter, by the place of the post, as known when each scene was read.
// An entry that was merged since is linked to the one that has it now. One that was retired is not linked.
func (r *request) namesIn(ctx context.Context, scenes []annotator.SceneRow,
	density string,
) (map[annotator.Place][]namedSpan, error) {
	if density == namesNone {
		return nil, nil
	}
	found, err := r.view.MentionsThen(ctx, scenes[0].Order, scenes[len(scenes)-1].Order)
	if err != nil {
		return nil, err
	}
	now, terms, err := r.view.now(ctx, idsOf(found, func(m *storage.Mention) int64 { return m.Entry }))
	posts := map[annotator.Place][]namedSpan{}
	for _, m := range found {
		if to := now[m.Entry]; to != 0 {
			name := namedSpan{start: m.Start, end: m.End, entry: to, term: terms[to]}
			if to != m.Entry {
				name.then = m.Entry
			}
			posts[m.Place] = append(posts[m.Place], name)
		}
	}
	return posts, err
}

// now returns for each of some entries the one that has its facts: itself, or the one that it was merged into. It
// omits entries that were retired. It also returns the terms of entries.
func (v *codexView) now(ctx context.Context, ids []int64) (now map[int64]int64, terms map[int64]string, err error) {
	slices.Sort(ids)
	ids = slices.Compact(ids)
	now, terms = map[int64]int64{}, map[int64]string{}
	for _, id := range ids {
		now[id] = id
	}
	for len(ids) > 0 {
		entries, err := v.Headings(ctx, ids)
		if err != nil {
			return nil, nil, err
		}
		for id, e := range entries {
			terms[id] = e.Term
		}
		var merged []int64
		for from, to := range now {
			e := entries[to]
			switch {
			case !slices.Contains(ids, to):
			case e != nil && e.Status == annotator.Merged:
				now[from] = e.MergedInto
				merged = append(merged, e.MergedInto)
			case e == nil || !e.Status.Live():
				now[from] = 0
			}
		}
		slices.Sort(merged)
		ids = slices.Compact(merged)
	}
	return now, terms, nil
}

// linker selects the names in the posts of a scene that become links.
type linker struct {
	density string
	linked  map[namedSpan]bool // entries and ambiguous names with a link in the scene
}

// links returns the names in a text that become links, in order and without overlaps.
func (l *linker) links(body []rune, names []namedSpan) []namedSpan {
	names = slices.DeleteFunc(names, func(s namedSpan) bool { return s.end > len(body) }) // the corpus was changed
	names = distinct(names)
	setNames(names, body)
	names = slices.DeleteFunc(names, namedSpan.isCommon)
	if l.density == namesAll {
		return names
	}
	first := names[:0]
	for _, link := range names {
		key := namedSpan{entry: link.entry}
		if link.ambiguous {
			key = namedSpan{name: link.name}
		}
		if !l.linked[key] {
			l.linked[key] = true
			first = append(first, link)
		}
	}
	return first
}

// isCommon reports whether a name is a common word, as "the girl" or "Captain", and not the term of its entry. The
// story uses it of others, too, and a wrong link is worse than none.
func (s namedSpan) isCommon() bool {
	return mention.Common(s.name) && !strings.HasPrefix(codex.Normalize(s.name), codex.Normalize(s.term))
}

// setNames sets the texts of names.
func setNames(names []namedSpan, body []rune) {
	for i := range names {
		names[i].name = string(body[names[i].start:names[i].end])
	}
}

// distinct sorts names and joins those at the same place to an ambiguous one. It removes a name that overlaps the one
// before.
func distinct(names []namedSpan) []namedSpan {
	slices.SortStableFunc(names, func(a, b namedSpan) int { return cmp.Or(a.start-b.start, b.end-a.end) })
	kept := names[:0]
	for _, name := range names {
		last := len(kept) - 1
		switch {
		case last < 0 || name.start >= kept[last].end:
			kept = append(kept, name)
		case name.start == kept[last].start && name.end == kept[last].end:
			kept[last].ambiguous = true
		}
	}
	return kept
}

// termLinker finds the entries that the texts of an entry name. It finds [[Terms]], exact names, and names in any form
// of the entries that are mentioned in the texts' scenes. It does not read all names of a story, which would be slow.
type termLinker struct {
	*request
	self  int64 // the entry, which is not linked; 0: none
	names *mention.Index
	terms map[string]int64 // entries by terms in brackets; 0: none, or several
}

// newTermLinker returns a linker for some texts about some scenes.
func (r *request) newTermLinker(ctx context.Context, self int64, texts []string,
	scenes []annotator.Order,
) (*termLinker, error) {
	l := &termLinker{request: r, self: self, names: mention.New(), terms: map[string]int64{}}
	slices.Sort(scenes)
	mentioned, err := r.view.MentionedIn(ctx, slices.Compact(scenes))
	if err != nil {
		return nil, err
	}
	called, err := r.view.Called(ctx, phrases(texts))
	if err != nil {
		return nil, err
	}
	ids := append(called, mentioned...)
	slices.Sort(ids)
	if ids = slices.Compact(ids); len(ids) == 0 {
		return l, nil
	}
	names, err := r.view.Names(ctx, ids...)
	for id, list := range names {
		l.names.SetNames(id, list)
	}
	return l, err
}

// maxNameWords is the maximum number of words of an exact name.
const maxNameWords = 5

// phrases returns the possible names in texts, normalised: up to maxNameWords words, without punctuation around them
// and a possessive ending.
func phrases(texts []string) []string {
	found := map[string]bool{}
	for _, text := range texts {
		words := strings.Fields(codex.Normalize(text))
		for from := range words {
			for to := from + 1; to <= min(from+maxNameWords, len(words)); to++ {
				phrase := strings.TrimFunc(strings.Join(words[from:to], " "), unicode.IsPunct)
				found[strings.TrimSuffix(strings.TrimSuffix(phrase, "'s"), "’s")] = true
			}
		}
	}
	delete(found, "")
	return slices.Collect(maps.Keys(found))
}

// spans splits a text at its links and the names in it, which become links to entries.
func (l *termLinker) spans(ctx context.Context, text string) (spans []span, err error) {
	codex.ReplaceLinks(text, func(plain string) { spans = append(spans, l.named(plain)...) }, func(name, shown string) {
		entry, failed := l.term(ctx, strings.TrimSpace(name))
		spans, err = append(spans, span{Text: shown, Entry: entry}), cmp.Or(err, failed)
	})
	return spans, err
}

// term returns the entry that a term in brackets is a link to; 0 for none.
func (l *termLinker) term(ctx context.Context, term string) (int64, error) {
	id, known := l.terms[term]
	if known {
		return id, nil
	}
	e, err := l.view.LedTo(ctx, term)
	if e != nil && e.ID != l.self {
		id = e.ID
	}
	l.terms[term] = id
	return id, err
}

// named splits a text at the names in it.
func (l *termLinker) named(text string) []span {
	body := []rune(text)
	at, runes := 0, 0 // one offset, in bytes and in code points
	var names []namedSpan
	for _, o := range l.names.Occurrences(text) {
		runes += utf8.RuneCountInString(text[at:o.Start])
		at = o.Start
		names = append(names, namedSpan{
			start: runes, end: runes + utf8.RuneCountInString(text[o.Start:o.End]),
			entry: o.ID,
		})
	}
	names = slices.DeleteFunc(distinct(names), func(s namedSpan) bool { return s.entry == l.self && !s.ambiguous })
	setNames(names, body)
	m := marker{body: body, links: names}
	return m.spans()
}

// links reports whether a text names an entry. The spans are those of the text.
func (l *termLinker) links(text string, spans []span, entry int64) bool {
	return slices.ContainsFunc(spans, func(s span) bool { return s.Entry == entry }) ||
		slices.ContainsFunc(l.names.Occurrences(text), func(o mention.Occurrence) bool { return o.ID == entry })
}
