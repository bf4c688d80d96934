package annotator

import "crypto/sha256"

// SceneState is how far the work on a scene is.
type SceneState string

// The states of a scene.
const (
	ScenePending     SceneState = "pending"
	SceneOpen        SceneState = "open" // its message is in the journal
	SceneRecorded    SceneState = "recorded"
	SceneQuarantined SceneState = "quarantined"
)

// SceneRow is a scene as annotator.db has it. The text is in the corpus alone.
type SceneRow struct {
	N        int // as in Scene
	Thread   Thread
	Index    int
	Posts    []int64
	Words    int
	Hash     [sha256.Size]byte // Scene.Hash when the run listed the scene
	Opens    bool
	Ends     bool
	State    SceneState
	Attempts int    // turns that were begun for it
	Turn     int64  // the turn that ended it; 0 before, and where the model was not asked
	Reason   string // why it was quarantined, or what was left out
	Fault    Kind   // of the fault that it was quarantined for; empty where the server was not to blame
	Refusals int    // how often it was quarantined and put back to be read
}

// UndecidedEntry is a tentative entry on which the curator has yet to decide.
type UndecidedEntry struct {
	Entry       int64
	RetryReason string // why it is asked about again, alone; empty the first time
}
