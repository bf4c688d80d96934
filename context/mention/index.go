// Package mention knows what the entries of a glossary are called: it finds the entries that a text names, and those
// whose names are similar.
package mention

import "slices"

// Index holds the names of entries. Find may run in several goroutines at once; SetNames and Similar change the index.
type Index struct {
	names    map[int64][]string
	trie     *trie     // of all names
	postings *postings // of all names; nil until they are needed
}

// New returns an index without names.
func New() *Index { return &Index{names: map[int64][]string{}, trie: newTrie()} }

// SetNames replaces the names of an entry; without names the entry is removed. A name is known by its words, whatever
// their case and Unicode form and whatever stands between them. A name without a letter or digit is never found in a
// text. The caller removes disambiguators, and leaves the slice unchanged afterwards.
func (x *Index) SetNames(entry int64, names []string) {
	former := x.names[entry]
	if slices.Equal(former, names) {
		return
	}
	for _, name := range former {
		x.trie.remove(name, entry)
	}
	for _, name := range names {
		x.trie.add(name, entry)
	}
	if x.postings != nil {
		x.postings.replace(entry, names)
	}
	if x.names[entry] = names; len(names) == 0 {
		delete(x.names, entry)
	}
}

// Find returns the entries whose names the text contains, best first: by words, count, first occurrence and id. A name
// that stands inside a longer one does not count there: "Sherlock Holmes" is no occurrence of "Holmes". Names that
// overlap and names of several entries all count. A name of one word that is capitalised is found only where the text
// capitalises it, so that an entry "Dawn" is not found in "at dawn"; all other names are found in any case. The last
// word of a name may be a possessive in the text, or have particles behind it where the language writes them so. A name
// may run over the end of a line, but not over a blank line.
func (x *Index) Find(text string) []Match { return x.trie.find(text) }

// Similar returns the other entries whose names are most similar to the names of an entry, the most similar first and
// at most limit of them: those that share a word of a name, and those that share trigrams. The first call goes over all
// names.
func (x *Index) Similar(entry int64, names []string, limit int) []int64 {
	p := x.allPostings()
	return x.closest(names, append(p.sharingWords(entry, names), p.sharingTrigrams(entry, names)...), limit)
}

// allPostings fills the posting lists when they are first needed: a run without a curator has no use for them.
func (x *Index) allPostings() *postings {
	if x.postings == nil {
		x.postings = newPostings()
		for entry, names := range x.names {
			x.postings.add(entry, names)
		}
	}
	return x.postings
}
