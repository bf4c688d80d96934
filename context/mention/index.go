// Package mention finds the entries of a glossary that a text names, and those whose names are similar.
package mention

import (
	"bytes"
	"math"
	"slices"
	"sync"
)

// Index holds the names of entries. Find may run in several goroutines at once; SetNames and Similar change the index.
//
// The names are a trie. A word of any name has a number. An edge of the trie is a row of one hash table: from this
// node, by this word, to that node. Reading a text is then one look-up for each of its words, and more only where a
// name begins. The cost depends on the text, and hardly on the number of names. Adding a name costs the time of its own
// words. Scripts without word boundaries need nothing else: there a character counts as a word.
type Index struct {
	names     map[int64][]string
	numbers   map[string]int32 // of the words of names, folded; from 1
	edges     map[edge]int32   // to a node
	nodes     [][]owner        // whose name ends there; node 0 is the root, where none does
	parts     map[int32][]part // of names of several words, by a word's number
	particles map[string]place // of Korean, folded
	similar   similarity
	changes   int
	spare     sync.Pool // of *reading
}

// edge leads from a node to the next one by a word's number. The number is negative where the word is attached to the
// one before. Two adjacent characters of Han are another name than the same two apart.
type edge struct{ node, word int32 }

func edgeOf(node, number int32, attached bool) edge {
	if attached {
		return edge{node, -number}
	}
	return edge{node, number}
}

// owner is an entry with a name.
type owner struct {
	id      int64
	capital int8 // from 1: the last word that the name capitalises, and that the text has to; 0 for none
}

// part is a word of a longer name.
type part struct {
	id      int64
	capital bool // the name capitalises it
}

// New returns an index without names.
func New() *Index {
	return &Index{
		names: map[int64][]string{}, numbers: map[string]int32{}, edges: map[edge]int32{}, nodes: make([][]owner, 1),
		parts: map[int32][]part{}, particles: particles(), similar: newSimilarity(),
	}
}

// SetNames replaces the names of an entry; without names the entry is removed. A name is identified by its words, in
// any case and Unicode form and with anything between them. A name without a letter or digit is never found in a text.
// The caller removes disambiguators, and leaves the slice unchanged afterwards.
func (x *Index) SetNames(entry int64, names []string) {
	former := x.names[entry]
	if slices.Equal(former, names) {
		return
	}
	x.changes++
	for _, name := range former {
		x.remove(name, entry)
	}
	for _, name := range names {
		x.add(name, entry)
	}
	x.similar.changed[entry] = true
	if x.names[entry] = names; len(names) == 0 {
		delete(x.names, entry)
	}
}

// Changes returns how often the names of an entry have changed. While it is the same, so are the names.
func (x *Index) Changes() int { return x.changes }

// add makes a name mean an entry. To add it again for the same entry only sets its case again.
func (x *Index) add(name string, id int64) {
	node, s, words := int32(0), scanner{text: name}, []part{}
	var numbers []int32
	added := owner{id: id}
	for s.next() {
		number := x.number(s.folded)
		words, numbers = append(words, part{id, s.capitalised()}), append(numbers, x.number(bare(s.folded)))
		if s.capitalised() {
			added.capital = int8(min(len(words), math.MaxInt8))
		}
		way := edgeOf(node, number, s.attached)
		if node = x.edges[way]; node == 0 {
			node = int32(len(x.nodes))
			x.nodes = append(x.nodes, nil)
			x.edges[way] = node
		}
	}
	if node != 0 {
		x.nodes[node] = append(without(x.nodes[node], id), added)
	}
	for i, number := range numbers {
		if len(numbers) > 1 {
			x.parts[number] = withPart(x.parts[number], words[i])
		}
	}
}

// withPart appends a part unless it is there. The parts of an entry are adjacent, because its names are set together.
func withPart(parts []part, added part) []part {
	for i := len(parts) - 1; i >= 0 && parts[i].id == added.id; i-- {
		if parts[i] == added {
			return parts
		}
	}
	return append(parts, added)
}

// number returns the number of a folded word.
func (x *Index) number(folded []byte) int32 {
	number, known := x.numbers[string(folded)]
	if !known {
		number = int32(len(x.numbers) + 1)
		x.numbers[string(folded)] = number
	}
	return number
}

// bare returns a folded word without a possessive ending.
func bare(folded []byte) []byte { return bytes.TrimSuffix(folded, []byte("'s")) }

// remove reverses add. The caller removes all names of the entry.
func (x *Index) remove(name string, id int64) {
	node, s := int32(0), scanner{text: name}
	for s.next() {
		node = x.edges[edgeOf(node, x.numbers[string(s.folded)], s.attached)]
		number := x.numbers[string(bare(s.folded))]
		x.parts[number] = slices.DeleteFunc(x.parts[number], func(p part) bool { return p.id == id })
	}
	x.nodes[node] = without(x.nodes[node], id)
}

func without(owners []owner, id int64) []owner {
	return slices.DeleteFunc(owners, func(o owner) bool { return o.id == id })
}
