package review

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"annotator"
	"annotator/codex"
	"annotator/context/mention"
	"annotator/curator"
)

// likelyNames is how similar the names of two entries are that may be one.
const likelyNames = 0.75

// How likely it is that two entries are one, if the codex guesses so, and if their facts rest on the same words.
const (
	likelyGuess = 0.6 // more if their names are similar, too
	likelyWords = 0.8
)

// findDoubles suggests pairs of entries that may be one thing. The codex guesses it, their names are similar, or their
// facts rest on the same words. Both are of a kind, and no fact tells them apart by naming one of the other.
func (r *reader) findDoubles() (found []Suggestion) {
	for _, e := range r.entries {
		for id, pair := range r.pairs(e) {
			other := r.byID[id]
			if !codex.IsOther(e, other) && !curator.Apart(e, other) && sameKind(e, other) {
				found = append(found, r.double(e, other, pair))
			}
		}
	}
	slices.SortFunc(found, func(a, b Suggestion) int { return compareScores(&a, &b) })
	return unique(found)
}

// pairs returns the entries that may be the same as an entry.
func (r *reader) pairs(e *annotator.Entry) map[int64]double {
	pairs, alike := map[int64]double{}, r.index.Likeness(e.ID, e.Names())
	propose := func(id int64, d double) {
		if other := r.byID[id]; other != nil && id != e.ID && d.score > pairs[id].score {
			pairs[id] = d
		}
	}
	for id, score := range alike {
		if score >= likelyNames {
			propose(id, double{score, "their names are alike", false})
		}
	}
	for post := range postsOf(e) {
		for _, other := range r.quoting[post] {
			if other.ID != e.ID && r.doubles.MayBeOne(e, other) && !r.sideBySide(e, other) {
				propose(other.ID, double{likelyWords, "their facts rest on the same words", false})
			}
		}
	}
	for id := range pairs {
		other := r.byID[id]
		if r.names(e, other) || r.names(other, e) || r.isOf(e, other) || r.isOf(other, e) {
			delete(pairs, id)
		}
	}
	for _, c := range open(e) {
		id := r.guessed(e, c)
		if id != 0 && (alike[id] > 0 || !isProper(e.Term) || !isProper(r.byID[id].Term)) {
			propose(id, double{likelyGuess + alike[id], "a guess of the codex says so", true})
		}
	}
	return pairs
}

// sideBySide reports whether a quotation of one of two entries names both: they are two things of one sentence.
func (r *reader) sideBySide(a, b *annotator.Entry) bool {
	for _, e := range []*annotator.Entry{a, b} {
		for _, c := range open(e) {
			for _, q := range c.Evidence {
				if r.usage.Names(q.Quote, a.Names()) && r.usage.Names(q.Quote, b.Names()) {
					return true
				}
			}
		}
	}
	return false
}

// isOf reports whether a name of an entry says that it is a thing of another one, as "tower in the Mere" does.
func (r *reader) isOf(e, other *annotator.Entry) bool {
	return slices.ContainsFunc(e.Names(), func(name string) bool { return r.relates(name, other.ID) })
}

// relates reports whether a text has a name of an entry after a word in lower case, or in the possessive.
func (r *reader) relates(text string, id int64) bool {
	return slices.ContainsFunc(r.index.Occurrences(text), func(o mention.Occurrence) bool {
		before := strings.Fields(text[:o.Start])
		possessive := strings.HasSuffix(strings.ReplaceAll(text[o.Start:o.End], "’", "'"), "'s") && o.End < len(text)
		return o.ID == id && (possessive || len(before) > 0 && isLower(before[len(before)-1]))
	})
}

// isLower reports whether a word has no capital, in a script that has some.
func isLower(word string) bool { return word == strings.ToLower(word) && word != strings.ToUpper(word) }

// double is how likely it is that two entries are one, and why.
type double struct {
	score float64
	why   string
	guess bool // a fact says so
}

// names reports whether a fact of an entry that is no guess names another one.
func (r *reader) names(e, other *annotator.Entry) bool {
	return slices.ContainsFunc(open(e), func(c *annotator.Claim) bool {
		return c.Kind != annotator.Inferred && slices.Contains(r.named(c), other.ID)
	})
}

// isProper reports whether a name begins with a capital. Two entries with such names that are not similar are two,
// whatever a guess says of both.
func isProper(name string) bool {
	first, _ := utf8.DecodeRuneInString(name)
	return unicode.IsUpper(first)
}

// guessWords is how many words a guess may have outside of names, if it says no more than that two are one.
const guessWords = 3

// guessed returns the first entry of the same kind that a guess names, if it says little else; 0 for none.
func (r *reader) guessed(e *annotator.Entry, c *annotator.Claim) int64 {
	if about := r.about(e, c); c.Kind != annotator.Inferred || about.terms.Count() > guessWords {
		return 0
	}
	text := codex.LinkNames(c.Text)
	names := r.index.Occurrences(text)
	for i, name := range names {
		other := r.byID[name.ID]
		if other != nil && other != e && sameKind(e, other) && isPredicate(text, names[i:]) {
			return name.ID
		}
	}
	return 0
}

// genitives are words before the name of what something belongs to, of several languages.
const genitives = " of de du des del della di von vom da do dos af van "

// isPredicate reports whether the first of some names of a text may be what the text says that something is. It does
// not say what belongs to it, as "the mother of Wren" does, and ends soon, but for other names.
func isPredicate(text string, names []mention.Occurrence) bool {
	name := names[0]
	before, after := mention.Words(text[:name.Start]), len(mention.Words(text[name.End:]))
	for at, n := range names[1:] {
		if n.Start >= names[at].End {
			after -= len(mention.Words(text[n.Start:n.End]))
		}
	}
	isPart := strings.HasSuffix(strings.ReplaceAll(text[name.Start:name.End], "’", "'"), "'s") ||
		len(before) > 0 && strings.Contains(genitives, " "+before[len(before)-1]+" ")
	return !isPart && after <= 1
}

// named returns the entries that a fact names.
func (r *reader) named(c *annotator.Claim) (ids []int64) {
	for _, match := range r.index.Find(codex.LinkNames(c.Text)) {
		ids = append(ids, match.ID)
	}
	return ids
}

// sameKind reports whether two entries share a tag, or one has none.
func sameKind(a, b *annotator.Entry) bool {
	return len(a.Tags) == 0 || len(b.Tags) == 0 ||
		slices.ContainsFunc(a.Tags, func(tag string) bool { return slices.Contains(b.Tags, tag) })
}

// unique leaves out suggestions with the key of an earlier one.
func unique(list []Suggestion) []Suggestion {
	seen := map[string]bool{}
	return slices.DeleteFunc(list, func(s Suggestion) bool {
		was := seen[s.Key]
		seen[s.Key] = true
		return was
	})
}

func postsOf(e *annotator.Entry) map[int64]bool {
	posts := map[int64]bool{}
	for i := range e.Claims {
		for _, q := range e.Claims[i].Evidence {
			if e.Claims[i].Until == 0 {
				posts[q.Post] = true
			}
		}
	}
	return posts
}

// double returns the suggestion that two entries are one. The one on which less rests would be merged.
func (r *reader) double(a, b *annotator.Entry, pair double) Suggestion {
	into, from := a, b
	if r.weight(into) < r.weight(from) || r.weight(into) == r.weight(from) && into.ID > from.ID {
		into, from = from, into
	}
	s := Suggestion{
		Kind: Double, Asks: "Are these one: " + from.Name() + " and " + into.Name() + "?",
		Why: pair.why, Sides: []Side{r.side(into), r.side(from)},
	}
	merge := annotator.Operation{Do: annotator.DeedMerge, Entry: from.ID, Other: into.ID}
	s.Choices = []Choice{
		{Letter: LetterYes, Does: "merge " + named(from) + " into " + named(into), Operations: operations(merge)},
		{Letter: LetterNever, Does: "they are two, and are never merged", Operations: operations(annotator.Operation{
			Do: annotator.DeedNever, Entry: from.ID, Other: into.ID,
		})},
		{Letter: LetterEdit, Does: "merge them, under a name that you type", Input: InputName, Operations: operations(
			merge, annotator.Operation{Do: annotator.DeedRename, Entry: into.ID})},
		hides(LetterReject, from),
	}
	s.Choices = append(s.Choices, r.splits(into, from)...)
	s.concern(r, from)
	s.Score, s.weak = pair.score*s.rests(), !pair.guess
	ids := []int64{a.ID, b.ID}
	slices.Sort(ids)
	s.seal(ids[0], ids[1])
	return s
}

// operations lists operations.
func operations(list ...annotator.Operation) []annotator.Operation { return list }

// hides returns the choice that takes an entry out.
func hides(letter string, e *annotator.Entry) Choice {
	return Choice{Letter: letter, Does: "take " + named(e) + " out of the codex", Operations: operations(
		annotator.Operation{Do: annotator.DeedHide, Entry: e.ID, Text: "hidden by a person"})}
}

// splits returns the choice that takes the newest merge into one of some entries back; none without a merge.
func (r *reader) splits(entries ...*annotator.Entry) []Choice {
	for _, e := range entries {
		if id := r.merged[e.ID]; id != 0 {
			return []Choice{{
				Letter: LetterSplit, Does: fmt.Sprintf("split #%d, which was merged into %s", id, named(e)),
				Operations: operations(annotator.Operation{Do: annotator.DeedSplit, Entry: id}),
			}}
		}
	}
	return nil
}

// weight is how much rests on an entry.
func (r *reader) weight(e *annotator.Entry) int { return (1 + r.mentions[e.ID]) * (1 + len(open(e))) }

// concern sets the facts and mentions of a suggestion to those of entries.
func (s *Suggestion) concern(r *reader, entries ...*annotator.Entry) {
	for _, e := range entries {
		s.Facts += len(open(e))
		s.Mentions += r.mentions[e.ID]
	}
}

// rests is how much rests on the entries that a suggestion concerns.
func (s *Suggestion) rests() float64 { return math.Log2(2 + float64(s.Mentions)*float64(s.Facts)) }

// open returns the facts of an entry that hold.
func open(e *annotator.Entry) (list []*annotator.Claim) {
	for i := range e.Claims {
		if e.Claims[i].Until == 0 {
			list = append(list, &e.Claims[i])
		}
	}
	return list
}

// maxQuotes is how many quotations a side shows.
const maxQuotes = 2

// side shows an entry with its first quotations.
func (r *reader) side(e *annotator.Entry) Side {
	s := Side{
		Entry: e.ID, Name: e.Name(), Text: codex.WithoutLinks(codex.Gist(e)), Count: r.mentions[e.ID], Place: e.First,
	}
	for _, name := range e.Names() {
		if name != e.Term {
			s.Names = append(s.Names, name)
		}
	}
	for _, c := range open(e) {
		for _, q := range c.Evidence {
			if len(s.Quotes) < maxQuotes {
				s.Quotes = append(s.Quotes, Quote{q.Post, c.From, q.Quote})
			}
		}
	}
	return s
}

// factSide shows a fact with its quotations.
func (r *reader) factSide(e *annotator.Entry, c *annotator.Claim) Side {
	s := Side{
		Entry: e.ID, Name: e.Name(), Fact: c.ID, Text: codex.WithoutLinks(c.Text), Kind: c.Kind, Place: c.From,
		Count: r.mentions[e.ID],
	}
	for _, q := range c.Evidence {
		s.Quotes = append(s.Quotes, Quote{q.Post, c.From, q.Quote})
	}
	return s
}
