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
	// maxByTrigrams is how many entries are found by trigrams: more than are asked for, since Similar compares names by
	// more than their trigrams, but a bound for a glossary in which all names are similar.
	maxByTrigrams = 50
	// maxByWords is how many entries are found by words.
	maxByWords = 20
	// commonWord is how many names may hold a word that counts. A choice among more entries would be arbitrary.
	commonWord = 100
	// containedSimilarity is the least similarity of two names of which one has all the words of the other. Names that
	// are merely spelled alike rarely reach it.
	containedSimilarity = 0.8
)

// Similar returns the other entries whose names are most similar to the names of an entry, the most similar first and
// at most limit of them: those that share a word of a name, and those that share trigrams. It goes over all names.
func (x *Index) Similar(entry int64, names []string, limit int) []int64 {
	own := spell(names)
	scores := map[int64]float64{}
	for _, other := range append(x.sharingWords(entry, own), x.sharingTrigrams(entry, own)...) {
		for _, s := range x.spelled(other) {
			for _, o := range own {
				scores[other] = max(scores[other], o.similarity(s))
			}
		}
	}
	return best(scores, limit)
}

// sharingTrigrams returns the other entries that have a name with enough trigrams of one of the names, the most similar
// first.
func (x *Index) sharingTrigrams(entry int64, names []*spelling) []int64 {
	found := map[int64]float64{}
	for other := range x.names {
		if other == entry {
			continue
		}
		for _, s := range x.spelled(other) {
			for _, name := range names {
				if share := name.sharedTrigrams(s); share >= minSimilarity {
					found[other] = max(found[other], share)
				}
			}
		}
	}
	return best(found, maxByTrigrams)
}

// sharingWords returns the other entries that share a word of their names with the names, those that share most first.
func (x *Index) sharingWords(entry int64, names []*spelling) []int64 {
	holders := map[string][]int64{} // of each word of the names: an entry for each of its names with the word
	for _, name := range names {
		for _, word := range name.plain {
			holders[word] = nil
		}
	}
	for other := range x.names {
		for _, s := range x.spelled(other) {
			for _, word := range s.plain {
				if list, wanted := holders[word]; wanted {
					holders[word] = append(list, other)
				}
			}
		}
	}
	found := map[int64]float64{}
	for _, entries := range holders {
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

// spelling is a name as it is compared with others.
type spelling struct {
	trigrams []trigram // each once and in order
	words    []string  // between white space
	plain    []string  // without accents and punctuation, each once and in order
}

// trigram is three characters of 21 bits.
type trigram uint64

// spelled returns the spellings of an entry's names.
func (x *Index) spelled(entry int64) []*spelling {
	list, known := x.spellings[entry]
	if !known {
		list = spell(x.names[entry])
		x.spellings[entry] = list
	}
	return list
}

func spell(names []string) []*spelling {
	list := make([]*spelling, len(names))
	for i, name := range names {
		name = codex.Normalize(name)
		list[i] = &spelling{trigrams: trigramsOf(name), words: strings.Fields(name), plain: plainWords(name)}
	}
	return list
}

// trigramsOf returns the trigrams of a normalised name with its ends marked.
func trigramsOf(name string) []trigram {
	runes := []rune("  " + name + " ")
	list := make([]trigram, len(runes)-2)
	for i := range list {
		list[i] = trigram(runes[i])<<42 | trigram(runes[i+1])<<21 | trigram(runes[i+2])
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// plainWords returns the words of a normalised name without accents.
func plainWords(name string) []string {
	words := strings.FieldsFunc(strings.Map(func(r rune) rune {
		if r >= '\u0300' && r <= '\u036f' { // by itself: Normalize takes letters apart
			return -1
		}
		return r
	}, name), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsNumber(r) && !unicode.IsMark(r)
	})
	slices.Sort(words)
	return slices.Compact(words)
}

// similarity is 1 for names that compare as the same.
func (s *spelling) similarity(other *spelling) float64 {
	same := s.sharedTrigrams(other)
	if s.contains(other) || other.contains(s) {
		return containedSimilarity + (1-containedSimilarity)*same
	}
	return same
}

// sharedTrigrams returns the share of the trigrams that both names have in those that either has.
func (s *spelling) sharedTrigrams(other *spelling) float64 {
	a, b, both := s.trigrams, other.trigrams, 0
	for i, j := 0, 0; i < len(a) && j < len(b); {
		switch {
		case a[i] < b[j]:
			i++
		case a[i] > b[j]:
			j++
		default:
			both, i, j = both+1, i+1, j+1
		}
	}
	return float64(both) / float64(len(a)+len(b)-both)
}

// contains reports whether a name has all the words of another.
func (s *spelling) contains(part *spelling) bool {
	missing := func(word string) bool { return !slices.Contains(s.words, word) }
	return len(part.words) > 0 && !slices.ContainsFunc(part.words, missing)
}
