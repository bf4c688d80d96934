package codex

import (
	"strings"
	"sync"

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

// Inverse returns a relation as it is told from the side of the object: "child of" for "mother of". It is empty for
// words that the table does not have.
func Inverse(relation string) string {
	words := Normalize(relation)
	if inverse, known := inverses()[words]; known {
		return inverse
	}
	return ""
}

// FromSide returns a relation as it reads after the name of its entry or, if not isEntry, of its object. There,
// "captain of" is "has as captain", and words without an inverse follow an arrow.
func FromSide(relation string, isEntry bool) string {
	if isEntry {
		return relation
	}
	if inverse := Inverse(relation); inverse != "" {
		return inverse
	}
	if role, isRole := strings.CutSuffix(relation, " of"); isRole {
		return "has as " + role
	}
	return "← " + relation
}

// pairs are relations and their inverses, in both directions. Of several words for one side, the first is the inverse
// of the other side, and tells no gender.
var pairs = [...][2][]string{
	{{"sibling of", "brother of", "sister of", "twin of"}, {"sibling of"}},
	{{"parent of", "father of", "mother of"}, {"child of", "son of", "daughter of"}},
	{{"grandparent of", "grandfather of", "grandmother of"}, {"grandchild of", "grandson of", "granddaughter of"}},
	{{"ancestor of", "forebear of"}, {"descendant of", "descends from", "descended from"}},
	{{"spouse of", "husband of", "wife of", "married to", "widow of", "widower of"}, {"spouse of"}},
	{{"uncle or aunt of", "uncle of", "aunt of"}, {"nephew or niece of", "nephew of", "niece of"}},
	{{"cousin of"}, {"cousin of"}},
	{{"lover of", "loves"}, {"loved by", "beloved of"}},
	{{"friend of"}, {"friend of"}},
	{{"ally of", "allied with"}, {"ally of"}},
	{{"enemy of", "foe of", "at war with"}, {"enemy of"}},
	{{"rival of"}, {"rival of"}},
	{{"opposes"}, {"opposed by"}},
	{{"colleague of"}, {"colleague of"}},
	{{"teacher of", "taught", "teaches", "master of", "mentor of"}, {"pupil of", "student of", "apprentice of"}},
	{{"superior of", "commander of", "commands", "leads"}, {"subordinate of", "serves under", "reports to"}},
	{{"employer of", "employs"}, {"employed by", "works for", "servant of", "serves"}},
	{{"owner of", "owns", "has"}, {"owned by", "belongs to", "property of"}},
	{{"member of", "belongs among"}, {"has as member"}},
	{{"part of"}, {"has as part"}},
	{{"keeper of", "keeps", "guards", "guardian of"}, {"kept by", "guarded by", "ward of"}},
	{{"maker of", "made", "built", "founded", "wrote"}, {"made by", "built by", "founded by", "written by"}},
	{{"made of"}, {"material of"}},
	{{"lives at", "lives in", "resident of"}, {"home of"}},
	{{"is at", "is in", "stands on", "stands in", "lies in", "lies at", "located in"}, {"place of"}},
	{{"rescued", "saved"}, {"rescued by", "saved by"}},
	{{"killed", "murdered"}, {"killed by", "murdered by"}},
	{{"attacked", "wounded"}, {"attacked by", "wounded by"}},
	{{"betrayed"}, {"betrayed by"}},
	{{"captured", "imprisoned", "captor of"}, {"captured by", "prisoner of"}},
	{{"promised"}, {"was promised by"}},
	{{"knows"}, {"known to"}},
	{{"has rank", "holds the rank of"}, {"rank of"}},
}

// inverses returns the inverse of each relation of the table.
var inverses = sync.OnceValue(func() map[string]string {
	table := map[string]string{}
	for _, pair := range pairs {
		for side, words := range pair {
			for _, w := range words {
				if table[w] == "" {
					table[w] = pair[1-side][0]
				}
			}
		}
	}
	return table
})

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
