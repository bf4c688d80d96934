package tools

import (
	"context"
	"fmt"
	"slices"

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

// notMentioned reports whether the newest part was refused because the scene does not name the entry.
func (ed *editor) notMentioned() bool {
	return len(ed.refused) > 0 && ed.refused[len(ed.refused)-1].Code == NotMentioned
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
	} else if tags != nil && !ed.take(refusedPart{Part: "tags"}, codex.Edit{Tags: tags, At: at}) && ed.notMentioned() {
		tags = append(slices.Clone(ed.entry.Tags), tags...) // those that it has stay
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

// checkField checks a fact that gives the value of a user's field.
func (ed *editor) checkField(f *groundedFact) error {
	field := codex.FieldOf(ed.env.Fields, &f.Fact)
	if field == nil {
		return nil
	}
	return field.Check(ed.entry.Tags, &f.Fact)
}

// addFacts takes facts, and closes those whose place they take, which is then dated as they are.
func (ed *editor) addFacts(facts []groundedFact, given int, closings []closeArguments) {
	ed.facts = make([]int64, given)
	ed.tooMany("facts", given)
	for i := range facts {
		f := &facts[i]
		if err := ed.checkField(f); err != nil {
			ed.refuse(refusedPart{Fact: i + 1}, err)
			continue
		}
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
