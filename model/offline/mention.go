package offline

import (
	"strings"
	"unicode/utf8"

	"annotator/codex/identity"
)

// mention is an occurrence of a name in a text.
type mention struct {
	span          // including the title
	core     span // of the name without its title
	lo, hi   int  // the words are words[lo:hi] of its text
	titled   bool
	definite bool // preceded by "the"
	initial  bool // it begins a sentence, so its capital is not significant
	text     int  // index of the text
	sentence int
}

// reader finds mentions. It first counts how each word is written, to distinguish names from other capitalised words.
type reader struct {
	lex   *lexicon
	texts []*text
	lower map[string]int // lower-case occurrences of a word
	mid   map[string]int // capitalised occurrences inside a sentence
}

func newReader(lex *lexicon, bodies []string) *reader {
	r := &reader{lex: lex, lower: map[string]int{}, mid: map[string]int{}}
	r.add(bodies)
	return r
}

// add reads further texts.
func (r *reader) add(bodies []string) {
	for _, body := range bodies {
		t := readText(body, r.lex)
		r.texts = append(r.texts, t)
		for i := range t.words {
			switch w := &t.words[i]; {
			case !w.capital:
				r.lower[w.lower]++
			case !w.initial && !w.shouted:
				r.mid[w.lower]++
			}
		}
	}
}

// mentions returns the mentions in the texts from an index on, in order.
func (r *reader) mentions(first int) []mention {
	var all []mention
	for i := first; i < len(r.texts); i++ {
		t := r.texts[i]
		for lo := 0; lo < len(t.words); {
			hi := r.runEnd(t, lo)
			if m, ok := r.mention(t, lo, hi); ok {
				m.text = i
				all = append(all, m)
			}
			lo = max(hi, lo+1)
		}
	}
	return all
}

// runEnd returns the end of the run of capitalised words that begins at lo; lo if there is none.
func (r *reader) runEnd(t *text, lo int) int {
	if !r.nameable(t, lo) {
		return lo
	}
	hi := lo + 1
	for hi < len(t.words) {
		next := r.skipParticles(t, lo, hi)
		if next == len(t.words) || !r.nameable(t, next) || !r.joined(t, next) {
			break
		}
		hi = next + 1
	}
	return hi
}

// nameable reports whether a word may be part of a name.
func (r *reader) nameable(t *text, i int) bool {
	w := &t.words[i]
	if !w.capital || r.lex.isNever(w.lower) && !r.calledMay(t, i) {
		return false
	}
	if utf8.RuneCountInString(w.lower) == 1 {
		return strings.HasPrefix(t.body[w.full:], ".")
	}
	if w.shouted {
		return utf8.RuneCountInString(w.lower) <= maxAcronym && r.lower[w.lower] == 0 && !r.lex.common[w.lower]
	}
	s := t.in(w.span)
	cut := strings.LastIndexByte(s, '-')
	return cut <= 0 || !r.lex.common[s[cut+1:]] // German-speaking, Sunday-school
}

// calledMay reports whether a month is a first name, since a name follows it: May Welland.
func (r *reader) calledMay(t *text, i int) bool {
	if i+1 == len(t.words) || !r.lex.months[t.words[i].lower] {
		return false
	}
	next := &t.words[i+1]
	return next.capital && !next.initial && !r.lex.isNever(next.lower) && !r.lex.isTitle(next.lower) && r.joined(t, i+1)
}

// maxAcronym is the maximum length of an acronym, in letters. A longer word in capitals is emphasis.
const maxAcronym = 5

// joined reports whether word i continues the name that the word before it is part of.
func (r *reader) joined(t *text, i int) bool {
	prev, w := &t.words[i-1], &t.words[i]
	if prev.sentence != w.sentence {
		return false
	}
	gap := t.body[prev.full:w.start]
	if strings.HasPrefix(gap, ".") && abbreviated(prev, r.lex) {
		gap = gap[1:]
	}
	if prev.full != prev.end && !r.lex.places[w.lower] {
		return false
	}
	blank := strings.TrimSpace(gap)
	return strings.Count(gap, "\n") < 2 && (blank == "" && gap != "" || blank == "&")
}

// skipParticles returns the index of the first word from hi on that is no particle of the name begun at lo.
func (r *reader) skipParticles(t *text, lo, hi int) int {
	i := hi
	for i < len(t.words) && i < hi+3 && !t.words[i].capital && r.lex.particles[t.words[i].lower] && r.joined(t, i) {
		i++
	}
	if i == hi || i == len(t.words) {
		return i
	}
	if t.words[hi].lower == "of" && !r.takesOf(t, lo, hi) || t.words[hi].lower == "the" {
		return hi
	}
	return i
}

// takesOf reports whether the words [lo, hi) and "of" begin one name: Count of Monte Cristo, not Ysolde of Vesper.
func (r *reader) takesOf(t *text, lo, hi int) bool {
	return r.lex.ranks[t.words[hi-1].lower] && (hi-lo == 1 || !r.lex.isTitle(t.words[lo].lower))
}

// mention returns the mention in the run [lo, hi), if there is one.
func (r *reader) mention(t *text, lo, hi int) (mention, bool) {
	lo = r.dropOpener(t, r.dropEpithets(t, lo, hi), hi)
	core := r.dropTitles(t, lo, hi)
	if core >= hi {
		return mention{}, false
	}
	end := t.words[hi-1].end
	return mention{
		span: span{t.words[lo].start, end}, core: span{t.words[core].start, end}, lo: lo, hi: hi, titled: core > lo,
		definite: lo > 0 && t.words[lo-1].lower == "the" && r.joined(t, lo),
		initial:  t.words[lo].initial, sentence: t.words[lo].sentence,
	}, true
}

// dropEpithets skips words like "poor" before a name.
func (r *reader) dropEpithets(t *text, lo, hi int) int {
	for lo < hi-1 && r.lex.epithets[t.words[lo].lower] && t.words[lo+1].capital && !r.lex.common[t.words[lo+1].lower] {
		lo++
	}
	return lo
}

// dropOpener skips a first word that is capitalised only because it begins a sentence.
func (r *reader) dropOpener(t *text, lo, hi int) int {
	if w := &t.words[lo]; !w.initial || r.lex.isTitle(w.lower) || !r.ordinary(w.lower) && !r.opens(t, lo, hi) {
		return lo
	}
	return nextCapital(t, lo+1, hi)
}

// opens reports whether the first word of a sentence stands before a name and is no part of it. A title follows, or a
// name that the story also has inside sentences. The word itself is never capitalised there, and no first name.
func (r *reader) opens(t *text, lo, hi int) bool {
	next := nextCapital(t, lo+1, hi)
	if next >= hi || r.lex.isTitle(t.words[lo].lower) || identity.IsFirstName(t.words[lo].lower) {
		return false
	}
	return r.lex.isTitle(t.words[next].lower) || r.mid[t.words[lo].lower] == 0 && r.mid[t.words[next].lower] > 1
}

// nextCapital returns the first capitalised word of [lo, hi), hi where there is none.
func nextCapital(t *text, lo, hi int) int {
	for lo < hi && !t.words[lo].capital {
		lo++
	}
	return lo
}

// ordinary reports whether a word is a common word, by its use in this text, else by the lexicon.
func (r *reader) ordinary(lower string) bool {
	if mid := r.mid[lower]; mid > 0 {
		return r.lower[lower] > mid
	}
	return r.lower[lower] > 0 || r.lex.common[lower]
}

// dropTitles returns the start of the name without titles. A title followed by "of" is part of the name.
func (r *reader) dropTitles(t *text, lo, hi int) int {
	core := lo
	for core < hi && r.lex.isTitle(t.words[core].lower) {
		if core+1 < hi && t.words[core+1].lower == "of" {
			return core
		}
		core++
	}
	return nextCapital(t, core, hi)
}
