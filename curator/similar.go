package curator

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"unicode"

	"annotator"
	"annotator/codex"
)

// Likeness is how much alike two names must be for one to bring up the other: the share of the trigrams that both have in those
// that either has.
const Likeness = 0.3

// MostSimilar is how many similar entries a candidate is shown with.
const MostSimilar = 5

// MostLike is how many entries Like returns at most: more than are shown, since names can be closer than their trigrams tell, but a
// bound all the same, for a glossary in which everything is called alike.
const MostLike = 50

// MostNamesakes is how many entries Namesakes returns, and commonWord how many names may hold a word that counts for it: which twenty
// of more it would be says nothing.
const (
	MostNamesakes = 20
	commonWord    = 100
)

// gram is a trigram: three characters of 21 bits.
type gram uint64

// gramsOf returns the trigrams of a normalised name with its ends marked, each once and in order.
func gramsOf(name string) []gram {
	runes := []rune("  " + codex.Normalize(name) + " ")
	list := make([]gram, len(runes)-2)
	for i := range list {
		list[i] = gram(runes[i])<<42 | gram(runes[i+1])<<21 | gram(runes[i+2])
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// sharedBy counts the trigrams that both have.
func sharedBy(a, b []gram) int {
	n := 0
	for len(a) > 0 && len(b) > 0 {
		switch {
		case a[0] < b[0]:
			a = a[1:]
		case a[0] > b[0]:
			b = b[1:]
		default:
			n, a, b = n+1, a[1:], b[1:]
		}
	}
	return n
}

// likeness is 1 for names that compare as the same.
func likeness(shared, a, b int) float64 { return float64(shared) / float64(a+b-shared) }

// Index finds entries that are called alike.
type Index struct {
	names  []indexed
	with   map[gram][]int32   // the names that have a trigram
	saying map[string][]int32 // the names that have a word
}

type indexed struct {
	entry int64
	size  int // in trigrams; 0 for a name that was removed
}

// NewIndex returns an empty index.
func NewIndex() *Index { return &Index{with: map[gram][]int32{}, saying: map[string][]int32{}} }

// Add puts in a name of an entry. The same one again changes nothing that Like returns.
func (x *Index) Add(entry int64, name string) {
	grams, at := gramsOf(name), int32(len(x.names))
	for _, g := range grams {
		x.with[g] = append(x.with[g], at)
	}
	for _, word := range wordsOf(name) {
		x.saying[word] = append(x.saying[word], at)
	}
	x.names = append(x.names, indexed{entry, len(grams)})
}

// Remove takes out all names of an entry. It goes over all names, as Like does; some dozens of bytes for each stay.
func (x *Index) Remove(entry int64) {
	for at := range x.names {
		if x.names[at].entry == entry {
			x.names[at].size = 0
		}
	}
}

// Like returns the other entries of which a name is like one of the entry's, by id; where there are more than MostLike, the
// most alike.
func (x *Index) Like(e *annotator.Entry) []int64 {
	found := map[int64]float64{}
	for _, name := range names(e) {
		grams := gramsOf(name)
		shared := make([]int32, len(x.names)) // one pass over all names is less than a map of those that share anything
		for _, g := range grams {
			for _, at := range x.with[g] {
				shared[at]++
			}
		}
		for at, n := range shared {
			other := x.names[at]
			if n == 0 || other.size == 0 || other.entry == e.ID {
				continue
			}
			if alike := likeness(int(n), len(grams), other.size); alike >= Likeness {
				found[other.entry] = max(found[other.entry], alike)
			}
		}
	}
	ids := slices.SortedFunc(maps.Keys(found), func(a, b int64) int {
		return cmp.Or(cmp.Compare(found[b], found[a]), cmp.Compare(a, b))
	})
	ids = ids[:min(len(ids), MostLike)]
	slices.Sort(ids)
	return ids
}

// wordsOf returns the words of a name, each once, without accents.
func wordsOf(name string) []string {
	plain := strings.Map(func(r rune) rune {
		if r >= '\u0300' && r <= '\u036f' { // by itself: Normalize takes letters apart
			return -1
		}
		return r
	}, codex.Normalize(name))
	words := strings.FieldsFunc(plain, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsNumber(r) && !unicode.IsMark(r) })
	slices.Sort(words)
	return slices.Compact(words)
}

// Namesakes returns the other entries that share a word of their names with an entry, those that share most first and at most
// MostNamesakes. Words that very many names hold do not count.
func (x *Index) Namesakes(e *annotator.Entry) []int64 {
	shared := map[int64]int{}
	for _, word := range wordsOf(strings.Join(names(e), " ")) {
		var with []int64
		for _, at := range x.saying[word] {
			if x.names[at].size > 0 {
				with = append(with, x.names[at].entry)
			}
		}
		if len(with) > commonWord {
			continue
		}
		slices.Sort(with)
		for _, other := range slices.Compact(with) {
			shared[other]++
		}
	}
	delete(shared, e.ID)
	ids := slices.SortedFunc(maps.Keys(shared), func(a, b int64) int {
		return cmp.Or(cmp.Compare(shared[b], shared[a]), cmp.Compare(a, b))
	})
	return ids[:min(len(ids), MostNamesakes)]
}

// Closest returns the ids of those entries that are called most like a given one, the best first and at most MostSimilar of them,
// each once and never itself. What they are called is in known; an entry that has no name there is left out.
func Closest(e *annotator.Entry, ids []int64, known map[int64][]string) []int64 {
	own := spelled(names(e))
	closeness := map[int64]float64{}
	for _, id := range ids {
		if _, seen := closeness[id]; seen || id == e.ID || len(known[id]) == 0 {
			continue
		}
		best := 0.0
		for _, other := range spelled(known[id]) {
			for i := range own {
				best = max(best, alike(&own[i], &other))
			}
		}
		closeness[id] = best
	}
	closest := slices.SortedFunc(maps.Keys(closeness), func(a, b int64) int {
		return cmp.Or(cmp.Compare(closeness[b], closeness[a]), cmp.Compare(a, b))
	})
	return closest[:min(len(closest), MostSimilar)]
}

// spelling is a name as it is held against others.
type spelling struct {
	grams []gram
	words []string
}

func spelled(names []string) []spelling {
	list := make([]spelling, len(names))
	for i, name := range names {
		list[i] = spelling{gramsOf(name), strings.Fields(codex.Normalize(name))}
	}
	return list
}

// contained is the least that two names count of which one has all the words of the other: more than names that are merely
// spelled alike commonly do.
const contained = 0.8

func alike(a, b *spelling) float64 {
	same := likeness(sharedBy(a.grams, b.grams), len(a.grams), len(b.grams))
	if hasWordsOf(a.words, b.words) || hasWordsOf(b.words, a.words) {
		return contained + (1-contained)*same
	}
	return same
}

func hasWordsOf(name, part []string) bool {
	return len(part) > 0 && !slices.ContainsFunc(part, func(word string) bool { return !slices.Contains(name, word) })
}
