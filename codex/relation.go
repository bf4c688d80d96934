package codex

import (
	"strings"

	"annotator"
)

// relationOf returns the relation of a fact as it is stored. The object is what the text links first, if none is given.
func relationOf(f *Fact) (relation, object string) {
	relation, object = CleanName(LinkNames(f.Relation)), CleanName(LinkNames(f.Object))
	if !HasWord(relation) {
		return "", ""
	}
	if names := Links(f.Text); !HasWord(object) && len(names) > 0 {
		object = CleanName(names[0])
	}
	return relation, object
}

// complete marks a claim that says who or what the entry is, and gives it a relation that it lacks. Only a person puts
// a relation in the place of another one, or gives one to a fact that a person has locked.
func (r *reviser) complete(id int64, identity bool, relation, object string) {
	was := &r.entry.Claims[claimIndex(&r.entry, id)]
	claim := *was
	claim.Identity = was.Identity || identity
	isPerson := r.edit.Actor == annotator.ActorPerson
	if relation != "" && (was.Relation == "" || isPerson) && !r.locked(LockFact(id)) {
		claim.Relation, claim.Object = relation, object
	}
	if claim.Identity != was.Identity || !sameRelation(&claim, was) {
		r.add(annotator.FieldClaim, annotator.EncodeJSON(was), annotator.EncodeJSON(claim))
	}
}

// sameRelation reports whether two claims have the same relation to the same object.
func sameRelation(a, b *annotator.Claim) bool {
	return a.Relation == b.Relation && a.Object == b.Object
}

// RelationWords returns a relation with its object, as it reads after the entry's name: "sister of Maren". It is empty
// for a claim without a relation.
func RelationWords(c *annotator.Claim) string { return strings.TrimSpace(c.Relation + " " + c.Object) }
