package curator

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"annotator"
	"annotator/codex"
)

// Likeness is how much alike two names must be for one to bring up the other: the share of the trigrams that both have in those
// that either has.
const Likeness = 0.3

// MostSimilar is how many similar entries a candidate is shown with.
const MostSimilar = 5

// MostLike is how many entries Like returns: more than are shown, for names can be nearer to each other than their trigrams tell,
// yet no more in a glossary in which everything is called alike.
const MostLike = 50

// grams are the trigrams of a normalised name, with its ends marked.
type grams map[string]struct{}

func gramsOf(name string) grams {
	runes := []rune("  " + codex.Normalize(name) + " ")
	set := grams{}
	for i := range len(runes) - 2 {
		set[string(runes[i:i+3])] = struct{}{}
	}
	return set
}

// likeness is 1 for names that compare as the same.
func likeness(shared, a, b int) float64 { return float64(shared) / float64(a+b-shared) }

// Index finds entries that are called alike.
type Index struct {
	names []indexed
	with  map[string][]int32 // by trigram: the names that have it
	of    map[int64][]int32  // by entry: its names
}

type indexed struct {
	entry int64
	size  int // in trigrams; 0 for a name that was removed
}

// NewIndex returns an empty index.
func NewIndex() *Index { return &Index{with: map[string][]int32{}, of: map[int64][]int32{}} }

// Add puts in a name of an entry. The same one again changes nothing that Like returns.
func (x *Index) Add(entry int64, name string) {
	set, at := gramsOf(name), int32(len(x.names))
	for gram := range set {
		x.with[gram] = append(x.with[gram], at)
	}
	x.names = append(x.names, indexed{entry, len(set)})
	x.of[entry] = append(x.of[entry], at)
}

// Remove takes out all names of an entry. Some dozens of bytes for each stay.
func (x *Index) Remove(entry int64) {
	for _, at := range x.of[entry] {
		x.names[at].size = 0
	}
	delete(x.of, entry)
}

// Like returns the other entries of which a name is like one of the entry's, by id; where there are more than MostLike, the
// most alike.
func (x *Index) Like(e *annotator.Entry) []int64 {
	found := map[int64]float64{}
	for _, name := range names(e) {
		set := gramsOf(name)
		shared := map[int32]int{}
		for gram := range set {
			for _, at := range x.with[gram] {
				shared[at]++
			}
		}
		for at, n := range shared {
			other := x.names[at]
			if other.size == 0 || other.entry == e.ID {
				continue
			}
			if alike := likeness(n, len(set), other.size); alike >= Likeness {
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

// Closest returns those of the entries that are called most like a given one, the best first and at most MostSimilar of them:
// live ones, each once, and never itself.
func Closest(e *annotator.Entry, others []annotator.Entry) []annotator.Entry {
	type ranked struct {
		*annotator.Entry
		closeness float64
	}
	var list []ranked
	seen := map[int64]bool{e.ID: true}
	for i := range others {
		if o := &others[i]; !seen[o.ID] && o.Status.Live() {
			seen[o.ID] = true
			list = append(list, ranked{o, closeness(e, o)})
		}
	}
	slices.SortFunc(list, func(a, b ranked) int { return cmp.Or(cmp.Compare(b.closeness, a.closeness), cmp.Compare(a.ID, b.ID)) })
	var closest []annotator.Entry
	for _, r := range list[:min(len(list), MostSimilar)] {
		closest = append(closest, *r.Entry)
	}
	return closest
}

// contained is the least that two names count of which one has all the words of the other: more than names that are merely
// spelled alike commonly do.
const contained = 0.8

func closeness(a, b *annotator.Entry) float64 {
	best := 0.0
	for _, one := range names(a) {
		for _, other := range names(b) {
			best = max(best, alike(one, other))
		}
	}
	return best
}

func alike(a, b string) float64 {
	one, other := gramsOf(a), gramsOf(b)
	shared := 0
	for gram := range one {
		if _, ok := other[gram]; ok {
			shared++
		}
	}
	same := likeness(shared, len(one), len(other))
	if hasWordsOf(a, b) || hasWordsOf(b, a) {
		return contained + (1-contained)*same
	}
	return same
}

func hasWordsOf(name, part string) bool {
	words := strings.Fields(codex.Normalize(name))
	parts := strings.Fields(codex.Normalize(part))
	return len(parts) > 0 && !slices.ContainsFunc(parts, func(word string) bool { return !slices.Contains(words, word) })
}
