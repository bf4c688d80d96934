package mention

import (
	"slices"
	"strings"
	"unicode"

	"annotator"
	"annotator/codex"
)

// How much of a fact another one has if it says the same.
const (
	repeatedWords = 6 // it may lack one of as many words of the fact
	surelyWords   = 3 // with fewer words in common, the two have their subjects in the same order
)

// Repeats reports whether another entry's fact says what a fact of an entry says. It names the entry, all other entries
// that the fact names, and its numbers. It has the other words that are not common in the story, of which there is one
// at least. Names of both entries do not count, because each entry has pronouns for its own. If few words are shared,
// both facts begin with the same entry: that she fears him is not that he fears her.
func (x *Index) Repeats(fact string, of *annotator.Entry, told string, by *annotator.Entry, usage *Usage) bool {
	subjects := indexOf(of, by)
	if !subjects.namesOne(told, of.ID) || !x.namesAll(fact, told, of.ID, by.ID) || !hasNumbers(fact, told) {
		return false
	}
	shared, all := usage.shared(fact, told, namesOf(of, by))
	sameOrder := subjects.begins(fact, of.ID, by.ID) != subjects.begins(told, by.ID, of.ID)
	return shared > 0 && repeatedWords*(all-shared) <= all && (sameOrder || shared >= surelyWords)
}

// Resumes reports whether another entry's fact says half of what a fact of an entry says. It names the entry, and has
// the numbers of the fact and half of the other words that Repeats compares, one at least.
func Resumes(fact string, of *annotator.Entry, told string, by *annotator.Entry, usage *Usage) bool {
	if !indexOf(of).namesOne(told, of.ID) || !hasNumbers(fact, told) {
		return false
	}
	shared, all := usage.shared(fact, told, namesOf(of, by))
	return shared > 0 && 2*shared >= all
}

// indexOf returns an index of the names of some entries only.
func indexOf(entries ...*annotator.Entry) *Index {
	x := New()
	for _, e := range entries {
		x.SetNames(e.ID, e.Names())
	}
	return x
}

// namesOf returns the names of two entries as lines.
func namesOf(a, b *annotator.Entry) string {
	return strings.Join(append(a.Names(), b.Names()...), "\n")
}

// namesOne reports whether a text names an entry.
func (x *Index) namesOne(text string, id int64) bool {
	return slices.ContainsFunc(x.Find(text), func(m Match) bool { return m.ID == id })
}

// begins reports whether a fact of an entry begins with that entry, rather than with another one. If the fact does not
// name the entry, it begins with it unless its first word names the other.
func (x *Index) begins(fact string, own, other int64) bool {
	first := func(id int64) int {
		at := slices.IndexFunc(x.Find(fact), func(m Match) bool { return m.ID == id })
		if at < 0 {
			return len(fact)
		}
		return x.Find(fact)[at].First
	}
	if first(own) < len(fact) {
		return first(own) <= first(other)
	}
	return codex.HasWord(fact[:first(other)])
}

// shared returns how many of the words of a text another one has, and how many there are. Common words and words of
// names do not count. Where spaces do not separate words, these are runs of characters.
func (u *Usage) shared(text, other, names string) (shared, all int) {
	words, runs := u.distinctive(text)
	others, otherRuns := u.distinctive(other)
	named, _ := u.distinctive(names)
	for _, run := range runs {
		if slices.Contains(otherRuns, run) {
			shared++
		}
	}
	all = len(runs)
	for _, word := range words {
		isSame := func(w []rune) bool { return sameStem(word, w) }
		if slices.ContainsFunc(named, isSame) {
			continue
		}
		if all++; slices.ContainsFunc(others, isSame) {
			shared++
		}
	}
	return shared, all
}

// namesAll reports whether a text names all entries that another one names, but for some.
func (x *Index) namesAll(named, by string, but ...int64) bool {
	found := x.Find(by)
	return !slices.ContainsFunc(x.Find(named), func(m Match) bool {
		return !slices.Contains(but, m.ID) && !slices.ContainsFunc(found, func(f Match) bool { return f.ID == m.ID })
	})
}

// hasNumbers reports whether a text has all words with digits of another one.
func hasNumbers(of, text string) bool {
	words := Words(text)
	return !slices.ContainsFunc(Words(of), func(word string) bool {
		return strings.ContainsFunc(word, unicode.IsDigit) && !slices.Contains(words, word)
	})
}

// Linked returns a text in which the first name of an entry is a link to it, unless there is one.
func Linked(text string, e *annotator.Entry) string {
	own := indexOf(e)
	if slices.ContainsFunc(codex.Links(text), own.isName) {
		return text
	}
	var b strings.Builder
	linked := false
	codex.ReplaceLinks(text, func(plain string) {
		if found := own.Occurrences(plain); len(found) > 0 && !linked {
			at, name := found[0], plain[found[0].Start:found[0].End]
			link := "[[" + e.Name() + "|" + name + "]]"
			if name == e.Name() {
				link = "[[" + name + "]]"
			}
			plain, linked = plain[:at.Start]+link+plain[at.End:], true
		}
		b.WriteString(plain)
	}, func(name, shown string) {
		if name == shown {
			b.WriteString("[[" + name + "]]")
			return
		}
		b.WriteString("[[" + name + "|" + shown + "]]")
	})
	return b.String()
}
