package mention

import (
	"cmp"
	"slices"
	"strings"

	"annotator/codex/identity"
)

// ShortForm is how a story names somebody by a part of a name, or with a title: "Marrow", "Captain Marrow". It is no
// name of an entry.
type ShortForm struct {
	Phrase
	Holders []int64 // the entries that have its last word in a name, in the order of their ids
}

// Bounds of a short form.
const (
	shortFormCount = 2  // the fewest occurrences
	shortFormWords = 4  // the most, with titles
	maxBearers     = 12 // the most entries with its last word
)

// ShortForms returns the short forms that scenes use repeatedly, the most frequent first. It also returns how often the
// scenes have the names of each entry.
func (x *Index) ShortForms(scenes []string, usage *Usage, limit int) (forms []ShortForm, named map[int64]int) {
	r := shortForms{index: x, usage: usage, forms: map[string]*shortForm{}, named: map[int64]int{}}
	for n, text := range scenes {
		r.read(n, text)
	}
	for _, f := range r.forms {
		if f.Count < shortFormCount || x.isName(f.Text) {
			continue
		}
		if holders := x.bearers(f.last); len(holders) > 0 && len(holders) <= maxBearers {
			forms = append(forms, ShortForm{f.Phrase, holders})
		}
	}
	slices.SortFunc(forms, func(a, b ShortForm) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Key, b.Key))
	})
	return forms[:min(limit, len(forms))], r.named
}

// bearers returns the entries with a word in a name, or as a name.
func (x *Index) bearers(word string) (ids []int64) {
	number := x.numbers[word]
	for _, p := range x.parts[number] {
		ids = append(ids, p.id)
	}
	for _, o := range x.nodes[x.edges[edge{0, number}]] {
		ids = append(ids, o.id)
	}
	return distinct(ids)
}

// shortForms collects the short forms of some scenes.
type shortForms struct {
	index *Index
	usage *Usage
	forms map[string]*shortForm
	named map[int64]int
}

type shortForm struct {
	Phrase
	last   string // its last word, folded
	newest int    // the scene of its last occurrence, from 1
}

func (r *shortForms) read(scene int, text string) {
	read := r.index.read(text)
	defer r.index.done(read)
	words := read.words
	var names []span
	r.index.findNames(words, read.stems, func(id int64, h hit, start int32) {
		r.named[id]++
		names = append(names, span{start, h.last})
	})
	for i := 0; i < len(words); {
		end := i + 1
		for end < len(words) && goesOnAfter(text, words[end-1], words[end]) {
			end++
		}
		if words[i].capital && (end > i+1 || !ofFamily(text, words, i)) {
			r.add(scene, text, words[i:end], names)
		}
		i = end
	}
}

// span is a part of a text, in bytes.
type span struct{ start, end int32 }

// ofFamily reports whether a word stands between an article and a noun, as a family's name does: the Marrow place.
func ofFamily(text string, words []word, i int) bool {
	return i > 0 && i+1 < len(words) && !words[i+1].capital && text[words[i].end:words[i+1].start] == " " &&
		text[words[i-1].end:words[i].start] == " " && foldedWord(text[words[i-1].start:words[i-1].end]) == "the"
}

// goesOnAfter reports whether two words belong to a run of capitalised words. A title may have a point, and a word in
// dialect an apostrophe at its end: Mis' Hill.
func goesOnAfter(text string, w, next word) bool {
	switch between := text[w.end:next.start]; {
	case !w.capital || !next.capital:
		return false
	case between == " " || between == "\n":
		return true
	case between == ". " || between == ".\n":
		return identity.IsTitle(foldedWord(text[w.start:w.end]))
	case between == "' " || between == "’ ":
		return !strings.HasSuffix(text[:w.start], "'") && !strings.HasSuffix(text[:w.start], "‘")
	}
	return false
}

// add adds a run of capitalised words, unless a name covers it or a part of it and more.
func (r *shortForms) add(scene int, text string, run []word, names []span) {
	first := foldedWord(text[run[0].start:run[0].end])
	if len(run) > 1 && !run[0].inside && !identity.IsTitle(first) && r.usage.of(first).lower > 0 {
		run = run[1:] // it begins a sentence
	}
	last := run[len(run)-1]
	folded := foldedWord(text[last.start:last.end])
	w := r.usage.of(folded)
	start, end := run[0].start, last.end
	if len(run) > shortFormWords || w.capital == 0 || w.lower > w.capital || identity.IsTitle(folded) ||
		r.index.numbers[folded] == 0 || covered(names, start, end) {
		return
	}
	form := withoutPossessive(text[start:end])
	key := strings.Join(Words(form), " ")
	f := r.forms[key]
	if f == nil {
		f = &shortForm{
			Phrase: Phrase{Text: strings.Join(strings.Fields(form), " "), Key: key, Scene: scene, Start: int(start)},
			last:   folded,
		}
		r.forms[key] = f
	}
	f.Count++
	if f.newest != scene+1 {
		f.newest, f.Scenes = scene+1, f.Scenes+1
	}
}

// covered reports whether a name covers a part of a text, or a part of it and what is outside of it.
func covered(names []span, start, end int32) bool {
	at, _ := slices.BinarySearchFunc(names, start, func(n span, start int32) int { return cmp.Compare(n.end, start+1) })
	for ; at < len(names) && names[at].start < end; at++ {
		if n := names[at]; n.start < start || n.end > end || n.start == start && n.end == end {
			return true
		}
	}
	return false
}

// foldedWord returns a word in the form in which words compare, without a possessive ending.
func foldedWord(text string) string {
	s := scanner{text: text}
	s.next()
	return string(bare(s.folded))
}

// withoutPossessive returns a form without the ending that bare takes from its last word.
func withoutPossessive(form string) string {
	at := strings.LastIndexAny(form, apostrophes)
	if at > 0 && at > strings.LastIndexByte(form, ' ') && strings.HasSuffix(strings.ToLower(form), "s") &&
		len([]rune(form[at:])) == len("'s") {
		return form[:at]
	}
	return form
}
