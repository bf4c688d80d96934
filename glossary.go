package annotator

// Status is where an entry stands.
type Status string

// The states of an entry. Nothing is deleted: an entry that is no longer wanted is retired, one that turned out to be
// another is merged into it.
const (
	Tentative Status = "tentative"
	Confirmed Status = "confirmed"
	Retired   Status = "retired"
	Merged    Status = "merged"
)

// Live reports whether an entry in this state is part of the codex.
func (s Status) Live() bool { return s == Tentative || s == Confirmed }

// ClaimKind says how the story vouches for a claim.
type ClaimKind string

// The kinds of claims.
const (
	Narrated ClaimKind = "narrated" // the narration says so
	Claimed  ClaimKind = "claimed"  // somebody in the story says so
	Inferred ClaimKind = "inferred" // concluded by the reader
)

// Entry is one thing of the story and what is known of it.
type Entry struct {
	ID            int64
	Term          string // without disambiguator
	Disambiguator string // "character" in "Dawn (character)"; often empty
	Status        Status
	Tags          []string // sorted, distinct
	Aliases       []Alias  // by normalised name
	Claims        []Claim  // all that ever held, in the order in which the definition gives them
	First, Last   Place    // of its first and its newest revision
	Revisions     int
	Revision      int64 // id of the newest revision
	Locked        bool  // a person's: not the model's to change
	MergedInto    int64 // id of the entry that took its place; 0 if none
}

// Name returns the term with its disambiguator, as it was given: "Dawn (character)".
func (e *Entry) Name() string {
	if e.Disambiguator == "" {
		return e.Term
	}
	return e.Term + " (" + e.Disambiguator + ")"
}

// Definition joins the claims that hold now.
func (e *Entry) Definition() string {
	var text []byte
	for i := range e.Claims {
		if e.Claims[i].Until != 0 {
			continue
		}
		if len(text) > 0 {
			text = append(text, ' ')
		}
		text = append(text, e.Claims[i].Text...)
	}
	return string(text)
}

// Alias is another name of an entry, known from a place on.
type Alias struct {
	Name string `json:"name"`
	From Place  `json:"from"`
}

// Claim is one sentence of a definition. It keeps its identity for as long as its text stands.
type Claim struct {
	ID       int64      `json:"id"` // from 1, within the entry
	Ord      int        `json:"ord"`
	Text     string     `json:"text"`
	Kind     ClaimKind  `json:"kind"`
	From     Place      `json:"from"`
	Until    Place      `json:"until,omitempty"` // 0 while it holds
	Evidence []Evidence `json:"-"`
}

// Evidence is a quotation that a claim rests on.
type Evidence struct {
	Claim int64  `json:"claim"` // the claim's id within the entry
	Post  int64  `json:"post"`
	Start int    `json:"start"` // offset in the post's body, in Unicode code points
	End   int    `json:"end"`   // exclusive
	Quote string `json:"quote"` // body[Start:End], verbatim
}

// Field names what a revision changes.
type Field string

// The fields of a revision. Old and new values are given as codex.Apply reads them.
const (
	FieldTerm            Field = "term"
	FieldAlias           Field = "alias"
	FieldTag             Field = "tag"
	FieldClaim           Field = "claim"
	FieldEvidence        Field = "evidence"
	FieldStatus          Field = "status"
	FieldMerge           Field = "merge"
	FieldLock            Field = "lock"
	FieldCuratorDecision Field = "curator_decision"
	FieldRetired         Field = "retired"
)

// Actor says who made a revision. A person outranks the curator, the curator a rule and the model.
type Actor string

// The actors.
const (
	ActorModel   Actor = "model"
	ActorCurator Actor = "curator"
	ActorRule    Actor = "rule"
	ActorPerson  Actor = "person"
)

// Revision is one change of one field of an entry: the only way in which an entry changes.
type Revision struct {
	ID      int64  `json:"id"`
	Entry   int64  `json:"entry"`
	Field   Field  `json:"field"`
	Old     string `json:"old,omitempty"` // empty where there was nothing
	New     string `json:"new,omitempty"` // empty where nothing is left
	At      Place  `json:"at"`
	Actor   Actor  `json:"actor"`
	Turn    int64  `json:"turn,omitempty"`
	Trace   int64  `json:"trace,omitempty"` // id of the tool_result row it committed with
	Changed int64  `json:"changed"`         // unix milliseconds
}

// Query asks the glossary for entries.
type Query struct {
	Text     string   // words in any form; none finds every entry
	Tags     []string // all must be there
	Statuses []Status // any of them; none means the live ones
	Limit    int      // at most so many; 0 means no limit
}
