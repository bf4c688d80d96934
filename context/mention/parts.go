package mention

import (
	"maps"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxHolders is how many entries may share a part of a name. A part that more of them have is a title or a kind of
// thing.
const maxHolders = 3

// Named returns the entries that a text names, as Find does, and those that it names by a part of a name. So "Brother
// Caul" is Brother Anselm Caul. A part is a word that few scenes of the story have, in lower case at that if the name
// capitalises it. The last of adjacent capitalised words is decisive, because titles precede a name: "Captain Vimes"
// does not name Captain Marrow, "Lord Thesk" names Hadrian Thesk. A name of one character of Han counts inside a run of
// Han only where few scenes have the character. So 角 in 四角 is not the name. A part that several entries have means
// those of them that the text also names otherwise, if it names any. So "Tom" is Tom Fox in a text that has the whole
// name, too.
func (x *Index) Named(text string, usage *Usage) []Match {
	read := x.read(text)
	defer x.done(read)
	words, stems := read.words, read.stems
	var found matches
	var doubtful []sharedPart
	x.findNames(words, stems, func(id int64, h hit, start int32) {
		if !insideHan(text, int(start), int(h.last)) || usage.seldom(text[start:h.last]) {
			found.addHit(id, h, start)
		}
	})
	for i := 0; i < len(words); {
		end := i + 1
		for end < len(words) && words[i].capital && x.goesOn(words, end) {
			end++
		}
		switch p := x.findPart(text, words, i, end, stems, usage); {
		case len(p.holders) == 1:
			found.add(p.holders[0], p.words, p.at)
		case len(p.holders) > 1 && len(p.holders) <= maxHolders:
			doubtful = append(doubtful, p)
		}
		i = end
	}
	found.addShared(doubtful)
	return found.best()
}

// sharedPart is a place in a text of a part of the names of some entries.
type sharedPart struct {
	holders []int64
	words   int // of the name
	at      int
}

// addShared adds parts that several entries have.
func (m *matches) addShared(parts []sharedPart) {
	named := maps.Clone(m.rank)
	for _, p := range parts {
		isNamed := func(id int64) bool { _, ok := named[id]; return ok }
		meant := slices.DeleteFunc(slices.Clone(p.holders), func(id int64) bool { return !isNamed(id) })
		if len(meant) == 0 {
			meant = p.holders
		}
		for _, id := range meant {
			_, known := m.rank[id]
			m.add(id, p.words, p.at)
			at := &m.list[m.rank[id]]
			at.Shared = len(meant) > 1 && (!known || at.Shared)
		}
	}
}

// insideHan reports whether a part of a text is one character of Han next to another.
func insideHan(text string, start, end int) bool {
	is, size := utf8.DecodeRuneInString(text[start:end])
	before, _ := utf8.DecodeLastRuneInString(text[:start])
	after, _ := utf8.DecodeRuneInString(text[end:])
	return start+size == end && unicode.Is(unicode.Han, is) &&
		(unicode.Is(unicode.Han, before) || unicode.Is(unicode.Han, after))
}

// goesOn reports whether a word continues a run of capitalised words that belong to no whole name.
func (x *Index) goesOn(words []word, i int) bool {
	return words[i].capital && !words[i].named && !words[i-1].named && words[i].start == words[i-1].end+1 &&
		words[i].inside
}

// findPart finds the entries that have the last word of a run as a part of a name. Of these it returns the ones that
// have most of its words. The run is the words from an index up to another one.
func (x *Index) findPart(
	text string, words []word, from, to int, stems []int32, usage *Usage,
) (best sharedPart) {
	run := words[from:to]
	last := &run[len(run)-1]
	if last.named {
		return best
	}
	others := make([][]int64, len(run)-1)
	for i := range others {
		others[i] = x.holders(text, words, from+i, stems, usage)
	}
	best.at = int(last.start)
	for _, id := range x.holders(text, words, to-1, stems, usage) {
		n := 1
		for _, ids := range others {
			if _, has := slices.BinarySearch(ids, id); has {
				n++
			}
		}
		if n > best.words {
			best.words, best.holders = n, nil
		}
		if n == best.words {
			best.holders = append(best.holders, id)
		}
	}
	return best
}

// holders returns the entries of which a word at an index can be a part of a name, in the order of their ids. A word
// that names do not capitalise must be a part of the names of one entry: "brass" names no particular thing of brass. It
// must also be definite: "your mother" is not Ann's mother.
func (x *Index) holders(text string, words []word, at int, stems []int32, usage *Usage) []int64 {
	w := &words[at]
	numbers := stems[w.from:w.to]
	if w.number != 0 {
		numbers = append([]int32{w.number}, numbers...)
	}
	if len(numbers) == 0 {
		return nil
	}
	s := scanner{text: text[w.start:w.end]}
	s.next()
	folded := string(bare(s.folded))
	proper, rare := usage.proper(folded, w.capital, w.inside), usage.rare(folded)
	if !proper && !rare {
		return nil
	}
	var ids, plain []int64
	for _, number := range numbers {
		for _, p := range x.parts[number] {
			switch {
			case p.capital && proper:
				ids = append(ids, p.id)
			case !p.capital && rare:
				plain = append(plain, p.id)
			}
		}
	}
	if plain = distinct(plain); len(plain) == 1 && x.definite(text, words, at, plain[0], usage) {
		ids = append(ids, plain[0])
	}
	return distinct(ids)
}

// definite reports whether a word at an index may mean a particular thing. Before it is an article, or another word of
// the names of the entry. In languages without articles all words may.
func (x *Index) definite(text string, words []word, at int, id int64, usage *Usage) bool {
	articles := usage.articles()
	switch {
	case articles == "", strings.HasPrefix(foldedWord(text[words[at].start:words[at].end]), elided):
		return true
	case at == 0:
		return false
	}
	before := &words[at-1]
	return hasWord(articles, foldedWord(text[before.start:before.end])) ||
		slices.ContainsFunc(x.parts[before.number], func(p part) bool { return p.id == id })
}

func distinct(ids []int64) []int64 {
	slices.Sort(ids)
	return slices.Compact(ids)
}
