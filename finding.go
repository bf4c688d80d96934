package annotator

// FindingSort says how a new chapter and a fact do not go together.
type FindingSort string

// The sorts of findings.
const (
	Contradiction FindingSort = "contradiction" // both cannot be true
	Knowledge     FindingSort = "knowledge"     // somebody knows what nobody let them know
	BrokenPromise FindingSort = "promise"       // what was promised is not kept, without a word about it
)

// Finding is a place of a new chapter that does not go together with a fact of the codex. It changes no entry.
type Finding struct {
	Sort    FindingSort `json:"sort"`
	Entry   int64       `json:"entry"`
	Claim   int64       `json:"fact"`    // its id within the entry
	Chapter string      `json:"chapter"` // as it was named to the check
	Quote   string      `json:"quote"`   // of the chapter, verbatim
	Reason  string      `json:"reason"`
}
