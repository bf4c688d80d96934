package mention

import "slices"

// trie holds names, each of which stands for one or more entries. A word of any name has a number, and an edge of the
// trie is a row of one hash table: from this node, by this word, to that node. Reading a text is then one look-up for
// each of its words, and more only where a name begins; the cost follows the text and hardly the number of names, and a
// name is added in the time that its own words take. Scripts without word boundaries need nothing else: there a
// character counts as a word.
type trie struct {
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

func newTrie() *trie {
	return &trie{
		numbers: map[string]int32{}, edges: map[edge]int32{}, nodes: make([][]owner, 1), particles: particles(),
	}
}

// add makes a name stand for an entry. To add it again for the same entry only sets its case again.
func (t *trie) add(name string, id int64) {
	t.learn(name)
	words := t.read(name).words
	if len(words) == 0 {
		return
	}
	node := t.grow(words)
	added := owner{id: id, capital: len(words) == 1 && words[0].capital}
	if i := t.owner(node, id); i >= 0 {
		t.nodes[node][i] = added
		return
	}
	t.nodes[node] = append(t.nodes[node], added)
}

// remove undoes add. It keeps the name's path in the trie, some fifty bytes, because what is retired is often restored.
func (t *trie) remove(name string, id int64) {
	node := int32(0)
	for i, w := range t.read(name).words {
		if node = t.child(node, w.number, i > 0 && w.attached); node == 0 {
			return
		}
	}
	if i := t.owner(node, id); i >= 0 {
		t.nodes[node] = slices.Delete(t.nodes[node], i, i+1)
	}
}

// learn gives a number to every word of a name.
func (t *trie) learn(name string) {
	for s := (scanner{text: name}); s.next(); {
		if _, known := t.numbers[string(s.folded)]; !known {
			t.numbers[string(s.folded)] = int32(len(t.numbers) + 1)
		}
	}
}

// grow returns the node at the end of a name's words, and makes the way to it.
func (t *trie) grow(words []word) int32 {
	node := int32(0)
	for i, w := range words {
		attached := i > 0 && w.attached
		next := t.child(node, w.number, attached)
		if next == 0 {
			next = int32(len(t.nodes))
			t.nodes = append(t.nodes, nil)
			t.edges[edgeOf(node, w.number, attached)] = next
		}
		node = next
	}
	return node
}

// child returns the node that a word leads to, or 0.
func (t *trie) child(node, number int32, attached bool) int32 {
	if number == 0 {
		return 0
	}
	return t.edges[edgeOf(node, number, attached)]
}

func edgeOf(node, number int32, attached bool) edge {
	if attached {
		return edge{node, -number}
	}
	return edge{node, number}
}

// owner returns the rank of an id among a node's owners, or -1.
func (t *trie) owner(node int32, id int64) int {
	return slices.IndexFunc(t.nodes[node], func(o owner) bool { return o.id == id })
}
