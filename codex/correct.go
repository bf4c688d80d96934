package codex

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"annotator"
)

// Reword returns the revisions that put another wording in the place of an open claim, without ids, times or trace. The
// new claim is like the old one in all but its text, and has its evidence. The old one ends as reworded. It is for an
// error of the codex: what the story has changed is closed by a new fact. The error is a *Refusal if the rules reject
// it.
func Reword(
	e *annotator.Entry, fact int64, text string, actor annotator.Actor, at annotator.Place,
) ([]annotator.Revision, error) {
	r := newReviser(e, Edit{Actor: actor, At: at})
	r.checkEditable()
	claim := r.openClaim(fact)
	text = strings.Join(strings.Fields(r.text("fact", text, MaxFact)), " ")
	isSame := func(c annotator.Claim) bool {
		return c.Until == 0 && (c.Text == text || c.ID != fact && Normalize(c.Text) == Normalize(text))
	}
	if slices.ContainsFunc(r.entry.Claims, isSame) {
		r.fail(refuse("SAME", "entry %d has a fact in these words already", e.ID))
	}
	if r.err != nil {
		return nil, r.err
	}
	reworded := claim
	reworded.ID, reworded.Text = lastClaim(&r.entry)+1, text
	r.copyClaim(reworded, claim.Evidence)
	claim.Ended, claim.ReplacedBy = annotator.EndReworded, reworded.ID
	r.end(fact, claim)
	r.checkLength()
	return r.result()
}

// Relate returns the revisions that give an open claim a relation that it lacks, without ids, times or trace. There are
// none if it has that relation. The error is a *Refusal if the rules reject it.
func Relate(
	e *annotator.Entry, fact int64, relation, object string, actor annotator.Actor, at annotator.Place,
) ([]annotator.Revision, error) {
	r := newReviser(e, Edit{Actor: actor, At: at})
	r.checkEditable()
	r.checkPart(LockFact(fact), fmt.Sprintf("fact %d", fact))
	claim := r.openClaim(fact)
	f := Fact{Text: claim.Text, Relation: relation, Object: object}
	f.Relation, f.Object = relationOf(&f)
	if _, err := f.clean(); err != nil && r.err == nil {
		r.fail(err)
	}
	if f.Relation == "" {
		r.fail(refuse("EMPTY", "a relation has words"))
	}
	if has := RelationWords(&claim); claim.Relation != "" && has != RelationWords(&annotator.Claim{
		Relation: f.Relation, Object: f.Object,
	}) {
		r.fail(refuse("SAME", "fact %d has a relation already: %s", fact, has))
	}
	if r.err == nil {
		r.complete(fact, false, f.Relation, f.Object)
	}
	return r.result()
}

// Move returns the revisions that move an open claim to the entry that it is about, without ids, times or trace. Those
// of the target come before that of the source. The target gets a claim that is like it, with its evidence, or that
// evidence if it has the claim. The claim of the source ends as moved. The error is a *Refusal if the rules reject it.
func Move(
	source, target *annotator.Entry, fact int64, actor annotator.Actor, at annotator.Place,
) ([]annotator.Revision, error) {
	if source.ID == target.ID {
		return nil, refuse("SAME", "entry %d has the fact already", source.ID)
	}
	edit := Edit{Actor: actor, At: at}
	from, into := newReviser(source, edit), newReviser(target, edit)
	from.checkEditable()
	into.checkEditable()
	from.move(fact, into, true)
	if err := cmp.Or(from.err, into.err); err != nil {
		return nil, err
	}
	return append(into.revisions, from.revisions...), nil
}

// Drop returns the revisions that retire an entry, with the reason, and give some of its open claims to another entry,
// as Move does. They do not say who or what that one is, and lose their relations, which are those of the source. The
// error is a *Refusal if the rules reject it.
func Drop(
	source, target *annotator.Entry, facts []int64, reason string, actor annotator.Actor, at annotator.Place,
) ([]annotator.Revision, error) {
	if source.ID == target.ID {
		return nil, refuse("SAME", "entry %d cannot be a part of itself", source.ID)
	}
	edit := Edit{Actor: actor, At: at}
	from, into := newReviser(source, edit), newReviser(target, edit)
	from.checkEditable()
	into.checkEditable()
	for _, fact := range facts {
		from.move(fact, into, false)
	}
	from.add(annotator.FieldRetired, string(source.Status), from.text("reason", reason, MaxQuote))
	if err := cmp.Or(from.err, into.err); err != nil {
		return nil, err
	}
	return append(into.revisions, from.revisions...), nil
}

// move moves an open claim to another entry. There it may go on saying who or what the entry is. A relation of that
// entry to itself is none.
func (r *reviser) move(fact int64, into *reviser, identity bool) {
	claim := r.openClaim(fact)
	if cmp.Or(r.err, into.err) != nil {
		return
	}
	moved := claim
	moved.As, moved.Identity = "", moved.Identity && identity // it is not filed under that name any more
	_, own := findAlias(&into.entry, moved.Object)
	if own || Normalize(moved.Object) == Normalize(into.entry.Term) || !identity {
		moved.Relation, moved.Object = "", ""
	}
	known := slices.IndexFunc(into.entry.Claims, func(c annotator.Claim) bool {
		return c.Until == 0 && sameClaim(&c, &moved)
	})
	if known >= 0 {
		into.complete(into.entry.Claims[known].ID, false, moved.Relation, moved.Object)
		into.attachAll(into.entry.Claims[known].ID, claim.Evidence)
	} else {
		moved.ID, moved.Ord = lastClaim(&into.entry)+1, into.nextOrd()
		into.copyClaim(moved, claim.Evidence)
		into.checkLength()
	}
	claim.Ended, claim.MovedTo = annotator.EndMoved, into.entry.ID
	r.end(fact, claim)
}

// openClaim returns the claim with an id, which must hold.
func (r *reviser) openClaim(id int64) annotator.Claim {
	at := claimIndex(&r.entry, id)
	if at < 0 || r.entry.Claims[at].Until != 0 {
		r.fail(refuse("NOT_FOUND", "entry %d has no fact %d that holds", r.entry.ID, id))
		return annotator.Claim{}
	}
	return r.entry.Claims[at]
}

// copyClaim adds a claim with evidence.
func (r *reviser) copyClaim(claim annotator.Claim, evidence []annotator.Evidence) {
	r.add(annotator.FieldClaim, "", annotator.EncodeJSON(claim))
	r.attachAll(claim.ID, evidence)
}

// attachAll adds evidence to a claim.
func (r *reviser) attachAll(claim int64, evidence []annotator.Evidence) {
	for _, e := range evidence {
		r.attach(claimIndex(&r.entry, claim), e)
	}
}

// end ends an open claim, whose ending has been set. A scene that is read late may end a claim of a later one.
func (r *reviser) end(id int64, ended annotator.Claim) {
	r.checkPart(LockFact(id), fmt.Sprintf("fact %d", id))
	ended.Until = max(r.edit.At, ended.From, 1) // 0 would hold: of what was known before the story, too
	open := &r.entry.Claims[claimIndex(&r.entry, id)]
	r.add(annotator.FieldClaim, annotator.EncodeJSON(open), annotator.EncodeJSON(ended))
}

// checkLength fails if the facts of the entry have become too long together.
func (r *reviser) checkLength() {
	if n := utf8.RuneCountInString(r.entry.Definition()); n > MaxFacts {
		r.fail(refuse("TOO_LONG", "the facts of entry %d would have %d characters; at most %d", r.entry.ID, n,
			MaxFacts))
	}
}
