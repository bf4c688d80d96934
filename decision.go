package annotator

// Verdict is what a person has said to a suggestion of a review.
type Verdict string

// The verdicts.
const (
	VerdictAccepted Verdict = "accepted" // what was suggested is applied
	VerdictRejected Verdict = "rejected" // what it is about is wrong, and is taken out
	VerdictNever    Verdict = "never"    // it is not asked about again
	VerdictWait     Verdict = "wait"     // it is not asked about until what it rests on changes
	VerdictLater    Verdict = "later"    // as VerdictWait, but for a day only
)

// Decision is a person's answer to a suggestion. A suggestion is computed from the codex when it is read, so the
// decision names it by its key.
type Decision struct {
	ID      int64         `json:"id"`
	Key     string        `json:"key"`    // the kind of the suggestion, and the ids of what it is about
	Digest  string        `json:"digest"` // of what the suggestion rested on
	Verdict Verdict       `json:"verdict"`
	Edits   []DecidedEdit `json:"edits,omitempty"` // that it has made
	Seen    Order         `json:"-"`               // the furthest scene that the person was shown
	At      int64         `json:"at"`              // unix milliseconds
}

// DecidedEdit is an operation that a decision has applied.
type DecidedEdit struct {
	Operation Operation `json:"operation"`
	Row       int64     `json:"row,omitempty"` // of the journal; 0 if it was stored for a run
}
