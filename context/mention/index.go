// Package mention finds which known names a text contains.
//
// The names stand in a trie over words. A word of any name has a number, and an edge of the trie is a row of one hash table:
// from this node, by this word, to that node. To read a text is then one look-up for each of its words, and more only
// where a name begins; the cost follows the text and hardly the number of names, and a name is added in the time its
// own words take. Scripts without word boundaries need nothing else: there a character counts as a word.
package mention

import "slices"

// Index is a set of names, each of which stands for one or more ids. Find may run in several goroutines at once, but not
// beside Add or Remove.
type Index struct {
	numbers   map[string]int32 // of the words of names, folded; from 1
	edges     map[edge]int32   // to a node
	nodes     [][]owner        // whose name ends there; node 0 is the root, where none does
	particles map[string]place // of Korean, folded
}

// edge leads from a node to the next one by a word's number, which is negative where the word is attached to the one
// before: two characters of Han side by side are another name than the same two apart.
type edge struct{ node, word int32 }

// owner is an id with a name.
type owner struct {
	id      int64
	capital bool // the name is found only where it is capitalised
}

// New returns an index without names.
func New() *Index {
	return &Index{numbers: map[string]int32{}, edges: map[edge]int32{}, nodes: make([][]owner, 1), particles: particles()}
}

// Add makes a name stand for an id. A name is known by its words, whatever their case and Unicode form and whatever stands
// between them; to add it again for the same id only settles its case anew. A name of one word that is capitalised is
// found only where the text capitalises it, so that an entry "Dawn" is not found in "at dawn"; all other names are found
// in any case. A name without a letter or digit is never found. Disambiguators are the caller's to take off.
func (x *Index) Add(name string, id int64) {
	x.learn(name)
	words := x.read(name).words
	if len(words) == 0 {
		return
	}
	node := x.grow(words)
	added := owner{id: id, capital: len(words) == 1 && words[0].capital}
	if i := x.owner(node, id); i >= 0 {
		x.nodes[node][i] = added
		return
	}
	x.nodes[node] = append(x.nodes[node], added)
}

// Remove undoes Add. It keeps the name's path in the trie, some fifty bytes, because what is retired is often restored.
func (x *Index) Remove(name string, id int64) {
	node := int32(0)
	for i, w := range x.read(name).words {
		if node = x.child(node, w.number, i > 0 && w.attached); node == 0 {
			return
		}
	}
	if i := x.owner(node, id); i >= 0 {
		x.nodes[node] = slices.Delete(x.nodes[node], i, i+1)
	}
}

// learn gives a number to every word of a name.
func (x *Index) learn(name string) {
	for s := (scanner{text: name}); s.next(); {
		if _, known := x.numbers[string(s.folded)]; !known {
			x.numbers[string(s.folded)] = int32(len(x.numbers) + 1)
		}
	}
}

// grow returns the node at the end of a name's words, and makes the way to it.
func (x *Index) grow(words []word) int32 {
	node := int32(0)
	for i, w := range words {
		attached := i > 0 && w.attached
		next := x.child(node, w.number, attached)
		if next == 0 {
			next = int32(len(x.nodes))
			x.nodes = append(x.nodes, nil)
			x.edges[edgeOf(node, w.number, attached)] = next
		}
		node = next
	}
	return node
}

// child returns the node that a word leads to, or 0.
func (x *Index) child(node, number int32, attached bool) int32 {
	if number == 0 {
		return 0
	}
	return x.edges[edgeOf(node, number, attached)]
}

func edgeOf(node, number int32, attached bool) edge {
	if attached {
		return edge{node, -number}
	}
	return edge{node, number}
}

// owner returns the rank of an id among a node's owners, or -1.
func (x *Index) owner(node int32, id int64) int {
	return slices.IndexFunc(x.nodes[node], func(o owner) bool { return o.id == id })
}
