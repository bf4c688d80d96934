package prompt

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"annotator"
	"annotator/codex"
)

// Excerpt renders an entry in a scene's message, as Entry, but without the facts that its present statement sums up. It
// shows who or what it is, the statement, the states that hold, and the facts since. An outdated statement is left out,
// as by codex.Present.
//
// If fits refuses that text, Excerpt shows what fits of it. The facts that open the entry come first, and states come
// before other facts. Among these, the facts that share words with the scene come first, then the newest. The attribute
// more_facts says how many facts are left out. It returns "" if nothing fits.
func Excerpt(e *annotator.Entry, scene string, fits func(text string) bool) string {
	current := *e
	current.Present = codex.Present(e)
	return excerpt(&current, scene, fits)
}

// Outdated renders an entry whose present statement is to be written anew. If the whole entry does not fit, it shows
// the former statement, the states that hold, and the facts since, as an excerpt.
func Outdated(e *annotator.Entry, fits func(text string) bool) string {
	if text := Entry(e); fits(text) {
		return text
	}
	return excerpt(e, "", fits)
}

// excerpt renders what fits of an entry without the facts that its present statement sums up.
func excerpt(e *annotator.Entry, scene string, fits func(text string) bool) string {
	open := slices.DeleteFunc(slices.Clone(e.Claims), func(c annotator.Claim) bool { return c.Until != 0 })
	shown := slices.DeleteFunc(slices.Clone(open), func(c annotator.Claim) bool {
		guess := scene == "" && c.Kind == annotator.Inferred // the question asks whether it is settled
		return e.Present != "" && !c.State && !c.Identity && !guess && c.Revision <= e.PresentRevision
	})
	text := entry(e, shown, len(open)-len(shown))
	if fits(text) {
		return text
	}
	ranked, best := rank(e, shown, scene), ""
	low, high := 1, len(ranked)-1
	if e.Present != "" {
		low = 0
	}
	for low <= high { // what fits of n facts fits of fewer
		n := (low + high) / 2
		if text := entry(e, ranked[:n], len(open)-n); fits(text) {
			best, low = text, n+1
		} else {
			high = n - 1
		}
	}
	return best
}

// rank returns facts in the order in which a scene needs them. Those that open the entry say what it is. A word counts
// for more the fewer of the facts have it: most facts of a main character name the others.
func rank(e *annotator.Entry, facts []annotator.Claim, scene string) []annotator.Claim {
	words, holders, near := longWords(scene), map[string]int{}, map[int64]float64{}
	for i := range facts {
		for _, word := range longWords(facts[i].Text) {
			holders[word]++
		}
	}
	for i := range facts {
		for _, word := range longWords(facts[i].Text) {
			if _, shared := slices.BinarySearch(words, word); shared {
				near[facts[i].ID] += 1 / float64(holders[word])
			}
		}
	}
	first := func(yes bool) int {
		if yes {
			return 0
		}
		return 1
	}
	ranked, opening := inOrder(e, facts)
	slices.SortStableFunc(ranked[opening:], func(a, b annotator.Claim) int {
		return cmp.Or(cmp.Compare(first(a.State), first(b.State)), cmp.Compare(near[b.ID], near[a.ID]),
			cmp.Compare(b.From, a.From), cmp.Compare(b.ID, a.ID))
	})
	return ranked
}

// longWord is the least length of a word by which facts are compared with a scene. Shorter ones are in every text.
const longWord = 5

// longWords returns the longer words of a text, each once, in lower case.
func longWords(text string) []string {
	words := strings.FieldsFunc(strings.ToLower(text), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsMark(r)
	})
	words = slices.DeleteFunc(words, func(word string) bool { return utf8.RuneCountInString(word) < longWord })
	slices.Sort(words)
	return slices.Compact(words)
}

// number renders a number that is left out if it is 0.
func number(n int) string {
	if n == 0 {
		return ""
	}
	return strconv.Itoa(n)
}
