package tools

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"annotator"
	"annotator/codex"
	"annotator/codex/identity"
)

// editor applies the parts of a call to an entry one by one, and takes those that the rules allow.
type editor struct {
	ctx       context.Context //nolint:containedctx // an editor lives as long as its call
	env       *Env
	stored    *annotator.Entry // as it is before the call
	entry     annotator.Entry  // with the parts that were taken
	index     *codex.FactIndex // of entry
	revisions []annotator.Revision
	targets   []*target // that get facts of the entry
	facts     []int64   // the numbers of the call's facts, in its order; 0 for one that was not taken
	known     []int64   // the numbers of those that the entry had already
	elsewhere []elsewhere
	told      *annotator.Claim // by which a fact ends, if another entry has it
	named     []string         // the names of the call that the entry had already
	general   []string         // those that were not taken, since they mean several things
	weak      []weakFact
	refused   []refusedPart
	first     *Failure // of the refused parts
	suggests  []annotator.Operation
	err       error // of the program; nothing is taken after it
}

// refusedPart is a part of a call that was not taken. One of the first fields says which.
type refusedPart struct {
	Term   string `json:"term,omitempty"`
	Alias  string `json:"alias,omitempty"`
	Fact   int    `json:"fact,omitempty"`   // its index in the call, from 1
	Quote  int64  `json:"quote,omitempty"`  // the number of the fact that it came with
	Close  int64  `json:"close,omitempty"`  // the number of the fact
	Reword int64  `json:"reword,omitempty"` // likewise
	Move   int64  `json:"move,omitempty"`   // likewise
	Part   string `json:"part,omitempty"`   // another argument
	Code   string `json:"code"`
	Why    string `json:"why,omitempty"` // empty if it is that of a part before
}

func (env *Env) edit(ctx context.Context, e *annotator.Entry) *editor {
	return &editor{ctx: ctx, env: env, stored: e, entry: codex.Clone(e), index: codex.NewFactIndex(e)}
}

// take applies an edit if codex and environment allow it. A part that is refused is recorded.
func (ed *editor) take(part refusedPart, edit codex.Edit) bool {
	edit.Actor = ed.env.Actor
	revisions, err := codex.Revise(&ed.entry, edit)
	ed.suggest(err, operationOf(&ed.entry, &edit))
	return ed.takeAll(part, revisions, err)
}

// takeAll takes the revisions of an edit, unless it has an error.
func (ed *editor) takeAll(part refusedPart, revisions []annotator.Revision, err error) bool {
	if err == nil && len(revisions) > 0 && ed.stored.ID != 0 && ed.env.CheckEdit != nil {
		err = ed.env.CheckEdit(ed.ctx,
			&CheckedEdit{Before: ed.stored, Now: &ed.entry, Told: ed.told, Revisions: revisions})
	}
	if err != nil {
		ed.refuse(part, err)
		return false
	}
	for i := range revisions {
		if err := codex.Apply(&ed.entry, &revisions[i]); err != nil {
			ed.refuse(part, err)
			return false
		}
		ed.index.Apply(&revisions[i])
	}
	ed.revisions = append(ed.revisions, revisions...)
	return ed.err == nil
}

// refuse records that a part was not taken, or the program's own failure.
func (ed *editor) refuse(part refusedPart, err error) {
	failure := failureOf(err)
	if failure == nil {
		ed.err = err
		return
	}
	if ed.first == nil {
		ed.first = failure
	}
	part.Code, part.Why = failure.Code, truncate(failure.Message, maxWhy)
	if slices.ContainsFunc(ed.refused, func(other refusedPart) bool { return other.Why == part.Why }) {
		part.Why = "" // the same
	}
	ed.refused = append(ed.refused, part)
}

// maxParts is how many parts of a list a call may have: facts, closings, names. The call holds a write transaction
// while they are taken.
const maxParts = 256

// taken returns the parts of a list that a call may have.
func taken[P any](list []P) []P { return list[:min(len(list), maxParts)] }

// tooMany records that a list of the call has parts that are not taken for their number.
func (ed *editor) tooMany(list string, n int) {
	if n > maxParts {
		part := refusedPart{Part: fmt.Sprintf("%s %d to %d", list, maxParts+1, n)}
		ed.refuse(part, failf(TooLong, "a call may have %d %s; give these in further calls", maxParts, list))
	}
}

// maxWhy is the most characters of the reason why a part was not taken.
const maxWhy = 400

// names takes further names, each by itself. Of a person it leaves out those by which the story means several people.
func (ed *editor) names(aliases []string, at annotator.Place) {
	ed.tooMany("aliases", len(aliases))
	person := slices.Contains(ed.entry.Tags, identity.Person)
	for _, alias := range taken(aliases) {
		switch {
		case len(codex.OtherNames([]string{codex.Clean(alias)}, ed.stored.Names()...)) == 0:
			ed.named = append(ed.named, alias)
		case person && ed.isGeneral(alias):
			ed.general = append(ed.general, alias)
		default:
			ed.take(refusedPart{Alias: truncate(alias, maxWhy)}, codex.Edit{Aliases: []string{alias}, At: at})
		}
	}
}

// isGeneral reports whether the story calls several things by a name.
func (ed *editor) isGeneral(name string) bool {
	if ed.env.General == nil {
		return false
	}
	general, err := ed.env.General(ed.ctx, codex.Clean(name))
	if err != nil {
		ed.err = err
	}
	return general
}

// dropNames takes names away, each by itself.
func (ed *editor) dropNames(aliases []string, at annotator.Place) {
	ed.tooMany("drop_aliases", len(aliases))
	for _, alias := range taken(aliases) {
		ed.take(refusedPart{Alias: truncate(alias, maxWhy)}, codex.Edit{DropAliases: []string{alias}, At: at})
	}
}

// describe takes tags and status.
func (ed *editor) describe(tags []string, status *annotator.Status, at annotator.Place) {
	if err := ed.env.checkKind(tags); tags != nil && err != nil {
		ed.refuse(refusedPart{Part: "tags"}, err)
	} else if tags != nil {
		ed.take(refusedPart{Part: "tags"}, codex.Edit{Tags: tags, At: at})
	}
	if status != nil {
		ed.take(refusedPart{Part: "status"}, codex.Edit{Status: status, At: at})
	}
}

// support puts the quotations of a fact into the form in which they support it. It returns the words of the fact that
// they lack, and marks them then.
func (ed *editor) support(f *groundedFact) []string {
	if f.quotes == nil || ed.env.Support == nil {
		return nil
	}
	quotes, lacks, err := ed.env.Support(ed.ctx, &f.Fact, &ed.entry, f.posts)
	if err != nil {
		ed.err = err
	}
	for i := range quotes {
		quotes[i].Weak = lacks != nil
	}
	f.Quotes = quotes
	return lacks
}

// addFacts takes facts, and closes those whose place they take, which is then dated as they are.
func (ed *editor) addFacts(facts []groundedFact, given int, closings []closeArguments) {
	ed.facts = make([]int64, given)
	ed.tooMany("facts", given)
	for i := range facts {
		f := &facts[i]
		id := ed.index.Known(f.Fact)
		if id != 0 {
			ed.known = append(ed.known, id)
		}
		if id == 0 && ed.repeats(i, f, closings) {
			continue
		}
		lacks, before := ed.support(f), len(codex.Quotations(&ed.entry, id))
		if !ed.take(refusedPart{Fact: i + 1}, codex.Edit{Facts: []codex.Fact{f.Fact}, Index: ed.index, At: f.at}) {
			continue
		}
		id = ed.index.Known(f.Fact)
		ed.facts[i] = id
		if lacks != nil && len(codex.Quotations(&ed.entry, id)) > before {
			ed.weak = append(ed.weak, weakFact{id, lacks[:min(len(lacks), maxLacking)]})
		}
		if f.problem != "" {
			ed.refuse(refusedPart{Quote: id}, failf(QuoteNotFound, "%s", f.problem))
		}
		for _, c := range taken(closings) {
			if c.By == int64(i+1) {
				ed.close(c, id, f.at)
			}
		}
	}
}

// closeFacts closes facts whose place no fact of the call takes. A number beyond the facts of the call can only be that
// of a fact of the entry.
func (ed *editor) closeFacts(closings []closeArguments, at annotator.Place) {
	ed.tooMany("close", len(closings))
	for _, c := range taken(closings) {
		inCall := c.By > 0 && c.By <= int64(len(ed.facts))
		switch by := cmp.Or(max(c.ByKnown, 0), max(c.By, 0)); {
		case inCall && ed.facts[c.By-1] == 0:
			ed.refuse(refusedPart{Close: c.Fact},
				failf(UpdateFailed, "fact %d of this call, which was to take its place, was not taken", c.By))
		case inCall: // closed with it
		case by != 0 && !ed.holds(by):
			ed.refuse(refusedPart{Close: c.Fact}, failf(NotFound, "by is the number of a fact in this call, of which "+
				"there are %d, and by_known that of a fact of the entry; there is no fact %d", len(ed.facts), by))
		default:
			ed.close(c, by, at)
		}
	}
}

// holds reports whether the entry has an open fact with a number.
func (ed *editor) holds(fact int64) bool {
	return slices.ContainsFunc(ed.entry.Claims, func(c annotator.Claim) bool { return c.ID == fact && c.Until == 0 })
}

func (ed *editor) close(c closeArguments, by int64, at annotator.Place) {
	closing := codex.Closing{Fact: c.Fact, By: by, Ended: c.Ended}
	part := refusedPart{Close: c.Fact}
	switch claim := ed.claim(c.Fact); {
	case claim == nil: // which the codex says
	case by != 0:
		settles, err := ed.settles(claim, &ed.entry, ed.claim(by))
		if err != nil {
			ed.refuse(part, err)
			return
		}
		closing.Unrelated = !settles
	case c.ByEntry != "":
		told, err := ed.toldElsewhere(c.ByEntry, claim)
		if err != nil {
			ed.refuse(part, err)
			return
		}
		ed.told, closing.Elsewhere = told, true
		defer func() { ed.told = nil }()
	}
	ed.take(part, codex.Edit{Close: []codex.Closing{closing}, At: at})
}

// claim returns the claim of the entry with an id; nil if there is none.
func (ed *editor) claim(id int64) *annotator.Claim {
	at := slices.IndexFunc(ed.entry.Claims, func(c annotator.Claim) bool { return c.ID == id })
	if at < 0 {
		return nil
	}
	return &ed.entry.Claims[at]
}

// settles reports whether a fact of an entry says anything of what a claim of this entry says.
func (ed *editor) settles(claim *annotator.Claim, of *annotator.Entry, fact *annotator.Claim) (bool, error) {
	if ed.env.Settles == nil || fact == nil {
		return true, nil
	}
	return ed.env.Settles(ed.ctx, &ed.entry, claim, of, fact)
}

// toldElsewhere returns the newest fact of another entry that ends a claim: it is narrated, says something of what the
// claim says, and is not told before it.
func (ed *editor) toldElsewhere(ref entryRef, claim *annotator.Claim) (newest *annotator.Claim, err error) {
	other, err := ed.env.entryBy(ed.ctx, ref)
	if err != nil {
		return nil, err
	}
	narrated := slices.DeleteFunc(slices.Clone(other.Claims), func(c annotator.Claim) bool {
		return c.Until != 0 || c.Kind != annotator.Narrated
	})
	if other.ID == ed.entry.ID || len(narrated) == 0 {
		return nil, failf(NotFound, "by_entry is another entry with a narrated fact, and entry %d is none", other.ID)
	}
	for i := range narrated {
		fact := &narrated[i]
		if fact.From < claim.From || claim.State && fact.Earlier || newest != nil && fact.From < newest.From {
			continue
		}
		settles, err := ed.settles(claim, other, fact)
		if err != nil {
			return nil, err
		}
		if settles {
			newest = fact
		}
	}
	if newest == nil {
		return nil, failf(Unsettled, "entry %d has no fact since then that says anything of what fact %d says: name the "+
			"entry that has, or leave fact %[2]d", other.ID, claim.ID)
	}
	return newest, nil
}

// editAnswer says what was done. It does not repeat the entry, whose facts the window holds.
type editAnswer struct {
	OK    bool      `json:"ok"`
	Entry entryName `json:"entry"`
	Added []int64   `json:"added,omitempty"` // the numbers of the new facts, in their order in the call
	// the numbers of facts that were not added, because they are there
	Known []int64 `json:"known,omitempty"`
	// those of the known facts to which their quotations were added
	Quoted []int64 `json:"quoted,omitempty"`
	// the facts that were not added, because another entry has them
	Elsewhere []elsewhere `json:"elsewhere,omitempty"`
	// the facts whose quotations lack words of them
	Weak       []weakFact    `json:"weak,omitempty"`
	Closed     []string      `json:"closed,omitempty"`      // the facts that no longer hold: their numbers and first words
	KnownNames []string      `json:"known_names,omitempty"` // the aliases that it had already
	General    []string      `json:"general,omitempty"`     // those that were not added, since they mean several people
	NotTaken   []refusedPart `json:"not_taken,omitempty"`   // what was not done
}

// weakFact is a fact that says what its quotations do not.
type weakFact struct {
	Fact  int64    `json:"fact"`  // its number
	Lacks []string `json:"lacks"` // the words
}

// maxLacking is how many of the words an answer names.
const maxLacking = 5

// entryName names an entry.
type entryName struct {
	ID   int64  `json:"id"`
	Term string `json:"term"`
}

// answer writes what was taken, and answers. It fails with the first refusal if nothing was.
func (ed *editor) answer() (Result, error) {
	if ed.err != nil || ed.first != nil && len(ed.revisions)+len(ed.known)+len(ed.elsewhere) == 0 {
		return Result{}, ed.failure()
	}
	created, result := ed.stored.ID == 0, Result{Suggests: ed.suggests}
	answer := editAnswer{
		OK: true, Entry: entryName{ed.entry.ID, ed.entry.Name()}, Added: ed.added(), Known: ed.known,
		Quoted: ed.quoted(), Elsewhere: ed.elsewhere, Weak: ed.weak, Closed: ed.closed(),
		KnownNames: firstNames(ed.named), General: firstNames(ed.general), NotTaken: shortened(ed.refused),
	}
	for _, t := range ed.targets {
		if len(t.revisions) == 0 {
			continue
		}
		if _, err := ed.env.Glossary.Revise(ed.ctx, t.revisions); err != nil {
			return Result{}, err
		}
		result.Changed = append(result.Changed, t.entry.ID)
	}
	if len(ed.revisions) > 0 {
		e, err := ed.env.Glossary.Revise(ed.ctx, ed.revisions)
		if err != nil {
			return Result{}, err
		}
		answer.Entry.ID, result.Changed = e.ID, append(result.Changed, e.ID)
		if created { // the call holds all of it
			result.Shows = []annotator.Shown{{Entry: e.ID, Revision: e.Revision}}
		}
	}
	result.Content = annotator.EncodeJSON(answer)
	return result, nil
}

// failure returns the error of a call of which nothing is taken: the program's own, or the first refusal.
func (ed *editor) failure() error {
	if ed.err != nil {
		return ed.err
	}
	failure := *ed.first
	failure.Suggests = ed.suggests
	if len(ed.refused) > 1 {
		ed.refused[0].Why = "" // the failure's message
		failure.NotTaken = shortened(ed.refused)
	}
	return &failure
}

// quoted returns the numbers of the known facts that have more quotations than before the call.
func (ed *editor) quoted() []int64 {
	return slices.DeleteFunc(slices.Clone(ed.known), func(id int64) bool {
		return len(codex.Quotations(&ed.entry, id)) <= len(codex.Quotations(ed.stored, id))
	})
}

// firstNames returns as many names as an answer has room for, and the number of the others.
func firstNames(names []string) []string {
	for i, used := 0, 0; i < len(names); i++ {
		if used += jsonLength(names[i]); used > maxAnswerNames {
			return append(names[:i:i], fmt.Sprintf("%d more", len(names)-i))
		}
	}
	return names
}

// How many characters of JSON an answer has for what was not taken, for what was closed, and for a list of names.
const (
	maxRefused     = 4000
	maxClosings    = 2000
	maxAnswerNames = 1000
)

// shortened returns as many of the refused parts as an answer has room for, and the number of the others.
func shortened(parts []refusedPart) []refusedPart {
	for i, used := 0, 0; i < len(parts); i++ {
		if used += jsonLength(parts[i]); used > maxRefused {
			return append(parts[:i:i], refusedPart{Part: fmt.Sprintf("%d more", len(parts)-i), Code: parts[i].Code})
		}
	}
	return parts
}

// added returns the numbers of the facts that the call added: those of its list in their order, then any others.
func (ed *editor) added() []int64 {
	known := map[int64]bool{0: true}
	for i := range ed.stored.Claims {
		known[ed.stored.Claims[i].ID] = true
	}
	ids := slices.Clone(ed.facts)
	for i := range ed.entry.Claims {
		ids = append(ids, ed.entry.Claims[i].ID)
	}
	return slices.DeleteFunc(ids, func(id int64) bool {
		before := known[id]
		known[id] = true
		return before
	})
}

// maxClosed is how many characters of a closed fact an answer repeats, so that a wrong number is noticed.
const maxClosed = 40

// closed returns the facts that held before the call and do not after it. A reworded one has its new number.
func (ed *editor) closed() []string {
	holds, reworded := map[int64]bool{}, map[int64]int64{}
	for i := range ed.entry.Claims {
		c := &ed.entry.Claims[i]
		if holds[c.ID] = c.Until == 0; c.Ended == annotator.EndReworded {
			reworded[c.ID] = c.ReplacedBy
		}
	}
	var facts []string
	used, more := 0, 0
	for i := range ed.stored.Claims {
		c := &ed.stored.Claims[i]
		if c.Until != 0 || holds[c.ID] {
			continue
		}
		fact := fmt.Sprintf("%d: %s", c.ID, beginning(c.Text, maxClosed))
		if by := reworded[c.ID]; by != 0 {
			fact = fmt.Sprintf("%d, now %d: %s", c.ID, by, beginning(c.Text, maxClosed))
		}
		if used += jsonLength(fact); used > maxClosings {
			more++
			continue
		}
		facts = append(facts, fact)
	}
	if more > 0 {
		facts = append(facts, fmt.Sprintf("%d more", more))
	}
	return facts
}

// beginning returns the first whole words of a text, in at most limit characters.
func beginning(text string, limit int) string {
	runes := []rune(text)
	if len(runes) <= limit {
		return text
	}
	cut := string(runes[:limit])
	if space := strings.LastIndexByte(cut, ' '); space > len(cut)/2 {
		cut = cut[:space]
	}
	return cut + "…"
}
