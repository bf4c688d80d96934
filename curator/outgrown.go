package curator

import (
	"cmp"
	"math"
	"slices"

	"annotator"
	"annotator/codex"
	"annotator/context/mention"
)

// How many facts and states are compared at the end of a thread, at any length of the story.
const (
	maxAdded  = 400   // facts, the newest
	maxJoined = 4_000 // facts of a part that was joined, since no later question looks at them
	maxNamed  = 150   // entries that these name
	maxNaming = 50    // states that name one of these
)

// fact is a claim as the search for outgrown states compares it.
type fact struct {
	annotator.ClaimRef
	entry *annotator.Entry
	claim *annotator.Claim
	about []int64 // the entries that it is about: its own, and those that it names
	terms mention.Terms
}

// suspect is an open state with the newer facts that may have ended it.
type suspect struct {
	fact
	since []*fact // those that have most in common with it, at most maxSince
	score float64
}

// maxSince is how many newer facts are shown for a state.
const maxSince = 2

// finder looks for open states that newer facts may have ended. It compares the entries that both are about, and the
// words of both. So it needs no model, and no list of words.
type finder struct {
	index   *mention.Index
	usage   *mention.Usage
	facts   []*fact           // the newer ones
	counts  map[int64]float64 // how many of them are about an entry
	entries map[int64]*annotator.Entry
}

// newFinder returns a finder for the facts that were added since the last question.
func newFinder(index *mention.Index, usage *mention.Usage, added []annotator.ClaimRef,
	entries map[int64]*annotator.Entry,
) *finder {
	f := &finder{index: index, usage: usage, counts: map[int64]float64{}, entries: entries}
	for _, ref := range added {
		read := f.read(ref, entries[ref.Entry])
		if read == nil || read.claim.Earlier {
			continue
		}
		f.facts = append(f.facts, read)
		for _, entry := range read.about {
			f.counts[entry]++
		}
	}
	return f
}

// read returns a claim of an entry that holds; nil for none.
func (f *finder) read(ref annotator.ClaimRef, e *annotator.Entry) *fact {
	if e == nil {
		return nil
	}
	at := slices.IndexFunc(e.Claims, func(c annotator.Claim) bool { return c.ID == ref.Claim && c.Until == 0 })
	if at < 0 {
		return nil
	}
	text := codex.LinkNames(e.Claims[at].Text)
	names := f.index.Occurrences(text)
	read := &fact{
		ClaimRef: ref, entry: e, claim: &e.Claims[at], about: []int64{e.ID}, terms: f.usage.Terms(text, names),
	}
	for _, name := range names {
		if !slices.Contains(read.about, name.ID) {
			read.about = append(read.about, name.ID)
		}
	}
	return read
}

// settles reports whether a newer fact says anything of what a guess says.
func (f *finder) settles(guess, newer *fact) bool {
	return f.index.Settles(guess.entry, guess.claim, newer.entry, newer.claim, f.usage)
}

// named returns the entries that the facts are about, those of most facts first.
func (f *finder) named() []int64 {
	var entries []int64
	for entry := range f.counts {
		entries = append(entries, entry)
	}
	slices.SortFunc(entries, func(a, b int64) int {
		return cmp.Or(cmp.Compare(f.counts[b], f.counts[a]), cmp.Compare(a, b))
	})
	return entries[:min(len(entries), maxNamed)]
}

// suspects returns the states that newer facts may have ended, the likeliest first.
func (f *finder) suspects(states []*fact) (found []suspect) {
	for _, state := range states {
		s := suspect{fact: *state}
		scores := map[*fact]float64{}
		for _, newer := range f.facts {
			if score := f.score(state, newer); score > 0 {
				scores[newer] = score
				s.since = append(s.since, newer)
				s.score = max(s.score, score)
			}
		}
		if s.score == 0 {
			continue
		}
		slices.SortStableFunc(s.since, func(a, b *fact) int { return cmp.Compare(scores[b], scores[a]) })
		s.since = s.since[:min(len(s.since), maxSince)]
		found = append(found, s)
	}
	slices.SortStableFunc(found, func(a, b suspect) int { return cmp.Compare(b.score, a.score) })
	return found
}

// score says how much a newer fact has to do with a state; 0 if nothing. An entry that few of the facts are about
// weighs more, and so does a word that few scenes have.
func (f *finder) score(state, newer *fact) (score float64) {
	if newer.Revision <= state.Revision || newer.claim.From.Order() <= state.claim.From.Order() {
		return 0
	}
	for _, entry := range newer.about {
		if slices.Contains(state.about, entry) {
			score += math.Log1p(float64(len(f.facts)) / f.counts[entry])
		}
	}
	if score > 0 {
		score += state.terms.Shared(&newer.terms)
	}
	return score
}
