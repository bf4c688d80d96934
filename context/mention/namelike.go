package mention

import (
	"math"
)

// findHeads counts the entries of which a word is what a name says that it is: "plantation" of "Ravenel Plantation",
// "ledger" of "Ledger of Names". It is the last word, or the one before a word of the language inside the name.
func (r *recurring) findHeads() {
	for _, names := range r.index.names {
		own := map[int32]bool{}
		for _, name := range names {
			words := Words(name)
			if len(words) < 2 {
				continue
			}
			end := 1
			for end < len(words) && !r.common(&r.known[r.numbers[words[end]]]) {
				end++
			}
			own[r.numbers[words[end-1]]] = true
		}
		for head := range own {
			r.known[head].heads++
		}
	}
}

// A word of most scenes is one of the language if it is more than one of functionShare words of the text. Words for
// what a story is about are fewer.
const functionShare = 250

// common reports whether a word is one of the language, that no name ends with.
func (r *recurring) common(w *knownWord) bool {
	return r.usage.common(w.folded) && w.usage.lower > w.usage.capital && w.total*functionShare > r.words
}

// A scene that means one thing by a description comes back to it: descriptionDensity times on average.
const descriptionDensity = 2

// maxHeads is how many entries may have a word as a head of their names, for a phrase to be a short form of one.
const maxHeads = 3

// nameLike reports whether a phrase is used as a name is. No name is an abbreviation before names, as "Mr." is. A
// description without capitals is used as one if it is a short form, and the story has its noun mostly so. Or it names
// somebody: scenes come back to it, and mostly as what acts, not as a place.
func (r *recurring) nameLike(p *recurrent) bool {
	head := r.last(p)
	written := r.capitals && head.usage.capital > head.usage.lower
	return r.score(p) >= phraseScore && 3*p.dotted <= 2*p.ends &&
		(written || r.shortForm(p) && 2*p.all >= head.total-head.inNames ||
			p.ends >= descriptionDensity*p.scenes && 2*p.led < p.all)
}

// shortForm reports whether a phrase is the head of names of a few entries, with an article.
func (r *recurring) shortForm(p *recurrent) bool {
	n := r.last(p).heads
	return p.article != "" && len(p.words) == 1 && n > 0 && n <= maxHeads
}

// score is how much a phrase is used as a name is. It is often there, in many scenes, and in these rather than
// elsewhere in the story. Its last word has an article rather than none, and is one of names. It begins sentences. A
// name without an article that shares no word with names of entries is rather that of something without an entry.
func (r *recurring) score(p *recurrent) float64 {
	head := r.last(p)
	w, ends := &head.usage, float64(p.ends)
	score := float64(p.scenes) * math.Sqrt(ends) * ends / float64(max(1, head.total-head.inNames)) *
		(1 + float64(p.starts)/ends)
	here := float64(p.scenes) / float64(len(r.scenes))
	score *= math.Sqrt(min(4, max(1, here*float64(r.usage.scenes)/float64(max(1, w.scenes)))))
	if p.article != "" && r.capitals && w.capital > w.lower {
		score *= 2
	}
	if len(p.words) > 1 {
		score *= 1.5
	}
	switch {
	case r.shortForm(p):
		score *= 4
	case len(r.index.parts[r.index.numbers[head.folded]]) > 0:
		score *= 2
	case r.articles != "" && p.article == "":
		score /= 4
	}
	return score
}
