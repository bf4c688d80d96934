package annotator

// Deed is what an operation of a person does.
type Deed string

// The deeds.
const (
	DeedEdit   Deed = "edit"   // a fact in other words
	DeedAdd    Deed = "add"    // a fact or a name is added
	DeedReject Deed = "reject" // a fact or a name is wrong
	DeedEnd    Deed = "end"    // a state has ended
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
)

// Operation is a change of the codex that a person asks for. In JSON it is what the journal has of it. Its texts are
// taken literally.
type Operation struct {
	Do    Deed  `json:"do"`
	Entry int64 `json:"entry,omitempty"`
	Other int64 `json:"other,omitempty"` // of merge, never and unlock: the other entry
	Fact  int64 `json:"fact,omitempty"`  // its number; of lock and unlock: 0 for the entry
	// of rename: the new name; of add and reject: the name, if it is about one
	Name string   `json:"name,omitempty"`
	Text string   `json:"text,omitempty"` // of edit and add: the fact; of hide: the reason
	Was  string   `json:"was,omitempty"`  // of an operation on a fact: it is refused if the fact has other words
	Tags []string `json:"tags,omitempty"`
	// of add: what else is known of the fact
	Kind     ClaimKind `json:"kind,omitempty"`
	Speaker  string    `json:"speaker,omitempty"`
	State    bool      `json:"state,omitempty"`
	Identity bool      `json:"identity,omitempty"`
	Evidence *Evidence `json:"evidence,omitempty"`
	Revision int64     `json:"revision,omitempty"` // of revert
	// of undo: the row of the journal with the operation that it takes back; 0: the newest one that was not undone
	Row int64 `json:"row,omitempty"`
	// the scene from which it is seen; 0: from where what it changes or quotes is seen
	From  Order       `json:"from,omitempty"`
	Parts []Operation `json:"parts,omitempty"` // of batch, in order
}
