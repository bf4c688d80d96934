package mention

import (
	"cmp"
	"slices"
)

// word is one word of a text as the index knows it.
type word struct {
	start, end int32 // in bytes
	number     int32 // 0 if no name holds it
	from, to   int32 // where its stems are in those of the text
	capital    bool
	attached   bool
	paragraph  bool
	inside     bool // of a sentence: behind a word, with nothing but a space or a comma between them
	named      bool // it belongs to a name that was found
}

// reading are the words of a text, and the numbers of their stems that names hold: by word, the longest first. Neither
// has pointers, which would cost more than the look-ups.
type reading struct {
	words []word
	stems []int32
}

// read returns the words of a text. The caller gives them back to done.
func (x *Index) read(text string) *reading { return x.readEach(text, func([]byte) {}) }

// done keeps the memory of a reading for the next one.
func (x *Index) done(r *reading) { x.spare.Put(r) }

// readEach is read, and calls a function with each word as it is compared. The function must not keep it.
func (x *Index) readEach(text string, each func(folded []byte)) *reading {
	r, _ := x.spare.Get().(*reading)
	if r == nil {
		r = &reading{}
	}
	words, stems := slices.Grow(r.words[:0], len(text)/5+1), r.stems[:0]
	for s := (scanner{text: text}); s.next(); {
		each(s.folded)
		from := int32(len(stems))
		stems = x.appendStems(stems, s.folded)
		words = append(words, word{
			start: int32(s.start), end: int32(s.end), number: x.numbers[string(s.folded)], from: from,
			to:      int32(len(stems)),
			capital: s.capitalised(), attached: s.attached, paragraph: s.paragraph, inside: s.inside,
		})
	}
	r.words, r.stems = words, stems
	return r
}

// Match is an id whose names occur in a text.
type Match struct {
	ID    int64
	Words int // of its longest name that occurs; adjacent characters of a script without word boundaries are one
	Count int // occurrences of all its names
	First int // offset of the first occurrence, in bytes
	// Shared says that the text has only a part of its names, which may mean others, too.
	Shared bool
}

// Find returns the entries whose names the text contains, best first: by words, count, first occurrence and id. A name
// inside a longer one does not count there: "Sherlock Holmes" is no occurrence of "Holmes". Names that overlap and
// names of several entries all count. A name is found only where the text capitalises the last word that the name
// capitalises. So an entry "Dawn" is not found in "at dawn", nor "The Rest" in "the rest of it". A name without
// capitals is found in any case. The last word of a name may be a possessive in the text, or have particles behind it
// where the language writes them so. A name may run over the end of a line, but not over a blank line.
func (x *Index) Find(text string) []Match {
	r := x.read(text)
	defer x.done(r)
	var found matches
	x.findNames(r.words, r.stems, found.addHit)
	return found.best()
}

// Occurrence is a place of a name of an entry in a text.
type Occurrence struct {
	ID         int64
	Start, End int // offsets in bytes; a possessive or a particle of the last word belongs to it
}

// Occurrences returns every place of a name in a text, as Find finds them, in their order. A name of several entries is
// an occurrence of each.
func (x *Index) Occurrences(text string) []Occurrence {
	r := x.read(text)
	defer x.done(r)
	var found []Occurrence
	x.findNames(r.words, r.stems, func(id int64, h hit, start int32) {
		found = append(found, Occurrence{id, int(start), int(h.last)})
	})
	return found
}

// findNames finds whole names, and marks the words that belong to one. It calls add for each entry that a name means,
// with the offset at which the name begins.
func (x *Index) findNames(words []word, stems []int32, add func(id int64, h hit, start int32)) {
	covered := int32(0)
	for i := range words {
		words[i].named = words[i].start < covered
		if words[i].number == 0 && words[i].from == words[i].to {
			continue
		}
		h := x.longest(words[i:], stems)
		if h.end <= covered {
			continue // it is inside the name before
		}
		covered = h.end
		words[i].named = true
		for _, o := range x.nodes[h.node] {
			if o.in(words[i:]) {
				add(o.id, h, words[i].start)
			}
		}
	}
}

// matches are the entries found in a text.
type matches struct {
	list []Match
	rank map[int64]int // of an entry in the list
}

func (m *matches) addHit(id int64, h hit, start int32) { m.add(id, h.words, int(start)) }

// add adds an occurrence of a name with a number of words.
func (m *matches) add(id int64, words, at int) {
	i, seen := m.rank[id]
	if !seen {
		if m.rank == nil {
			m.rank = map[int64]int{}
		}
		i = len(m.list)
		m.rank[id] = i
		m.list = append(m.list, Match{ID: id, First: at})
	}
	m.list[i].Count++
	m.list[i].Words = max(m.list[i].Words, words)
}

func (m *matches) best() []Match {
	slices.SortFunc(m.list, func(a, b Match) int {
		return cmp.Or(cmp.Compare(b.Words, a.Words), cmp.Compare(b.Count, a.Count),
			cmp.Compare(a.First, b.First), cmp.Compare(a.ID, b.ID))
	})
	return m.list
}

// hit is a name found in a text.
type hit struct {
	node  int32
	words int
	end   int32 // in bytes, less for an inflected word; 0 if nothing was found
	last  int32 // where the last word ends
}

// longest returns the longest name at the beginning of words.
func (x *Index) longest(words []word, stems []int32) hit {
	var best hit
	node, length := int32(0), 0
	for i := range words {
		w := &words[i]
		if i > 0 && w.paragraph {
			break
		}
		attached := i > 0 && w.attached
		if !attached {
			length++
		}
		for k, stem := range stems[w.from:w.to] {
			if last := x.edges[edgeOf(node, stem, attached)]; x.owned(last, words) {
				best = hit{last, length, w.end - 1 - int32(k), w.end} // only the order of the lengths matters
				break
			}
		}
		if w.number == 0 { // faster than to look for it
			break
		}
		if node = x.edges[edgeOf(node, w.number, attached)]; node == 0 {
			break
		}
		if x.owned(node, words) {
			best = hit{node, length, w.end, w.end}
		}
	}
	return best
}

// owned reports whether the name at a node means an entry where it begins with the given words.
func (x *Index) owned(node int32, words []word) bool {
	return slices.ContainsFunc(x.nodes[node], func(o owner) bool { return o.in(words) })
}

// in reports whether the owner's name may be the words, as the text writes them.
func (o owner) in(words []word) bool { return o.capital == 0 || words[o.capital-1].capital }
