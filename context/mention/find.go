package mention

import (
	"cmp"
	"slices"
)

// word is one word of a text as the index knows it.
type word struct {
	start, end int   // in bytes
	number     int32 // 0 if no name holds it
	stems      int32 // where those of the word begin in the list of all
	capital    bool
	attached   bool
	paragraph  bool
}

// reading is a text as the index knows it. A stem is what a word is without a possessive ending or without particles.
type reading struct {
	words []word
	stems []int32 // the numbers of those that names hold, by word, the longest first; a 0 stands behind each word's
}

// stemsOf returns the numbers of a word's stems.
func (r *reading) stemsOf(w *word) []int32 {
	return r.stems[w.stems:][:slices.Index(r.stems[w.stems:], 0)]
}

// read returns the words of a text.
func (t *trie) read(text string) reading {
	r := reading{words: make([]word, 0, len(text)/5+1), stems: []int32{0}} // words without stems point to this 0
	for s := (scanner{text: text}); s.next(); {
		w := word{
			start: s.start, end: s.end, number: t.numbers[string(s.folded)],
			capital: s.capitalised(), attached: s.attached, paragraph: s.paragraph,
		}
		before := len(r.stems)
		if r.stems = t.appendStems(r.stems, s.folded); len(r.stems) > before {
			w.stems, r.stems = int32(before), append(r.stems, 0)
		}
		r.words = append(r.words, w)
	}
	return r
}

// Match is an id whose names occur in a text.
type Match struct {
	ID    int64
	Words int // of its longest name that occurs; adjacent characters of a script without word boundaries are one
	Count int // occurrences of all its names
	First int // offset of the first occurrence, in bytes
}

// find returns what Index.Find does.
func (t *trie) find(text string) []Match {
	r := t.read(text)
	found := tally{rank: map[int64]int{}}
	covered := 0
	for i := range r.words {
		first := &r.words[i]
		if first.number == 0 && first.stems == 0 {
			continue
		}
		// A name that begins later and ends no later stands inside the one before.
		if h := t.longest(&r, i); h.end > covered {
			covered = h.end
			found.count(t.nodes[h.node], h, first)
		}
	}
	return found.matches()
}

// hit is a name found in a text.
type hit struct {
	node  int32
	words int
	end   int // in bytes; 0 if nothing was found
}

// longest returns the longest name that begins with the given word of a text.
func (t *trie) longest(r *reading, first int) hit {
	var best hit
	words := r.words[first:]
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
		for k, stem := range r.stemsOf(w) {
			if last := t.child(node, stem, attached); t.owned(last, &words[0]) {
				best = hit{last, length, w.end - 1 - k} // only the order of the lengths matters
				break
			}
		}
		if node = t.child(node, w.number, attached); node == 0 {
			break
		}
		if t.owned(node, &words[0]) {
			best = hit{node, length, w.end}
		}
	}
	return best
}

// owned reports whether the name at a node stands for an id where it begins with the given word.
func (t *trie) owned(node int32, first *word) bool {
	for _, o := range t.nodes[node] {
		if o.in(first) {
			return true
		}
	}
	return false
}

// in reports whether the owner's name may begin with the word, as the text writes it.
func (o owner) in(first *word) bool { return first.capital || !o.capital }

// tally collects matches by id.
type tally struct {
	rank map[int64]int // of an id among the matches
	list []Match
}

// count counts an occurrence for each of a name's owners.
func (t *tally) count(owners []owner, h hit, first *word) {
	for _, o := range owners {
		if !o.in(first) {
			continue
		}
		i, seen := t.rank[o.id]
		if !seen {
			i = len(t.list)
			t.rank[o.id] = i
			t.list = append(t.list, Match{ID: o.id, First: first.start})
		}
		t.list[i].Count++
		t.list[i].Words = max(t.list[i].Words, h.words)
	}
}

// matches returns what was counted, best first.
func (t *tally) matches() []Match {
	slices.SortFunc(t.list, func(a, b Match) int {
		return cmp.Or(cmp.Compare(b.Words, a.Words), cmp.Compare(b.Count, a.Count),
			cmp.Compare(a.First, b.First), cmp.Compare(a.ID, b.ID))
	})
	return t.list
}
