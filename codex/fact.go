package codex

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"annotator"
)

// FactLine renders a claim for a model in one line: its number, which calls name, its kind and its text. Examples: "3:
// She sails.", "4 (claimed by Tobin Vane in the burnt letter): She fled.", "5 (inferred, state): She is poor." A claim
// without a number is its text.
func FactLine(c *annotator.Claim) string {
	if c.ID == 0 {
		return c.Text
	}
	var marks []string
	if c.Kind == annotator.Claimed || c.Kind == annotator.Inferred || c.Kind == annotator.Noted {
		marks = append(marks, string(c.Kind))
	}
	if c.Kind == annotator.Noted { // the story does not tell it
		marks[0] += " by a person"
	}
	if c.Speaker != "" && marks != nil {
		marks[0] += " by " + c.Speaker
	}
	if c.Document != "" && marks != nil {
		marks[0] += " in " + c.Document
	}
	for _, mark := range []struct {
		is   bool
		name string
	}{{c.State, "state"}, {c.Identity, "identity"}, {c.Earlier, "earlier"}} {
		if mark.is {
			marks = append(marks, mark.name)
		}
	}
	if marks == nil {
		return fmt.Sprintf("%d: %s", c.ID, c.Text)
	}
	return fmt.Sprintf("%d (%s): %s", c.ID, strings.Join(marks, ", "), c.Text)
}

// FactLines renders the claims of an entry that hold, in the order in which they are read.
func FactLines(e *annotator.Entry) []string {
	var lines []string
	claims, _ := InOrder(e)
	for i := range claims {
		if claims[i].Until == 0 {
			lines = append(lines, FactLine(&claims[i]))
		}
	}
	return lines
}

// Fact is a fact to be added to an entry.
type Fact struct {
	Text     string
	Kind     annotator.ClaimKind // if empty, Claimed with a speaker and Narrated without one
	Speaker  string              // who says it, if somebody claims it; may be empty
	Document string              // in which the speaker says it; may be empty
	State    bool                // it can end
	Identity bool                // it says who or what the entry is
	Earlier  bool                // it is of an earlier time than the scene that tells it; it is no state then
	Relation string              // what the entry is to Object; may be empty
	Object   string              // a name or other words; empty: what the text links first
	Quotes   []annotator.Evidence
}

// Alike reports whether a fact and a claim that holds have the same kind and source, and quotations that overlap. The
// overlap is half of one of them at least. They may say the same, or not.
func Alike(f *Fact, c *annotator.Claim) bool {
	fact, err := f.clean()
	if err != nil || c.Until != 0 || cmp.Or(fact.Kind, annotator.Narrated) != c.Kind ||
		Normalize(fact.Speaker) != Normalize(c.Speaker) || fact.Earlier != c.Earlier || fact.State && !c.State {
		return false
	}
	return slices.ContainsFunc(c.Evidence, func(v annotator.Evidence) bool {
		return slices.ContainsFunc(f.Quotes, func(q annotator.Evidence) bool {
			shared, shortest := min(v.End, q.End)-max(v.Start, q.Start), min(v.End-v.Start, q.End-q.Start)
			return v.Post == q.Post && shared > 0 && 2*shared >= shortest
		})
	})
}

// Closing closes a claim.
type Closing struct {
	Fact int64 // the claim's id
	By   int64 // the id of the claim that took its place; 0 for none
	// Ended says how it ends: confirmed, refuted, over or wrong. Empty: as claims of its kind most often do.
	Ended annotator.Ending
	// Elsewhere says that a fact of another entry ends the claim, so that none of this entry has to take its place. It
	// confirms a guess, or a state is over.
	Elsewhere bool
	// Unrelated says that the fact that took its place says nothing of what it says, so that it cannot confirm it.
	Unrelated bool
}

// MaxFact is the most code points of one fact, and MaxFacts that of all facts of an entry that hold.
const (
	MaxFact  = 1000
	MaxFacts = 16_000
)

// clean returns the fact as it is stored. Only a claim has a speaker.
func (f *Fact) clean() (Fact, error) {
	text, err := Text("fact", f.Text, MaxFact)
	if err != nil {
		return Fact{}, err
	}
	c := Fact{
		Text: strings.Join(strings.Fields(text), " "), Kind: f.Kind,
		Speaker: CleanName(f.Speaker), Document: CleanName(f.Document),
		State: f.State && !f.Earlier, Identity: f.Identity, Earlier: f.Earlier, Quotes: f.Quotes,
	}
	c.Relation, c.Object = relationOf(f)
	for what, name := range map[string]string{
		"speaker": c.Speaker, "document": c.Document, "relation": c.Relation, "object": c.Object,
	} {
		if n := utf8.RuneCountInString(name); n > MaxName {
			return Fact{}, refuse("TOO_LONG", "the %s has %d characters; at most %d", what, n, MaxName)
		}
	}
	if c.Kind == "" && c.Speaker+c.Document != "" {
		c.Kind = annotator.Claimed
	}
	if c.Kind != annotator.Claimed {
		c.Speaker, c.Document = "", ""
	}
	return c, nil
}

// FactIndex finds the open claims of an entry by their facts. It is made once for many look-ups, and follows the
// entry's revisions by Apply.
type FactIndex struct{ open map[string][]indexedFact } // by their texts, in the order of the entry

type indexedFact struct {
	id      int64
	kind    annotator.ClaimKind
	speaker string // normalised
}

// NewFactIndex returns the index of an entry.
func NewFactIndex(e *annotator.Entry) *FactIndex {
	x := &FactIndex{open: map[string][]indexedFact{}}
	for i := range e.Claims {
		x.set(&e.Claims[i])
	}
	return x
}

// set adds a claim, or removes it where it is closed.
func (x *FactIndex) set(c *annotator.Claim) {
	text := Normalize(c.Text)
	others := slices.DeleteFunc(x.open[text], func(f indexedFact) bool { return f.id == c.ID })
	if c.Until == 0 {
		others = append(others, indexedFact{c.ID, c.Kind, Normalize(c.Speaker)})
	}
	x.open[text] = others
}

// Apply follows a revision of the entry that was applied to it.
func (x *FactIndex) Apply(r *annotator.Revision) {
	if r.Field != annotator.FieldClaim {
		return
	}
	if claim, err := decode[annotator.Claim](r.New); err == nil {
		x.set(&claim)
	}
}

// Known returns the id of the open claim that states a fact; 0 if there is none. The text must be the same, in any case
// and spacing. Kind and speaker must be the same where the fact has them, because two speakers may claim the same.
func (x *FactIndex) Known(fact Fact) int64 {
	f, err := fact.clean()
	if err != nil {
		return 0
	}
	speaker := Normalize(f.Speaker)
	for _, c := range x.open[Normalize(f.Text)] {
		if (f.Kind == "" || f.Kind == c.kind) && (speaker == "" || speaker == c.speaker) {
			return c.id
		}
	}
	return 0
}

// Known is FactIndex.Known for one look-up.
func Known(e *annotator.Entry, fact Fact) int64 { return NewFactIndex(e).Known(fact) }

// Quotations returns the quotations of the claim of an entry with an id; nil if there is no such claim.
func Quotations(e *annotator.Entry, claim int64) []annotator.Evidence {
	if at := claimIndex(e, claim); at >= 0 {
		return e.Claims[at].Evidence
	}
	return nil
}

// facts adds the facts that the entry does not have, and the evidence of all.
func (r *reviser) facts() {
	index, own := r.edit.Index, false
	if len(r.edit.Facts) > 0 && (index == nil || len(r.edit.Facts) > 1) {
		index, own = NewFactIndex(&r.entry), true
	}
	for i := range r.edit.Facts {
		f, err := r.edit.Facts[i].clean()
		if err != nil {
			r.fail(err)
			continue
		}
		id := index.Known(f)
		if id == 0 {
			r.checkFact(&f)
			if id = r.addFact(&f); own {
				index.Apply(&r.revisions[len(r.revisions)-1])
			}
		}
		r.complete(id, f.Identity, f.Relation, f.Object)
		r.attachAll(id, f.Quotes)
	}
}

func (r *reviser) addFact(f *Fact) int64 {
	if n := utf8.RuneCountInString(r.entry.Definition()) + utf8.RuneCountInString(f.Text); n > MaxFacts {
		r.fail(refuse("TOO_LONG", "the facts of entry %d would have %d characters; at most %d", r.entry.ID, n,
			MaxFacts))
	}
	claim := annotator.Claim{
		ID: lastClaim(&r.entry) + 1, Ord: r.nextOrd(), Text: f.Text, Kind: cmp.Or(f.Kind, annotator.Narrated),
		Speaker: f.Speaker, Document: f.Document, State: f.State, Identity: f.Identity, Earlier: f.Earlier,
		Relation: f.Relation, Object: f.Object, From: r.edit.At,
	}
	r.add(annotator.FieldClaim, "", annotator.EncodeJSON(claim))
	return claim.ID
}

// attach adds evidence to the claim with an index, unless the claim has it.
func (r *reviser) attach(claim int, evidence annotator.Evidence) {
	evidence.Claim = r.entry.Claims[claim].ID
	isSame := func(other annotator.Evidence) bool {
		other.Weak = evidence.Weak
		return other == evidence
	}
	if !slices.ContainsFunc(r.entry.Claims[claim].Evidence, isSame) {
		r.add(annotator.FieldEvidence, "", annotator.EncodeJSON(evidence))
	}
}

// closings closes claims.
func (r *reviser) closings() {
	for _, c := range r.edit.Close {
		at, by := claimIndex(&r.entry, c.Fact), claimIndex(&r.entry, c.By)
		switch {
		case at < 0 || r.entry.Claims[at].Until != 0:
			r.fail(refuse("NOT_FOUND", "entry %d has no fact %d that holds", r.entry.ID, c.Fact))
			continue
		case c.By == c.Fact:
			r.fail(refuse("SAME", "fact %d cannot take its own place", c.Fact))
			continue
		case c.By != 0 && (by < 0 || r.entry.Claims[by].Until != 0):
			r.fail(refuse("NOT_FOUND", "entry %d has no fact %d that holds and could take the place of fact %d",
				r.entry.ID, c.By, c.Fact))
			continue
		}
		claim, successor := r.entry.Claims[at], (*annotator.Claim)(nil)
		if c.By != 0 {
			successor = &r.entry.Claims[by]
		}
		claim.Ended, claim.ReplacedBy = cmp.Or(c.Ended, EndingOf(&claim, c.By != 0 || c.Elsewhere)), c.By
		err := checkEnding(&claim, c.Elsewhere, successor != nil && successor.Earlier)
		if err == nil && successor != nil && claim.Ended == annotator.EndConfirmed {
			claim.Ended, err = confirmed(&claim, successor, c.Unrelated)
		}
		if err != nil {
			r.fail(err)
			continue
		}
		r.end(c.Fact, claim)
	}
}

// checkEnding refuses a way in which a claim cannot end. A confirmed claim leaves the entry, so another one has to say
// it, there or elsewhere. What is of an earlier time ends nothing that the story's present holds, but may settle a
// guess.
func checkEnding(c *annotator.Claim, elsewhere, byEarlier bool) error {
	switch {
	case !slices.Contains(endings, c.Ended):
		return refuse("ENDING", "%.40q is no way in which a fact ends", c.Ended)
	case elsewhere && (c.Kind != annotator.Inferred || c.Ended != annotator.EndConfirmed) &&
		(!c.State || c.Ended != annotator.EndOver):
		return refuse("ENDING", "by a fact of another entry a guess is confirmed or a state is over, and nothing "+
			"else; fact %d does not end so", c.ID)
	case c.Ended == annotator.EndConfirmed && c.ReplacedBy == 0 && !elsewhere:
		return refuse("ENDING", "fact %d is not shown once it is confirmed: name the fact that confirms it, by its "+
			"number, or the entry that has it, with by_entry", c.ID)
	case byEarlier && (c.Ended == annotator.EndOver || c.State && c.Kind != annotator.Inferred):
		return refuse("ENDING", "fact %d is of an earlier time, so fact %d is not over by it: leave it, or close it "+
			"by what is told of the story's present", c.ReplacedBy, c.ID)
	}
	return nil
}

// confirmed returns how a claim ends that leaves the entry for another one, or refuses that. A guess that takes the
// place of a guess does not confirm it, but says better what is thought.
func confirmed(claim, by *annotator.Claim, unrelated bool) (annotator.Ending, error) {
	switch isGuess := by.Kind == annotator.Inferred; {
	case unrelated:
		return "", refuse("UNSETTLED", "fact %d says nothing of what fact %d says: name the fact that does, or leave "+
			"fact %[2]d", by.ID, claim.ID)
	case !Newer(by, claim):
		return "", refuse("UNSETTLED", "fact %d was known before fact %d, so it does not confirm it: name a newer fact",
			by.ID, claim.ID)
	case isGuess && claim.Kind == annotator.Inferred:
		return annotator.EndReworded, nil
	case isGuess:
		return "", refuse("UNSETTLED", "fact %d is a guess, so it does not confirm fact %d", by.ID, claim.ID)
	}
	return annotator.EndConfirmed, nil
}

// Newer reports whether a claim was added after another one, or is told later in the story.
func Newer(a, b *annotator.Claim) bool { return a.ID > b.ID || a.From > b.From }

// endings are the ways in which a closing may end a claim.
var endings = []annotator.Ending{
	annotator.EndConfirmed, annotator.EndRefuted, annotator.EndOver, annotator.EndWrong,
}

// EndingOf returns how a claim most often ends that is closed without a word on it. Most guesses that a fact replaces
// are right. To show one of these as refuted would deny what is true. To leave out a false one does no harm, because
// the fact is shown.
func EndingOf(c *annotator.Claim, replaced bool) annotator.Ending {
	switch {
	case c.State:
		return annotator.EndOver
	case c.Kind == annotator.Inferred && replaced:
		return annotator.EndConfirmed
	case c.Kind == annotator.Inferred, c.Kind == annotator.Claimed:
		return annotator.EndRefuted
	}
	return annotator.EndWrong
}

// nextOrd returns the rank of a claim behind all that hold.
func (r *reviser) nextOrd() int {
	next := 0
	for i := range r.entry.Claims {
		if r.entry.Claims[i].Until == 0 {
			next = max(next, r.entry.Claims[i].Ord+1)
		}
	}
	return next
}

// lastClaim returns the newest claim's id; 0 if there is none.
func lastClaim(e *annotator.Entry) int64 {
	last := e.Claimed
	for i := range e.Claims {
		last = max(last, e.Claims[i].ID)
	}
	return last
}

// maxPresent is the most code points of a statement of what an entry is now.
const maxPresent = 1000

// Present returns the statement of what an entry is now; empty if there is none, or it is outdated.
func Present(e *annotator.Entry) string {
	if Outdated(e) {
		return ""
	}
	return e.Present
}

// Outdated reports whether a state of an entry has begun or ended since its statement was written.
func Outdated(e *annotator.Entry) bool {
	return e.Present != "" && slices.ContainsFunc(e.Claims, func(c annotator.Claim) bool {
		return c.State && c.Revision > e.PresentRevision
	})
}

// Restate returns the revision that gives a live entry a new statement of what it is now. It returns none if Present
// already returns that statement.
func Restate(
	e *annotator.Entry, statement string, actor annotator.Actor, at annotator.Place,
) ([]annotator.Revision, error) {
	r := newReviser(e, Edit{Actor: actor, At: at})
	r.checkEditable()
	statement = strings.Join(strings.Fields(r.text("present statement", statement, maxPresent)), " ")
	if statement != e.Present || statement != Present(e) {
		r.add(annotator.FieldPresent, e.Present, statement)
	}
	return r.result()
}
