package web

import (
	"context"
	"slices"
	"sync"
	"unicode/utf8"

	"annotator/context/mention"
	"annotator/storage"
)

// nameCache keeps the indexes of names that were used last: making one reads every name.
type nameCache struct {
	mu      sync.Mutex
	indexes []cachedNames // the newest last
}

type cachedNames struct {
	moment  storage.Moment
	updated int64 // when the run had last written
	find    func(text string) []mention.Occurrence
}

// maxIndexes is the number of indexes that are kept of a database: each takes about 200 bytes a name.
const maxIndexes = 3

// names returns a function that finds the names in a text that are known up to the limit of a view.
func (c *nameCache) names(ctx context.Context, v *view) (func(text string) []mention.Occurrence, error) {
	pulse, err := v.book.DB.Run.Pulse(ctx)
	if err != nil {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, known := range c.indexes {
		if known.moment == v.Moment() && known.updated == pulse.Updated {
			return known.find, nil
		}
	}
	names, err := v.Names(ctx)
	if err != nil {
		return nil, err
	}
	index := mention.New()
	for id, list := range names {
		index.SetNames(id, list)
	}
	var using sync.Mutex // an index is for one goroutine
	find := func(text string) []mention.Occurrence {
		using.Lock()
		defer using.Unlock()
		return index.Occurrences(text)
	}
	c.indexes = append(c.indexes[max(0, len(c.indexes)+1-maxIndexes):len(c.indexes):len(c.indexes)], cachedNames{v.Moment(), pulse.Updated, find})
	return find, nil
}

// linker chooses the names in the posts of a scene that become links.
type linker struct {
	find    func(text string) []mention.Occurrence
	density string
	linked  map[namedSpan]bool // what has a link in the scene: entries, and names of several
	except  int64              // the entry whose text it is, which is not linked; 0: none
}

func (r *request) newLinker(density string) (*linker, error) {
	l := &linker{density: density, linked: map[namedSpan]bool{}}
	if density == namesNone {
		return l, nil
	}
	var err error
	l.find, err = r.book.names.names(r.Context(), r.view)
	return l, err
}

// spans returns a text in pieces, with links to the entries that it names.
func (l *linker) spans(text string) []span {
	m := marker{body: []rune(text), links: l.links(text)}
	return m.spans()
}

// links returns the links in a text, in order. A name that several entries have is marked as ambiguous.
func (l *linker) links(text string) (links []namedSpan) {
	if l.find == nil {
		return nil
	}
	at, runes := 0, 0 // the same place in bytes and in code points
	for _, o := range l.find(text) {
		if last := len(links) - 1; last >= 0 && o.Start < at {
			if o.Start == links[last].startByte && o.End == at {
				links[last].ambiguous = true
			}
			continue // it overlaps the name before
		}
		start := runes + utf8.RuneCountInString(text[at:o.Start])
		runes = start + utf8.RuneCountInString(text[o.Start:o.End])
		at = o.End
		links = append(links, namedSpan{start: start, end: runes, entry: o.ID, name: text[o.Start:o.End], startByte: o.Start})
	}
	links = slices.DeleteFunc(links, func(s namedSpan) bool { return s.entry == l.except })
	if l.density == namesAll {
		return links
	}
	first := links[:0]
	for _, link := range links {
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
