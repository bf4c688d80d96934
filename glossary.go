package annotator

import "strings"

// Status is the status of an entry.
type Status string

// The statuses of an entry. Entries are never deleted: an unwanted one is retired, a duplicate is merged into another.
const (
	Tentative Status = "tentative"
	Confirmed Status = "confirmed"
	Retired   Status = "retired"
	Merged    Status = "merged"
)

// Live reports whether an entry with this status is part of the codex.
func (s Status) Live() bool { return s == Tentative || s == Confirmed }

// ClaimKind says what supports a claim.
type ClaimKind string

// The kinds of claims.
const (
	Narrated ClaimKind = "narrated" // the narration says so
	Claimed  ClaimKind = "claimed"  // a character says so
	Inferred ClaimKind = "inferred" // the reader concludes it
	Noted    ClaimKind = "noted"    // a person says so, and quotes no words of the story
)

// Ending says how a claim came to its end.
type Ending string

// The ways in which a claim ends. A claim that was closed by an earlier version of the program has none.
const (
	EndConfirmed Ending = "confirmed" // a guess or a saying that a fact has confirmed
	EndRefuted   Ending = "refuted"   // a guess or a saying that has proved false
	EndOver      Ending = "over"      // a state that has ended
	EndWrong     Ending = "wrong"     // an error of the codex
	EndReworded  Ending = "reworded"  // another claim of the entry says the same in other words
	EndMoved     Ending = "moved"     // another entry has the claim
)

// Entry describes one thing of the story.
type Entry struct {
	ID            int64
	Term          string // without disambiguator
	Disambiguator string // "character" in "Dawn (character)"; often empty
	Status        Status
	Tags          []string // sorted, distinct
	Aliases       []Alias  // sorted by normalised name
	Claims        []Claim  // open and closed ones, in the order of the definition
	Present       string   // what it is now, in a few sentences; not evidence; empty if none was written
	PresentAt     Place    // the place up to which Present holds
	PresentScene  int      // the number of its scene; 0 of an entry that was not read from a database
	First, Last   Place    // the earliest and the latest place of its revisions; of its mentions in a view
	Claimed       int64    // id of the newest claim, open or closed; 0 for none
	Revisions     int
	Revision      int64 // id of the newest revision
	// PresentRevision is the id of the revision that set Present. A state that a later one has changed makes it out of
	// date.
	PresentRevision int64
	Locked          bool // locked by a person: only a person may change it
	// Locks are the parts that a person has written, sorted: only a person may change them. See codex.LockFact.
	Locks      []string
	MergedInto int64 // id of the entry that replaces it; 0 if none
}

// Name returns the term with its disambiguator: "Dawn (character)".
func (e *Entry) Name() string {
	if e.Disambiguator == "" {
		return e.Term
	}
	return e.Term + " (" + e.Disambiguator + ")"
}

// Names returns every name, the term among them, in the order of the aliases.
func (e *Entry) Names() []string {
	names := make([]string, len(e.Aliases))
	for i := range e.Aliases {
		names[i] = e.Aliases[i].Name
	}
	return names
}

// Definition joins the claims that hold now.
func (e *Entry) Definition() string {
	var open []string
	for i := range e.Claims {
		if e.Claims[i].Until == 0 {
			open = append(open, e.Claims[i].Text)
		}
	}
	return strings.Join(open, " ")
}

// Alias is another name of an entry, known since a place in the story.
type Alias struct {
	Name string `json:"name"`
	From Place  `json:"from"`
}

// Claim is one fact of an entry, as one sentence. It keeps its id as long as its text stays the same.
type Claim struct {
	ID      int64     `json:"id"` // from 1, within the entry
	Ord     int       `json:"ord"`
	Text    string    `json:"text"`
	Kind    ClaimKind `json:"kind"`
	From    Place     `json:"from"`
	Until   Place     `json:"until,omitempty"`   // 0 while it holds
	Speaker string    `json:"speaker,omitempty"` // who says it, of a claim of kind Claimed; empty if unknown
	State   bool      `json:"state,omitempty"`   // it describes a state that can end
	Ended   Ending    `json:"ended,omitempty"`   // how it came to its end; empty while it holds
	// Document is the letter, page, inscription or notice in which Speaker says it; empty for none.
	Document string `json:"document,omitempty"`
	Identity bool   `json:"identity,omitempty"` // it says who or what the entry is
	Earlier  bool   `json:"earlier,omitempty"`  // it is of an earlier time than the scene that tells it
	// Relation says in a few words what the entry is to Object: "sister of", "owns", "has rank". It is empty for none.
	Relation string `json:"relation,omitempty"`
	// Object is a name, which is looked up when it is read, or other words. It is empty where Relation says it all.
	Object string `json:"object,omitempty"`
	// As is the name of the merged entry that the claim comes from. It speaks of the entry under that name.
	As string `json:"as,omitempty"`
	// ReplacedBy is the id of the claim that took its place when it was closed; 0 for none.
	ReplacedBy int64      `json:"replaced_by,omitempty"`
	MovedTo    int64      `json:"moved_to,omitempty"` // id of the entry that has it, of a claim that ended as moved
	Evidence   []Evidence `json:"-"`
	Revision   int64      `json:"-"` // id of the revision that set it as it is
	// Doubted says that it holds because a person has locked it, and that the model would have changed or ended it.
	Doubted bool `json:"-"`
}

// Settled reports whether what a claim says is elsewhere now. A fact confirmed it, the entry has it in other words, or
// another entry has it. An entry is shown without its settled claims, and its history keeps them.
func (c *Claim) Settled() bool {
	return c.Ended == EndConfirmed || c.Ended == EndReworded || c.Ended == EndMoved
}

// ClaimRef names a claim of an entry as a revision set it.
type ClaimRef struct {
	Entry    int64
	Claim    int64 // its id within the entry
	Revision int64
}

// Evidence is a quotation that supports a claim.
type Evidence struct {
	Claim int64  `json:"claim"` // the claim's id within the entry
	Post  int64  `json:"post"`
	Start int    `json:"start"`          // offset in the post's body, in Unicode code points
	End   int    `json:"end"`            // exclusive
	Quote string `json:"quote"`          // body[Start:End], verbatim
	Weak  bool   `json:"weak,omitempty"` // with the others that came with it, it lacks words of its claim
}

// Field names what a revision changes.
type Field string

// The fields of a revision. codex.Apply defines the form of the old and new values.
const (
	FieldTerm            Field = "term"
	FieldAlias           Field = "alias"
	FieldTag             Field = "tag"
	FieldClaim           Field = "claim"
	FieldEvidence        Field = "evidence"
	FieldPresent         Field = "present"
	FieldStatus          Field = "status"
	FieldMerge           Field = "merge"
	FieldLock            Field = "lock"
	FieldCuratorDecision Field = "curator_decision"
	FieldRetired         Field = "retired"
)

// Actor says who made a revision. A person outranks the curator, and the curator outranks a rule and the model.
type Actor string

// The actors.
const (
	ActorModel   Actor = "model"
	ActorCurator Actor = "curator"
	ActorRule    Actor = "rule"
	ActorPerson  Actor = "person"
)

// Revision is one change of one field of an entry. Entries change by revisions only. At is its place in the story. Seen
// is how far the story was read when it was made, which may be further, and a limit selects by it.
type Revision struct {
	ID      int64  `json:"id"`
	Entry   int64  `json:"entry"`
	Field   Field  `json:"field"`
	Old     string `json:"old,omitempty"` // empty if the field had no value
	New     string `json:"new,omitempty"` // empty if the value is removed
	At      Place  `json:"at"`            // of the quotation, or of the scene
	Seen    Order  `json:"seen"`          // the furthest scene that was read
	Actor   Actor  `json:"actor"`
	Turn    int64  `json:"turn,omitempty"`
	Trace   int64  `json:"trace,omitempty"` // id of the tool_result row it committed with
	Changed int64  `json:"changed"`         // unix milliseconds
}

// Query selects entries of the glossary.
type Query struct {
	Text     string   // words in any form; an empty text matches every entry
	Tags     []string // an entry must have all of them
	Statuses []Status // an entry must have one of them; none means the live statuses
	Letter   string   // what the term begins with, as codex.Normalize writes it; only without a text
	ByAge    bool     // in the order in which the story was read, not by term; only without a text
	Offset   int      // how many entries to leave out before the first
	Limit    int      // the maximum number of entries; 0 means no limit
}
