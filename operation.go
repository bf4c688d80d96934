package annotator

// Deed is what an operation of a person does.
type Deed string

// The deeds.
const (
	DeedCreate Deed = "create" // an entry is made, with what Parts add to it
	DeedEdit   Deed = "edit"   // a fact in other words, or with another relation
	DeedAdd    Deed = "add"    // a fact or a name is added
	DeedReject Deed = "reject" // a fact or a name is wrong
	DeedEnd    Deed = "end"    // a state has ended, or a guess is settled
	DeedRename Deed = "rename"
	DeedRetag  Deed = "retag"
	DeedHide   Deed = "hide"   // an entry is retired
	DeedKeep   Deed = "keep"   // a tentative entry belongs in the codex
	DeedMerge  Deed = "merge"  // an entry is another one
	DeedSplit  Deed = "split"  // a merged entry is none of the one that it was merged into
	DeedNever  Deed = "never"  // two entries are not the same
	DeedLock   Deed = "lock"   // only a person may change an entry or a fact
	DeedUnlock Deed = "unlock" // locks are lifted
	DeedRevert Deed = "revert" // a revision is taken back
	DeedUndo   Deed = "undo"   // the newest operation is taken back
	DeedBatch  Deed = "batch"  // several operations, as one decision: all are applied, or none
	DeedSeed   Deed = "seed"   // the entries that a run begins with: a batch of create, applied before the first scene
	DeedAnswer Deed = "answer" // a question of the model is answered
)

// Operation is a change of the codex that a person asks for. In JSON it is what the journal has of it. Its texts are
// taken literally.
type Operation struct {
	Do    Deed  `json:"do"`
	Entry int64 `json:"entry,omitempty"` // of create and revert: set when it is applied
	Other int64 `json:"other,omitempty"` // of merge, never and unlock: the other entry
	Fact  int64 `json:"fact,omitempty"`  // its number; of lock and unlock: 0 for the entry
	// of create: its name; of rename: the new name; of add and reject: the name, if it is about one
	Name string   `json:"name,omitempty"`
	Text string   `json:"text,omitempty"` // of edit and add: the fact; of hide: the reason; of answer: the answer
	Was  string   `json:"was,omitempty"`  // of an operation on a fact: it is refused if the fact has other words
	Tags []string `json:"tags,omitempty"`
	Hint bool     `json:"hint,omitempty"` // of create and seed: neither confirmed nor locked
	// of add: what else is known of the fact. Without kind, speaker and evidence it is Noted. Edit has a relation, too
	Kind     ClaimKind `json:"kind,omitempty"`
	Speaker  string    `json:"speaker,omitempty"`
	State    bool      `json:"state,omitempty"`
	Identity bool      `json:"identity,omitempty"`
	Relation string    `json:"relation,omitempty"`
	Object   string    `json:"object,omitempty"`
	Evidence *Evidence `json:"evidence,omitempty"`
	// of end: the number of the fact that takes its place, and how it ends; zero: it is over, and none does
	ReplacedBy int64  `json:"replaced_by,omitempty"`
	Ended      Ending `json:"ended,omitempty"`
	Question   int64  `json:"question,omitempty"` // of answer: its number
	Revision   int64  `json:"revision,omitempty"` // of revert
	// of undo: the row of the journal with the operation that it takes back; 0: the newest one that was not undone
	Row int64 `json:"row,omitempty"`
	// the scene from which it is seen; 0: from where what it changes or quotes is seen
	From Order `json:"from,omitempty"`
	// of batch and seed, in order; of create: the facts and names that are added
	Parts []Operation `json:"parts,omitempty"`
	// who asks for it, as that person says; empty: nobody has said. Undo then takes back the newest one of anybody
	By string `json:"by,omitempty"`
}

// IsList reports whether an operation is its parts.
func (op *Operation) IsList() bool { return op.Do == DeedBatch || op.Do == DeedSeed }

// Question is what the model asks a person about an entry.
type Question struct {
	ID      int64    `json:"id"` // its number, from 1
	Entry   int64    `json:"entry"`
	Text    string   `json:"text"`
	Answers []string `json:"answers,omitempty"` // that the model suggests
	Scene   int      `json:"scene"`             // at which it was asked

	Row      int64 `json:"-"` // of the journal; 0 until it is there
	Answered bool  `json:"-"` // a person has answered it
}

// Answer is a person's answer to a question of the model.
type Answer struct {
	Row      int64 // of the journal
	Question int64 // its number
	Text     string
	By       string // who answers; empty: nobody has said
	From     Order  // the scene from which it is known
}

// Proposal is an operation that an agent proposes, and that a person may accept.
type Proposal struct {
	ID        int64
	Operation Operation
	Why       string // in the agent's words
	Seen      Order  // of the furthest scene that the agent was shown
	At        int64  // unix milliseconds
}
