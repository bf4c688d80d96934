package review

import (
	"fmt"
	"slices"
	"strings"

	"annotator"
	"annotator/codex"
	"annotator/codex/identity"
	"annotator/context/mention"
)

// How much it counts that the quotations of a fact lack something that it names, or a word. Others than people are
// seldom meant by a pronoun. It counts less if the scene has it: the words around a quotation say it.
const (
	lacksThing  = 2.0
	lacksPerson = 0.5
	lacksWord   = 0.3
	inScene     = 0.5  // the share that remains
	lacksAll    = 10.0 // there is no quotation
	isFormer    = 5.0  // the source no longer has the text of any
	isThin      = 3.0
)

// findQuotations suggests facts without a quotation, and those whose quotations lack what they say.
func (r *reader) findQuotations() (found []Suggestion) {
	for _, e := range r.entries {
		for _, c := range open(e) {
			if locked(e, c) {
				continue
			}
			lacks, score := r.lacks(e, c)
			former := r.isFormer(c)
			if former {
				score += isFormer
			}
			if score < isThin {
				continue
			}
			s := Suggestion{
				Kind: Quotation, Asks: "Does the story say this?",
				Why:   "the quotation lacks: " + strings.Join(lacks, ", "),
				Sides: []Side{r.factSide(e, c)}, Choices: factChoices(e, c),
			}
			if len(c.Evidence) == 0 {
				s.Why = "it has no quotation"
			}
			if former {
				s.Why = "the source no longer has the text of its quotation"
			}
			s.concern(r, e)
			s.Score = score * s.rests()
			s.seal(e.ID, c.ID)
			found = append(found, s)
		}
	}
	return found
}

// isFormer reports whether the source no longer has the text of any quotation of a fact.
func (r *reader) isFormer(c *annotator.Claim) bool {
	return len(c.Evidence) > 0 &&
		!slices.ContainsFunc(c.Evidence, func(v annotator.Evidence) bool { return !r.former[v.Post] })
}

// lacks returns what the quotations of a fact lack, and how much that counts.
func (r *reader) lacks(e *annotator.Entry, c *annotator.Claim) (lacks []string, score float64) {
	if len(c.Evidence) == 0 {
		return nil, lacksAll
	}
	wording := r.index.Wording(c.Text, e, r.usage)
	whole := slices.Clone(c.Evidence)
	for _, q := range c.Evidence {
		if at := r.sceneOf[q.Post]; at != nil {
			whole = append(whole, annotator.Evidence{Quote: at.text})
		}
	}
	names, words := wording.Lacking(e, c.Evidence)
	nowhereNames, nowhereWords := wording.Lacking(e, whole)
	count := func(part string, nowhere []string, weight float64) {
		if !slices.Contains(nowhere, part) {
			weight *= inScene
		}
		score += weight
	}
	for _, name := range names {
		if r.isPerson(name) {
			count(name, nowhereNames, lacksPerson)
		} else {
			count(name, nowhereNames, lacksThing)
		}
	}
	for _, word := range words {
		count(word, nowhereWords, lacksWord)
	}
	return append(names, words...), score
}

// isPerson reports whether a name means a person.
func (r *reader) isPerson(name string) bool {
	return slices.ContainsFunc(r.index.Find(name), func(m mention.Match) bool {
		e := r.byID[m.ID]
		return e != nil && slices.ContainsFunc(e.Tags, func(tag string) bool {
			return tag == identity.Person || tag == "character"
		})
	})
}

func locked(e *annotator.Entry, c *annotator.Claim) bool { return locks(e, codex.LockFact(c.ID)) }

// locks reports whether a person has locked a part of an entry.
func locks(e *annotator.Entry, part string) bool { return e.Locked || slices.Contains(e.Locks, part) }

// factChoices are the answers to whether a fact is right.
func factChoices(e *annotator.Entry, c *annotator.Claim) []Choice {
	fact := fmt.Sprintf("fact %d:%d", e.ID, c.ID)
	return []Choice{
		{Letter: LetterYes, Does: fact + " is right, and locked", Operations: operations(lockOf(e, c))},
		{Letter: LetterEdit, Does: "put " + fact + " in other words", Input: InputFact, Operations: operations(
			annotator.Operation{Do: annotator.DeedEdit, Entry: e.ID, Fact: c.ID, Was: c.Text})},
		{Letter: LetterReject, Does: fact + " is wrong", Operations: operations(
			annotator.Operation{Do: annotator.DeedReject, Entry: e.ID, Fact: c.ID, Was: c.Text})},
	}
}

func lockOf(e *annotator.Entry, c *annotator.Claim) annotator.Operation {
	return annotator.Operation{Do: annotator.DeedLock, Entry: e.ID, Fact: c.ID, Was: c.Text}
}

// about is a fact with what it is about, to be compared with others.
type about struct {
	entry *annotator.Entry
	claim *annotator.Claim
	names []int64 // the entries that it names, with its own
	terms mention.Terms
}

func (r *reader) about(e *annotator.Entry, c *annotator.Claim) about {
	text := codex.LinkNames(c.Text)
	names := r.index.Occurrences(text)
	a := about{entry: e, claim: c, names: []int64{e.ID}, terms: r.usage.Terms(text, names)}
	for _, n := range names {
		a.names = append(a.names, n.ID)
	}
	return a
}
