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
}

// read returns the words of a text, and the numbers of their stems that names hold: by word, the longest first. Neither
// has pointers, which would cost more than the look-ups.
func (x *Index) read(text string) (words []word, stems []int32) {
	words = make([]word, 0, len(text)/5+1)
	for s := (scanner{text: text}); s.next(); {
		from := int32(len(stems))
		stems = x.appendStems(stems, s.folded)
		words = append(words, word{
			start: int32(s.start), end: int32(s.end), number: x.numbers[string(s.folded)], from: from, to: int32(len(stems)),
			capital: s.capitalised(), attached: s.attached, paragraph: s.paragraph,
		})
	}
	return words, stems
}

// Match is an id whose names occur in a text.
type Match struct {
	ID    int64
	Words int // of its longest name that occurs; adjacent characters of a script without word boundaries are one
	Count int // occurrences of all its names
	First int // offset of the first occurrence, in bytes
}

// Find returns the entries whose names the text contains, best first: by words, count, first occurrence and id. A name
// that stands inside a longer one does not count there: "Sherlock Holmes" is no occurrence of "Holmes". Names that
// overlap and names of several entries all count. A name of one word that is capitalised is found only where the text
// capitalises it, so that an entry "Dawn" is not found in "at dawn"; all other names are found in any case. The last
// word of a name may be a possessive in the text, or have particles behind it where the language writes them so. A name
// may run over the end of a line, but not over a blank line.
func (x *Index) Find(text string) []Match {
	var found []Match
	rank := map[int64]int{} // of an entry among those found
	words, stems := x.read(text)
	covered := int32(0)
	for i := range words {
		if words[i].number == 0 && words[i].from == words[i].to {
			continue
		}
		h := x.longest(words[i:], stems)
		if h.end <= covered {
			continue // it stands inside the name before
		}
		covered = h.end
		for _, o := range x.nodes[h.node] {
			if !o.in(&words[i]) {
				continue
			}
			at, seen := rank[o.id]
			if !seen {
				at = len(found)
				rank[o.id] = at
				found = append(found, Match{ID: o.id, First: int(words[i].start)})
			}
			found[at].Count++
			found[at].Words = max(found[at].Words, h.words)
		}
	}
	slices.SortFunc(found, func(a, b Match) int {
		return cmp.Or(cmp.Compare(b.Words, a.Words), cmp.Compare(b.Count, a.Count),
			cmp.Compare(a.First, b.First), cmp.Compare(a.ID, b.ID))
	})
	return found
}

// hit is a name found in a text.
type hit struct {
	node  int32
	words int
	end   int32 // in bytes; 0 if nothing was found
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
			if last := x.edges[edgeOf(node, stem, attached)]; x.owned(last, &words[0]) {
				best = hit{last, length, w.end - 1 - int32(k)} // only the order of the lengths matters
				break
			}
		}
		if w.number == 0 { // faster than to look for it
			break
		}
		if node = x.edges[edgeOf(node, w.number, attached)]; node == 0 {
			break
		}
		if x.owned(node, &words[0]) {
			best = hit{node, length, w.end}
		}
	}
	return best
}

// owned reports whether the name at a node stands for an entry where it begins with the given word.
func (x *Index) owned(node int32, first *word) bool {
	return slices.ContainsFunc(x.nodes[node], func(o owner) bool { return o.in(first) })
}

// in reports whether the owner's name may begin with the word, as the text writes it.
func (o owner) in(first *word) bool { return first.capital || !o.capital }
