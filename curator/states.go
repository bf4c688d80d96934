package curator

import (
	"context"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"annotator"
	"annotator/context/prompt"
)

// How much a question asks about open states.
const (
	maxStates      = 40    // states
	maxSuspects    = 30    // of these, those that newer facts may have ended
	statesShown    = 3_000 // tokens of them and of the newer facts
	statesTokens   = 200   // of the reply, at least
	tokensPerState = 24    // of the reply: an element
)

// openStates are the open states that a question is about.
type openStates struct {
	list    []suspect // those of one entry follow each other
	since   []*fact   // newer facts that may have ended some of them
	through int64     // of those that have been open for some threads, all up to this revision were asked about
	shown   string
	scene   int                     // the newest that was read
	scenes  map[annotator.Order]int // the numbers of the scenes that tell the facts
	quotes  bool                    // each is shown with a quotation
	settles func(guess, fact *fact) bool
}

// dueStates returns the open states that are due, and whether they are a reason to ask. Those that newer facts may have
// ended come first, and then those that have been open for long.
func (c *Curator) dueStates(ctx context.Context) (q *openStates, due bool, err error) {
	if c.Tasks&States == 0 {
		return nil, false, nil
	}
	waiting, err := c.waiting(ctx)
	if err != nil || waiting.none && c.Since == 0 {
		return nil, false, err
	}
	f, states, err := c.compared(ctx)
	if err != nil {
		return nil, false, err
	}
	if c.Since > 0 { // what the facts of one part of the story have to do with each other was asked when it was read
		waiting.states = nil
		states = slices.DeleteFunc(states, func(s *fact) bool { return s.claim.From.Order() >= c.Since })
		f.facts = slices.DeleteFunc(f.facts, func(n *fact) bool { return n.claim.From.Order() < c.Since })
	}
	suspects := f.suspects(states)
	old, err := c.read(ctx, f, waiting.states)
	if err != nil {
		return nil, false, err
	}
	suspects = suspects[:min(len(suspects), maxSuspects)]
	scenes, err := c.scenesOf(ctx, suspects, old)
	if err != nil {
		return nil, false, err
	}
	empty := &openStates{scene: c.Scene.N, scenes: scenes, quotes: c.Since > 0, settles: f.settles}
	q = c.choose(empty, waiting, old, suspects)
	if len(q.list) == 0 {
		return nil, false, nil
	}
	return q, c.Final || len(waiting.states) == maxStates, nil
}

// waitingStates are states that have been open for some threads and that no question was about.
type waitingStates struct {
	states []annotator.ClaimRef // the oldest first, at most maxStates
	before int64                // the revision up to which states were asked about
	all    int64                // the revision up to which states have been open for as long
	none   bool                 // no state is open
}

// waiting returns the states that are waiting. All are, if no later question follows.
func (c *Curator) waiting(ctx context.Context) (w waitingStates, err error) {
	first := annotator.Order(math.MaxInt64)
	if !c.Final {
		if first, err = c.longAgo(ctx); err != nil {
			return w, err
		}
	}
	var some bool
	if w.before, w.all, some, err = c.States.Asked(ctx, first); err != nil || !some {
		w.none = true
		return w, err
	}
	w.states, err = c.States.Waiting(ctx, w.all, c.Scene.Order, maxStates)
	return w, err
}

// stateThreads is for how many ends of threads a state is open before a question is about it, whatever has happened. In
// long threads it is for as many parts.
const stateThreads = 3

// longAgo returns the order of the first scene of the last threads, or of as many parts before the present scene.
func (c *Curator) longAgo(ctx context.Context) (annotator.Order, error) {
	first := c.Scene.Thread.Order
	for range stateThreads - 1 {
		former, err := c.Scenes.Neighbor(ctx, first, -1)
		if annotator.KindOf(err) == annotator.NotFound {
			first = 0
			break
		}
		if err != nil {
			return 0, err
		}
		first = former.Thread.Order
	}
	far, err := annotator.OrderOf(c.Scenes.Neighbor(ctx, c.Scene.Order, 1-stateThreads*PartScenes))
	return max(first, far), err
}

// scenesOf returns the numbers of the scenes that tell of states and newer facts.
func (c *Curator) scenesOf(ctx context.Context, suspects []suspect, old []*fact) (map[annotator.Order]int, error) {
	facts := slices.Clone(old)
	for i := range suspects {
		facts = append(append(facts, &suspects[i].fact), suspects[i].since...)
	}
	scenes := map[annotator.Order]int{}
	for _, f := range facts {
		order := f.claim.From.Order()
		if _, known := scenes[order]; known {
			continue
		}
		row, err := c.Scenes.At(ctx, order)
		if err != nil {
			return nil, err
		}
		scenes[order] = row.N
	}
	return scenes, nil
}

// compared returns a finder with the facts that were added since the last question, and the open states that it
// compares with them. These are the states of the entries that the facts are about, and states that name such an entry.
func (c *Curator) compared(ctx context.Context) (*finder, []*fact, error) {
	index, usage, err := c.Names.Words(ctx, c.Scene.Order)
	if err != nil {
		return nil, nil, err
	}
	most := maxAdded
	if c.Since > 0 {
		most = maxJoined
	}
	added, err := c.States.Added(ctx, most)
	if err != nil {
		return nil, nil, err
	}
	entries, err := c.Entries.Entries(ctx, entriesOf(added))
	if err != nil {
		return nil, nil, err
	}
	f := newFinder(index, usage, added, entries)
	named := f.named()
	if err := c.readMore(ctx, entries, named); err != nil {
		return nil, nil, err
	}
	var refs []annotator.ClaimRef
	for _, id := range named {
		e := entries[id]
		if e == nil {
			continue
		}
		for i := range e.Claims {
			claim := &e.Claims[i]
			if c.asksAbout(claim) && claim.Until == 0 && e.Status.Live() && !e.Locked {
				refs = append(refs, annotator.ClaimRef{Entry: id, Claim: claim.ID, Revision: claim.Revision})
			}
		}
		naming, err := c.States.Naming(ctx, names(e), c.Since > 0, maxNaming)
		if err != nil {
			return nil, nil, err
		}
		refs = append(refs, naming...)
	}
	states, err := c.read(ctx, f, refs)
	return f, states, err
}

// asksAbout reports whether a question asks about claims of a kind. Scenes and statements settle guesses as they come.
// Only those of a part that was joined were read without what was told before.
func (c *Curator) asksAbout(claim *annotator.Claim) bool {
	return claim.State || c.Since > 0 && isGuess(claim)
}

func isGuess(claim *annotator.Claim) bool { return claim.Kind == annotator.Inferred && !claim.State }

// readMore adds entries that are missing.
func (c *Curator) readMore(ctx context.Context, entries map[int64]*annotator.Entry, ids []int64) error {
	missing := slices.DeleteFunc(slices.Clone(ids), func(id int64) bool { return entries[id] != nil })
	if len(missing) == 0 {
		return nil
	}
	found, err := c.Entries.Entries(ctx, missing)
	maps.Copy(entries, found)
	return err
}

// read reads claims as a finder compares them, each once.
func (c *Curator) read(ctx context.Context, f *finder, refs []annotator.ClaimRef) (list []*fact, err error) {
	if err := c.readMore(ctx, f.entries, entriesOf(refs)); err != nil {
		return nil, err
	}
	known := map[annotator.ClaimRef]bool{}
	for _, ref := range refs {
		if read := f.read(ref, f.entries[ref.Entry]); read != nil && !known[ref] {
			known[ref] = true
			list = append(list, read)
		}
	}
	return list, nil
}

func entriesOf(refs []annotator.ClaimRef) (ids []int64) {
	for _, ref := range refs {
		ids = append(ids, ref.Entry)
	}
	slices.Sort(ids)
	return slices.Compact(ids)
}

// choose adds the states to a question that it has room for. Those that newer facts may have ended come first, and
// leave room for some of those that have waited.
func (c *Curator) choose(q *openStates, waiting waitingStates, old []*fact, suspects []suspect) *openStates {
	for _, s := range suspects {
		if !c.add(q, s) {
			break
		}
	}
	q.through = waiting.before
	all := len(waiting.states) < maxStates
	for _, state := range old {
		if all = c.add(q, suspect{fact: *state}) && all; !q.has(state.ClaimRef) {
			break
		}
		q.through = state.Revision
	}
	if all {
		q.through = waiting.all
	}
	return q
}

// add adds a state to a question, if there is room for it, and reports whether the question has it.
func (c *Curator) add(q *openStates, s suspect) bool {
	if q.has(s.ClaimRef) {
		return true
	}
	larger := *q
	larger.list, larger.since = append(slices.Clip(q.list), s), slices.Clip(q.since)
	for _, newer := range s.since {
		if !slices.Contains(larger.since, newer) {
			larger.since = append(larger.since, newer)
		}
	}
	larger.render()
	if len(larger.list) > maxStates || c.Window.Count(larger.shown) > statesShown {
		return false
	}
	*q = larger
	return true
}

func (q *openStates) has(ref annotator.ClaimRef) bool {
	return slices.ContainsFunc(q.list, func(s suspect) bool { return s.ClaimRef == ref })
}

// render writes the states by their entries, and the newer facts by theirs, each with the number of its scene. So an
// answer can tell how long ago a state began.
func (q *openStates) render() {
	states := make([]*fact, len(q.list))
	for i := range q.list {
		states[i] = &q.list[i].fact
	}
	var text strings.Builder
	write := func(facts []*fact) {
		for _, id := range entriesOfFacts(facts) {
			var claims []annotator.Claim
			var of *annotator.Entry
			for _, f := range facts {
				if f.Entry == id {
					of, claims = f.entry, append(claims, *f.claim)
				}
			}
			text.WriteString(prompt.Facts(of, claims, q.behind))
		}
	}
	fmt.Fprintf(&text, "<states now=\"scene %d\">\n", q.scene)
	write(states)
	text.WriteString("<since>\n")
	write(q.since)
	text.WriteString("</since>\n</states>")
	q.shown = text.String()
}

// behind returns what is shown behind a fact: its scene, and its first quotation.
func (q *openStates) behind(claim *annotator.Claim) string {
	text := fmt.Sprintf("[scene %d]", q.scenes[claim.From.Order()])
	if q.quotes && len(claim.Evidence) > 0 {
		text += "\n" + quotation(&claim.Evidence[0], claim)
	}
	return text
}

// aboutGuesses is added to the instruction of a question that has guesses.
const aboutGuesses = `Those marked inferred, and not state, are guesses. Write how="confirmed" for one that a ` +
	`narrated fact in <since> bears out, with that fact in by, and how="refuted" for one that has proved false. A ` +
	`guess that nothing has settled stays.`

// instruction is what the question begins with.
func (q *openStates) instruction(s *Settings) string {
	if slices.ContainsFunc(q.list, func(s suspect) bool { return isGuess(s.claim) }) {
		return s.States + "\n" + aboutGuesses
	}
	return s.States
}

// entriesOfFacts returns the entries of facts, each once and in their order.
func entriesOfFacts(facts []*fact) (ids []int64) {
	for _, f := range facts {
		if !slices.Contains(ids, f.Entry) {
			ids = append(ids, f.Entry)
		}
	}
	return ids
}
