package annotator

import "crypto/sha256"

// SceneState is the progress of a scene.
type SceneState string

// The states of a scene.
const (
	ScenePending     SceneState = "pending"
	SceneOpen        SceneState = "open" // its message is in the journal
	SceneRecorded    SceneState = "recorded"
	SceneQuarantined SceneState = "quarantined"
	SceneWithdrawn   SceneState = "withdrawn" // the source lost its text before anybody had read it
)

// SceneRow is a scene in annotator.db. Its text is in the corpus only.
type SceneRow struct {
	N        int // as in Scene
	Order    Order
	Thread   Thread
	Posts    []int64
	Words    int
	Hash     [sha256.Size]byte // Scene.Hash when the run listed the scene
	Opens    bool
	Ends     bool
	Last     bool // to be read: no other is pending
	State    SceneState
	Attempts int    // turns begun for it
	Turn     int64  // the turn that ended it; 0 before that, and if the model was not asked
	Reason   string // why it was quarantined, or what was omitted
	Fault    Kind   // of the fault that caused the quarantine; empty if the server did not cause it
	Refusals int    // how often it was quarantined and reset
}

// SceneOrder is a scene's number with its order.
type SceneOrder struct {
	N     int
	Order Order
}

// OrderOf returns the order of a scene that was looked for; 0 if it was not found.
func OrderOf(row *SceneRow, err error) (Order, error) {
	switch {
	case KindOf(err) == NotFound:
		return 0, nil
	case err != nil:
		return 0, err
	}
	return row.Order, nil
}

// UndecidedEntry is a tentative entry that awaits the curator's decision.
type UndecidedEntry struct {
	Entry       int64
	RetryReason string // why a question is about it alone; empty at first
}

// MajorChange is how much a change of a claim counts that may change what an entry is now. Other changes count for 1.
const MajorChange = 5
