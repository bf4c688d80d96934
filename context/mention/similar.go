package mention

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"strings"
	"unicode"

	"annotator/codex"
	"annotator/codex/identity"
)

const (
	// minSimilarity is how similar two names must be to be found by their trigrams. It is the number of shared trigrams
	// divided by that of all their trigrams. Common trigrams count for less when the names found are compared.
	minSimilarity = 0.3
	// minWordShare is the share of the weight of one name's words that another name must have. So a word of many names,
	// such as an article, is not enough.
	minWordShare = 0.4
	// maxByTrigrams is how many entries are found by trigrams. They are more than are asked for, since Similar also
	// compares names otherwise. The limit matters for a glossary in which all names are similar.
	maxByTrigrams = 50
	// maxByWords is how many entries are found by words.
	maxByWords = 20
	// commonWord is how many names may hold a word that counts. A choice among more entries would be arbitrary.
	commonWord = 100
)

// similarity finds entries by the trigrams, the words and the looks of their names. It reads new names when it is
// asked, so that a run without a curator does not pay for it.
type similarity struct {
	changed   map[int64]bool          // entries whose names were set since
	spellings map[int64][]*spelling   // by entry
	trigrams  map[trigram][]*spelling // that have it
	words     map[string][]*spelling
	looks     map[string][]*spelling // by codex.Skeleton
	names     int                    // of all entries
}

func newSimilarity() similarity {
	return similarity{
		map[int64]bool{},
		map[int64][]*spelling{},
		map[trigram][]*spelling{},
		map[string][]*spelling{},
		map[string][]*spelling{},
		0,
	}
}

// weight returns the weight of a word or a trigram that a number of names have: the rarer, the more (inverse document
// frequency).
func (s *similarity) weight(holders int) float64 {
	return math.Log1p(float64(max(s.names, 1)) / float64(max(holders, 1)))
}

// update adds the names that were set since the last call.
func (s *similarity) update(names map[int64][]string) {
	for entry := range s.changed {
		for _, former := range s.spellings[entry] {
			isFormer := func(other *spelling) bool { return other == former }
			for _, t := range former.trigrams {
				s.trigrams[t] = slices.DeleteFunc(s.trigrams[t], isFormer)
			}
			for _, w := range former.keys {
				s.words[w] = slices.DeleteFunc(s.words[w], isFormer)
			}
			s.looks[former.skeleton] = slices.DeleteFunc(s.looks[former.skeleton], isFormer)
		}
		s.names += len(names[entry]) - len(s.spellings[entry])
		s.spellings[entry] = spell(entry, names[entry])
		for _, added := range s.spellings[entry] {
			for _, t := range added.trigrams {
				s.trigrams[t] = append(s.trigrams[t], added)
			}
			for _, w := range added.keys {
				s.words[w] = append(s.words[w], added)
			}
			s.looks[added.skeleton] = append(s.looks[added.skeleton], added)
		}
	}
	clear(s.changed)
}

// Similar returns at most limit other entries whose names are most similar to the names of an entry, the most similar
// first. Such a name looks the same, is another form of a name, shares words with it, or shares trigrams. Rare words
// and trigrams count for more than common ones. An entry with a name that cannot mean the same is not similar: see
// identity.Veto.
func (x *Index) Similar(entry int64, names []string, limit int) []int64 {
	return best(x.Likeness(entry, names), limit)
}

// Likeness returns how similar the names of other entries are to the names of an entry: from minSimilarity to 1.
func (x *Index) Likeness(entry int64, names []string) map[int64]float64 {
	own := spell(entry, names)
	x.similar.update(x.names)
	others := append(x.similar.sharingWords(own), x.similar.sharingTrigrams(own)...)
	for _, alike := range x.similar.lookingTheSame(own) {
		others = append(others, alike.entry)
	}
	scores := map[int64]float64{}
	for _, other := range others {
		scores[other] = x.similar.likeness(own, x.similar.spellings[other])
	}
	maps.DeleteFunc(scores, func(_ int64, score float64) bool { return score < minSimilarity })
	return scores
}

// likeness returns how similar the names of two entries are; 0 if two of them have a veto.
func (s *similarity) likeness(own, others []*spelling) (most float64) {
	for _, a := range own {
		for _, b := range others {
			evidence, veto := identity.Compare(a.identity, b.identity)
			if veto != "" {
				return 0
			}
			most = max(most, s.score(a, b, evidence))
		}
	}
	return most
}

// lookingTheSame returns the names of other entries that look the same as one of the names, without those that are one
// of the names.
func (s *similarity) lookingTheSame(names []*spelling) (found []*spelling) {
	for _, name := range names {
		for _, other := range s.looks[name.skeleton] {
			same := func(own *spelling) bool { return own.name == other.name }
			if other.entry != name.entry && !slices.ContainsFunc(names, same) {
				found = append(found, other)
			}
		}
	}
	return found
}

// sharingTrigrams returns the entries of other names that share enough trigrams with one of the names, the most similar
// first.
func (s *similarity) sharingTrigrams(names []*spelling) []int64 {
	found := map[int64]float64{}
	for _, name := range names {
		shared := map[*spelling]int{}
		for _, t := range name.trigrams {
			for _, other := range s.trigrams[t] {
				shared[other]++
			}
		}
		for other, both := range shared {
			share := float64(both) / float64(len(name.trigrams)+len(other.trigrams)-both)
			if other.entry != name.entry && share >= minSimilarity {
				found[other.entry] = max(found[other.entry], share)
			}
		}
	}
	return best(found, maxByTrigrams)
}

// sharingWords returns the entries of other names that share a word with the names, those first whose words are rarest.
func (s *similarity) sharingWords(names []*spelling) []int64 {
	found := map[int64]float64{}
	var words []string
	for _, name := range names {
		words = append(words, name.keys...)
	}
	slices.Sort(words) // sums depend on the order of their terms
	for _, word := range slices.Compact(words) {
		holders := s.words[word]
		if len(holders) > commonWord {
			continue
		}
		entries := map[int64]bool{}
		for _, holder := range holders {
			if holder.entry != names[0].entry {
				entries[holder.entry] = true
			}
		}
		for entry := range entries {
			found[entry] += s.weight(len(holders))
		}
	}
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
	entry    int64
	name     string    // see codex.Normalize
	skeleton string    // see codex.Skeleton
	trigrams []trigram // each once and in order
	plain    []string  // its words without accents and punctuation, each once and in order
	keys     []string  // these, and the first names of which they are nicknames
	identity *identity.Name
}

// trigram is three characters of 21 bits.
type trigram uint64

func spell(entry int64, names []string) []*spelling {
	list := make([]*spelling, len(names))
	for i, text := range names {
		name := codex.Normalize(text)
		list[i] = &spelling{
			entry: entry, name: name, skeleton: codex.Skeleton(text),
			trigrams: trigramsOf(name), plain: plainWords(name), identity: identity.Read(text),
		}
		for _, word := range list[i].plain {
			list[i].keys = append(append(list[i].keys, word), identity.FullNames(word)...)
		}
		slices.Sort(list[i].keys)
		list[i].keys = slices.Compact(list[i].keys)
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

// score is how similar two names are: 1 for names that compare or look the same. Evidence that they are forms of one
// name counts for more than the same spelling of a part.
func (s *similarity) score(a, b *spelling, evidence identity.Evidence) float64 {
	if a.skeleton == b.skeleton {
		return 1
	}
	both, one, other := shared(a.trigrams, b.trigrams, func(t trigram) float64 { return s.weight(len(s.trigrams[t])) })
	same := both / (one + other - both)
	if evidence != identity.None {
		return evidence.Weight() + (1-evidence.Weight())*same
	}
	both, one, other = shared(a.plain, b.plain, func(w string) float64 { return s.weight(len(s.words[w])) })
	if share := both / min(one, other); share >= minWordShare {
		return max(same, share)
	}
	return same
}

// shared returns the weight of what two sorted lists have in common, and the weights of each.
func shared[T cmp.Ordered](a, b []T, weight func(T) float64) (both, one, other float64) {
	for _, item := range a {
		one += weight(item)
	}
	for _, item := range b {
		w := weight(item)
		other += w
		if _, held := slices.BinarySearch(a, item); held {
			both += w
		}
	}
	return both, one, other
}
