package mention

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"annotator"
)

// Usage is how a story uses words, from a part of its scenes. It distinguishes the words of the language from those
// that only name things, without a list of either.
type Usage struct {
	scenes int
	total  int                   // words
	words  map[string]*wordUsage // by the folded word, without a possessive ending
}

// wordUsage is what is known of a word. At the beginning of a sentence its case has no meaning.
type wordUsage struct {
	lower   int // occurrences without a capital
	capital int // occurrences with a capital inside a sentence
	scenes  int // that have it
	last    int // of these, counted from 1
}

// NewUsage returns the usage of no scenes.
func NewUsage() *Usage { return &Usage{words: map[string]*wordUsage{}} }

// Add adds a scene.
func (u *Usage) Add(text string) {
	u.scenes++
	for s := (scanner{text: text}); s.next(); {
		u.total++
		folded := bare(s.folded)
		w := u.words[string(folded)]
		if w == nil {
			w = &wordUsage{}
			u.words[string(folded)] = w
		}
		switch {
		case !s.capitalised():
			w.lower++
		case s.inside:
			w.capital++
		}
		if w.last != u.scenes {
			w.scenes++
			w.last = u.scenes
		}
	}
}

// Scenes returns how many scenes were added.
func (u *Usage) Scenes() int { return u.scenes }

// articles returns the definite articles of the story's language, as a list of words; empty for none.
func (u *Usage) articles() string {
	return articlesOf(func(word string) int { return u.of(word).lower }, u.total)
}

func (u *Usage) of(folded string) wordUsage {
	if w := u.words[folded]; w != nil {
		return *w
	}
	return wordUsage{}
}

// few reports whether a word is in few of the scenes: in at most a given share of them, or in at most least scenes.
func (u *Usage) few(w wordUsage, share, least int) bool {
	return w.scenes <= max(least, u.scenes/share)
}

// Shares of the scenes above which a word is no part of a name.
const (
	rareShare, leastRare = 10, 2 // a word that a name does not capitalise
	// one that it does: a name may be in many scenes, all nouns of German are in most
	capitalShare, leastCapital = 2, 8
	// one that names a thing by itself
	namingShare, leastNaming = 4, 3
)

// proper reports whether a word, as a text writes it, can be a name that capitalises it. The story must not write it
// more often without a capital. Where a sentence begins with it here, the story must never write it without one.
func (u *Usage) proper(folded string, capital, inside bool) bool {
	w := u.of(folded)
	return capital && utf8.RuneCountInString(folded) > 1 && w.lower <= w.capital && (inside || w.lower == 0) &&
		u.few(w, capitalShare, leastCapital)
}

// seldom reports whether few scenes have a word.
func (u *Usage) seldom(folded string) bool { return u.few(u.of(folded), rareShare, leastRare) }

// rare reports whether a word can be a name that does not capitalise it. A number cannot.
func (u *Usage) rare(folded string) bool {
	return utf8.RuneCountInString(folded) > 1 && strings.ContainsFunc(folded, unicode.IsLetter) && u.seldom(folded)
}

// Names reports whether a text has one of some names of a thing, in any case, or a distinctive word of one. Few scenes
// have such a word, or the story writes it as a name. In scripts without spaces only a whole name counts.
func (u *Usage) Names(text string, names []string) bool {
	var all []string
	for _, name := range names {
		all = append(all, strings.ToLower(name))
		for s := (scanner{text: name}); s.next(); {
			first, _ := utf8.DecodeRuneInString(name[s.start:])
			folded := string(bare(s.folded))
			if utf8.RuneCountInString(folded) > 1 && !annotator.Unspaced(first) &&
				(u.few(u.of(folded), namingShare, leastNaming) || u.proper(folded, s.capitalised(), true)) {
				all = append(all, folded)
			}
		}
	}
	index := New()
	index.SetNames(1, all)
	return len(index.Find(text)) > 0
}
