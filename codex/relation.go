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

// RelationWords returns the relation of a claim with its object, as Told does in the list of its own entry. It is empty
// for a claim without a relation.
func RelationWords(c *annotator.Claim) string { return Told("", c.Relation, c.Object) }

// Told returns a relation in the order in which the story tells it. In the list of its own entry, whose name is empty
// then, it reads "lied to Wren". In the list of its object it reads "Vane: lied to Wren". No words are turned round.
func Told(entry, relation, object string) string {
	words := strings.TrimSpace(relation + " " + object)
	if entry == "" {
		return words
	}
	return entry + ": " + words
}

// Matter is a sort of what is open in a story.
type Matter string

// The matters.
const (
	Promise   Matter = "promise"
	Conflict  Matter = "conflict"
	Knowledge Matter = "knowledge"
	Question  Matter = "question"
	OpenState Matter = "state" // any other state
)

// Matters returns the matters in the order in which they are listed.
func Matters() []Matter { return []Matter{Promise, Conflict, Knowledge, Question, OpenState} }

// MatterOf returns what a claim that readers are shown leaves open or has settled; empty for nothing. The first word of
// a relation decides.
func MatterOf(c *annotator.Claim) Matter {
	first, _, _ := strings.Cut(Normalize(c.Relation), " ")
	switch first {
	case "promised", "promises", "owes", "owed", "swore", "vowed", "pledged":
		return Promise
	case "opposes", "opposed", "enemy", "foe", "rival", "hates", "threatens", "hunts":
		return Conflict
	case "knows", "knew", "suspects", "learned":
		return Knowledge
	case "asks", "asked", "wonders":
		return Question
	}
	if c.State {
		return OpenState
	}
	return ""
}

// EventTags returns the tags of entries that are events.
func EventTags() []string { return []string{"event", "battle", "incident", "meeting", "ceremony"} }

// Directory finds live entries by their names.
type Directory struct{ full, names map[string]int64 } // 0: several entries go by the name

// NewDirectory returns an empty directory.
func NewDirectory() *Directory { return &Directory{map[string]int64{}, map[string]int64{}} }

// Add adds a name of an entry, in the form of Normalize. A full name is the term with what distinguishes it.
func (d *Directory) Add(entry int64, name string, isFull bool) {
	names := d.names
	if isFull {
		names = d.full
	}
	if other, known := names[name]; known && other != entry {
		entry = 0
	}
	names[name] = entry
}

// Find returns the entry that a text names in full, or else the only one that goes by it; 0 for none.
func (d *Directory) Find(text string) int64 {
	key := Normalize(text)
	if id := d.full[key]; id != 0 {
		return id
	}
	return d.names[key]
}
