package mention

import (
	"slices"
	"unicode"
	"unicode/utf8"
)

// maxHolders is how many entries a part of a name may stand for. What more of them have is a title or a kind of thing.
const maxHolders = 3

// Named returns the entries that a text names, as Find, and those that it names by a part of a name: "Brother Caul" is
// Brother Anselm Caul. A part is a word that few scenes of the story have, in lower case at that if the name capitalises
// it. Of adjacent capitalised words the last is decisive, because titles stand before a name: "Captain Vimes" does not
// name Captain Marrow, "Lord Thesk" names Hadrian Thesk. A name of one character of Han counts inside a run of Han only where few
// scenes have the character: 角 does not stand for itself in 四角.
func (x *Index) Named(text string, usage *Usage) []Match {
	words, stems := x.read(text)
	var found matches
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
		x.findParts(&found, text, words[i:end], stems, usage)
		i = end
	}
	return found.best()
}

// insideHan reports whether a part of a text is one character of Han, and stands beside another.
func insideHan(text string, start, end int) bool {
	is, size := utf8.DecodeRuneInString(text[start:end])
	before, _ := utf8.DecodeLastRuneInString(text[:start])
	after, _ := utf8.DecodeRuneInString(text[end:])
	return start+size == end && unicode.Is(unicode.Han, is) && (unicode.Is(unicode.Han, before) || unicode.Is(unicode.Han, after))
}

// goesOn reports whether a word goes on with a run of capitalised words that belong to no whole name.
func (x *Index) goesOn(words []word, i int) bool {
	return words[i].capital && !words[i].named && !words[i-1].named && words[i].start == words[i-1].end+1 && words[i].inside
}

// findParts finds the entries that have the last word of a run as a part of a name, and of these the ones that have most
// of its words.
func (x *Index) findParts(found *matches, text string, run []word, stems []int32, usage *Usage) {
	last := &run[len(run)-1]
	if last.named {
		return
	}
	others := make([][]int64, len(run)-1)
	for i := range others {
		others[i] = x.holders(text, &run[i], stems, usage)
	}
	best, holders := 0, []int64(nil)
	for _, id := range x.holders(text, last, stems, usage) {
		n := 1
		for _, ids := range others {
			if _, has := slices.BinarySearch(ids, id); has {
				n++
			}
		}
		if n > best {
			best, holders = n, nil
		}
		if n == best {
			holders = append(holders, id)
		}
	}
	if len(holders) > maxHolders {
		return
	}
	for _, id := range holders {
		found.add(id, best, int(last.start))
	}
}

// holders returns the entries of which a word can be a part of a name, in the order of their ids. One that names do not capitalise must
// be a part of the names of one entry: what is brass is no particular thing of brass.
func (x *Index) holders(text string, w *word, stems []int32, usage *Usage) []int64 {
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
	if plain = distinct(plain); len(plain) == 1 {
		ids = append(ids, plain[0])
	}
	return distinct(ids)
}

func distinct(ids []int64) []int64 {
	slices.Sort(ids)
	return slices.Compact(ids)
}
