package mention

import (
	"slices"
	"strings"
	"unicode"

	"annotator"
	"annotator/codex"
)

// Wording is what a fact says, as far as its words show. It has the names of entries, and the other words that are not
// common in the story. Where spaces do not separate words, these are runs of characters.
type Wording struct {
	index, own *Index // own has the names of the fact's entry, which may be of the present call
	usage      *Usage
	parts      []wordingPart
	addressed  int64 // the entry of the person whom the narration calls "you"; 0 for none
}

// wordingPart is a name or a word of a fact.
type wordingPart struct {
	text string
	ids  []int64 // of the entries that a name may mean; nil of a word
	word []rune  // nil of a name and of a run of characters
}

// Wording returns what a fact of an entry says. It is about the entry, whether it names that or not.
func (x *Index) Wording(fact string, e *annotator.Entry, usage *Usage) *Wording {
	w := &Wording{index: x, own: New(), usage: usage}
	w.own.SetNames(e.ID, e.Names())
	for i, name := range codex.Links(fact) { // it may be that of an entry that comes later in the reply
		if len(x.Find(name))+len(w.own.Find(name)) == 0 {
			w.own.SetNames(-1-int64(i), []string{name})
		}
	}
	words, runs := usage.distinctive(w.addNames(codex.WithoutLinks(fact)))
	if !slices.ContainsFunc(w.parts, func(p wordingPart) bool { return slices.Contains(p.ids, e.ID) }) {
		w.add(wordingPart{text: e.Name(), ids: []int64{e.ID}})
	}
	for _, word := range words {
		w.add(wordingPart{text: string(word), word: word})
	}
	for _, run := range runs {
		w.add(wordingPart{text: run})
	}
	return w
}

// Address sets the entry of the person whom the narration calls "you".
func (w *Wording) Address(id int64) *Wording {
	w.addressed = id
	return w
}

// addNames adds the names of a fact, and returns the text around them.
func (w *Wording) addNames(fact string) string {
	found := slices.Concat(w.own.Occurrences(fact), w.index.Occurrences(fact))
	slices.SortStableFunc(found, func(a, b Occurrence) int { return a.Start - b.Start })
	var rest strings.Builder
	at := 0
	for i := 0; i < len(found); {
		start, end, ids := found[i].Start, found[i].End, []int64(nil)
		for ; i < len(found) && found[i].Start < end; i++ {
			ids = append(ids, found[i].ID)
		}
		w.add(wordingPart{text: fact[start:end], ids: ids})
		rest.WriteString(fact[at:start] + "\n")
		at = end
	}
	return rest.String() + fact[at:]
}

// add adds a part, unless it is there.
func (w *Wording) add(part wordingPart) {
	isSame := func(p wordingPart) bool {
		return slices.Equal(p.ids, part.ids) && (part.ids != nil || p.text == part.text)
	}
	if !slices.ContainsFunc(w.parts, isSame) {
		w.parts = append(w.parts, part)
	}
}

// in reports for each part whether a text has it, be it by a part of a name.
func (w *Wording) in(text string) []bool {
	return w.with(text, append(w.own.Named(text, w.usage), w.index.Named(text, w.usage)...))
}

// named is in without the parts of names that may mean others. An entry of the present call has none of these.
func (w *Wording) named(text string) []bool {
	found := slices.DeleteFunc(w.index.Named(text, w.usage), func(m Match) bool { return m.Shared })
	for _, m := range w.own.Named(text, w.usage) {
		if w.index.names[m.ID] == nil {
			found = append(found, m)
		}
	}
	return w.with(text, found)
}

// with reports for each part whether a text has it, given the names in the text.
func (w *Wording) with(text string, named []Match) []bool {
	has := w.wordsIn(text)
	if w.addressed != 0 && Addresses(text) {
		named = append(named, Match{ID: w.addressed})
	}
	for i := range w.parts {
		if p := &w.parts[i]; p.ids != nil {
			has[i] = slices.ContainsFunc(named, func(m Match) bool { return slices.Contains(p.ids, m.ID) })
		}
	}
	return has
}

// wordsIn is in for the words and runs; it reports false for names.
func (w *Wording) wordsIn(text string) []bool {
	words, runs := w.usage.distinctive(text)
	has := make([]bool, len(w.parts))
	for i := range w.parts {
		switch p := &w.parts[i]; {
		case p.ids != nil:
		case p.word != nil:
			has[i] = slices.ContainsFunc(words, func(word []rune) bool { return sameStem(p.word, word) })
		default:
			has[i] = slices.Contains(runs, p.text)
		}
	}
	return has
}

// A word tells what a fact is about if few scenes of several have it.
const tellingAfter = 5

// telling reports whether a part is such a word. Before the fifth scene no word is known to be one.
func (w *Wording) telling(part int) bool {
	p := &w.parts[part]
	return p.ids == nil && w.usage.scenes >= tellingAfter && w.usage.seldom(p.text)
}

// leastLetters is how many letters a word has that is named as lacking. In scripts with spaces, shorter ones are most
// often function words, which early scenes have too seldom to show it.
const leastLetters = 4

// nameable reports whether a part says something by itself: a number, a run of characters, or a longer word.
func (w *Wording) nameable(part int) bool {
	word := w.parts[part].word
	return len(word) == 0 || len(word) >= leastLetters || annotator.Unspaced(word[0]) ||
		slices.ContainsFunc(word, unicode.IsNumber)
}

// leastLacking is how many words a fact must lack to be named for it. A single one is most often put in other words.
const leastLacking = 2

// lacks returns the telling words of a fact that some posts have and no quotation has. The story says elsewhere what
// the fact adds to these. If they have nothing of the fact, its words are returned: those that say something by
// themselves, if there are such.
func (w *Wording) lacks(quotes []annotator.Evidence, posts []annotator.Post) (lacks []string) {
	has := make([]bool, len(w.parts))
	for i := range quotes {
		include(has, w.in(quotes[i].Quote))
	}
	if !slices.Contains(has, true) {
		return w.words()
	}
	told := make([]bool, len(w.parts))
	for i := range posts {
		include(told, w.wordsIn(posts[i].Body))
	}
	for i := range w.parts {
		if !has[i] && told[i] && w.telling(i) && w.nameable(i) {
			lacks = append(lacks, w.parts[i].text)
		}
	}
	if len(lacks) < leastLacking {
		return nil
	}
	return lacks
}

// words returns the words of a fact, if they are as many as one must lack. Seldom ones stand for the others, and then
// those that are nameable.
func (w *Wording) words() []string {
	var all, nameable, telling []string
	for i := range w.parts {
		if w.parts[i].ids != nil {
			continue
		}
		all = append(all, w.parts[i].text)
		if w.nameable(i) {
			nameable = append(nameable, w.parts[i].text)
		}
		if w.nameable(i) && w.telling(i) {
			telling = append(telling, w.parts[i].text)
		}
	}
	if len(all) < leastLacking {
		return nil
	}
	for _, list := range [][]string{telling, nameable} {
		if len(list) > 0 {
			return list
		}
	}
	return all
}

// include adds to some parts those of another text.
func include(has, more []bool) {
	for i := range has {
		has[i] = has[i] || more[i]
	}
}

// Lacking returns the names and the words of the fact that no quotation of it has. The entry itself is none of them:
// a pronoun may stand for it.
func (w *Wording) Lacking(e *annotator.Entry, quotes []annotator.Evidence) (names, words []string) {
	has := make([]bool, len(w.parts))
	for i := range quotes {
		include(has, w.in(quotes[i].Quote))
	}
	for i := range w.parts {
		switch p := &w.parts[i]; {
		case has[i] || slices.Contains(p.ids, e.ID):
		case p.ids != nil:
			names = append(names, p.text)
		default:
			words = append(words, p.text)
		}
	}
	return names, words
}
