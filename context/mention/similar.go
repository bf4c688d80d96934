package mention

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"unicode"

	"annotator/codex"
)

const (
	// minSimilarity is how similar two names must be to be found by their trigrams: the share of the trigrams that both
	// have in those that either has.
	minSimilarity = 0.3
	// maxByTrigrams is how many entries are found by trigrams: more than are asked for, since closest compares names by
	// more than their trigrams, but a bound for a glossary in which all names are similar.
	maxByTrigrams = 50
	// maxByWords is how many entries are found by words.
	maxByWords = 20
	// commonWord is how many names may hold a word that counts. A choice among more entries would be arbitrary.
	commonWord = 100
)

// trigram is three characters of 21 bits.
type trigram uint64

// trigramsOf returns the trigrams of a normalised name with its ends marked, each once and in order.
func trigramsOf(name string) []trigram {
	runes := []rune("  " + codex.Normalize(name) + " ")
	list := make([]trigram, len(runes)-2)
	for i := range list {
		list[i] = trigram(runes[i])<<42 | trigram(runes[i+1])<<21 | trigram(runes[i+2])
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// shared counts the trigrams that both lists have.
func shared(a, b []trigram) int {
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

// similarity is 1 for names that compare as the same.
func similarity(shared, a, b int) float64 { return float64(shared) / float64(a+b-shared) }

// wordsOf returns the words of a name, each once, without accents.
func wordsOf(name string) []string {
	plain := strings.Map(func(r rune) rune {
		if r >= '\u0300' && r <= '\u036f' { // by itself: Normalize takes letters apart
			return -1
		}
		return r
	}, codex.Normalize(name))
	words := strings.FieldsFunc(plain, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsNumber(r) && !unicode.IsMark(r)
	})
	slices.Sort(words)
	return slices.Compact(words)
}

// postings say which names have a trigram or a word.
type postings struct {
	names     []posted
	byTrigram map[trigram][]int32
	byWord    map[string][]int32
}

// posted is a name in the posting lists.
type posted struct {
	entry int64
	size  int // in trigrams; 0 for a name that was removed
}

func newPostings() *postings {
	return &postings{byTrigram: map[trigram][]int32{}, byWord: map[string][]int32{}}
}

// add adds names of an entry.
func (p *postings) add(entry int64, names []string) {
	for _, name := range names {
		trigrams, at := trigramsOf(name), int32(len(p.names))
		for _, t := range trigrams {
			p.byTrigram[t] = append(p.byTrigram[t], at)
		}
		for _, word := range wordsOf(name) {
			p.byWord[word] = append(p.byWord[word], at)
		}
		p.names = append(p.names, posted{entry, len(trigrams)})
	}
}

// replace replaces all names of an entry. It goes over all names; some dozens of bytes of each removed name stay.
func (p *postings) replace(entry int64, names []string) {
	for at := range p.names {
		if p.names[at].entry == entry {
			p.names[at].size = 0
		}
	}
	p.add(entry, names)
}

// sharingTrigrams returns the other entries that have a name with enough trigrams of one of the names, the most similar
// first.
func (p *postings) sharingTrigrams(entry int64, names []string) []int64 {
	found := map[int64]float64{}
	for _, name := range names {
		trigrams := trigramsOf(name)
		counts := make([]int32, len(p.names)) // one pass over all names is faster than a map
		for _, t := range trigrams {
			for _, at := range p.byTrigram[t] {
				counts[at]++
			}
		}
		for at, n := range counts {
			other := p.names[at]
			if n == 0 || other.size == 0 || other.entry == entry {
				continue
			}
			if s := similarity(int(n), len(trigrams), other.size); s >= minSimilarity {
				found[other.entry] = max(found[other.entry], s)
			}
		}
	}
	return best(found, maxByTrigrams)
}

// sharingWords returns the other entries that share a word of their names with the names, those that share most first.
func (p *postings) sharingWords(entry int64, names []string) []int64 {
	found := map[int64]float64{}
	for _, word := range wordsOf(strings.Join(names, " ")) {
		var entries []int64
		for _, at := range p.byWord[word] {
			if p.names[at].size > 0 {
				entries = append(entries, p.names[at].entry)
			}
		}
		if len(entries) > commonWord {
			continue
		}
		slices.Sort(entries)
		for _, other := range slices.Compact(entries) {
			found[other]++
		}
	}
	delete(found, entry)
	return best(found, maxByWords)
}

// best returns the entries of the highest scores, at most limit of them.
func best(scores map[int64]float64, limit int) []int64 {
	entries := slices.SortedFunc(maps.Keys(scores), func(a, b int64) int {
		return cmp.Or(cmp.Compare(scores[b], scores[a]), cmp.Compare(a, b))
	})
	return entries[:min(len(entries), limit)]
}

// closest returns those of the entries whose names are most similar to the names, each once.
func (x *Index) closest(names []string, entries []int64, limit int) []int64 {
	own := spell(names)
	scores := map[int64]float64{}
	for _, entry := range entries {
		if _, seen := scores[entry]; seen {
			continue
		}
		for _, other := range spell(x.names[entry]) {
			for i := range own {
				scores[entry] = max(scores[entry], own[i].similarity(&other))
			}
		}
	}
	return best(scores, limit)
}

// spelling is a name as it is compared with others.
type spelling struct {
	trigrams []trigram
	words    []string
}

func spell(names []string) []spelling {
	list := make([]spelling, len(names))
	for i, name := range names {
		list[i] = spelling{trigramsOf(name), strings.Fields(codex.Normalize(name))}
	}
	return list
}

// containedSimilarity is the least similarity of two names of which one has all the words of the other. Names that are
// merely spelled alike rarely reach it.
const containedSimilarity = 0.8

func (s *spelling) similarity(other *spelling) float64 {
	same := similarity(shared(s.trigrams, other.trigrams), len(s.trigrams), len(other.trigrams))
	if s.contains(other) || other.contains(s) {
		return containedSimilarity + (1-containedSimilarity)*same
	}
	return same
}

// contains reports whether a name has all the words of another.
func (s *spelling) contains(part *spelling) bool {
	missing := func(word string) bool { return !slices.Contains(s.words, word) }
	return len(part.words) > 0 && !slices.ContainsFunc(part.words, missing)
}
