package annotator

// TraceKind is the kind of a row of the journal.
type TraceKind string

// The rows of a journal.
const (
	TracePrompt TraceKind = "prompt"      // system prompt and tools from here on; refers to a snapshot context
	TraceScene  TraceKind = "scene"       // starts a turn: the scene as the model sees it
	TraceReply  TraceKind = "reply"       // the model's answer, one row even if it was streamed
	TraceCall   TraceKind = "tool_call"   // one of the reply's tool calls
	TraceResult TraceKind = "tool_result" // the tool's answer; its effect commits with this row
	// one of a text reply's codex updates, with its outcome; hidden from the model
	TraceUpdate     TraceKind = "update"
	TraceNote       TraceKind = "note"       // a correction to the model, in the user's role
	TraceClose      TraceKind = "close"      // a generated assistant message for a turn that ended without one
	TraceCompaction TraceKind = "compaction" // turns leave the window; table compaction says why
	TraceEdit       TraceKind = "edit"       // an operation of a person, with its outcome; never shown to the model
	TraceSource     TraceKind = "source"     // what has changed in the source of the story; never shown to the model
	// what a part of the story has noted of a scene, replayed; never shown to the model
	TraceJoin TraceKind = "join"
)

// Trace is a row of the journal. Rows are only ever appended.
type Trace struct {
	ID      int64     `json:"id"`   // from 1, without gaps
	Turn    int64     `json:"turn"` // from 1: one scene and all messages about it; 0 outside a turn
	Seq     int       `json:"seq"`  // from 0, within the turn
	Kind    TraceKind `json:"kind"`
	Scene   int       `json:"scene,omitempty"`   // the scene's number; 0 outside a turn
	Content string    `json:"content,omitempty"` // what the model reads or wrote
	// to a scene: what the model reads after it, such as entries of the glossary
	Attached  string `json:"attached,omitempty"`
	Reasoning string `json:"reasoning,omitempty"`
	CallID    string `json:"call_id,omitempty"`   // of a tool_call or tool_result: unique in the journal
	Tool      string `json:"tool,omitempty"`      // of a tool_call or tool_result; of an edit: the Deed
	Arguments string `json:"arguments,omitempty"` // of a tool_call; of an edit: the Operation
	// a code: of a tool_result, of a reply whose calls must not run, of a note that is read back
	Error  string  `json:"error,omitempty"`
	Tokens int     `json:"tokens,omitempty"` // estimate for this row
	Shows  []Shown `json:"shows,omitempty"`  // the entries that this row shows the model, in full or by name
	Parsed Parsed  `json:"-"`                // what was read of the row, and what else belongs to it
}

// Parsed is what was read of the text of a row, once, when it came. Nothing reads the text again. It also has what
// belongs to the row and is not shown to the model.
type Parsed struct {
	ParsedCall   // of a tool_call or an update
	ReplyContent // of a reply
	// of an answer of the curator, or of the note in its place: the phrases that it was asked about; nil for none
	Phrases *Phrases `json:"phrases,omitempty"`
	// of a tool's answer: the question that the call asks a person
	Question *Question `json:"question,omitempty"`
	// of a tool's answer: what was refused because a person has locked it, as a person can do it
	Suggests []Operation `json:"suggests,omitempty"`
	Answers  []int64     `json:"answers,omitempty"` // of a scene: the rows of a person's answers that it shows
}

// Phrases says whose names some phrases are, by the model.
type Phrases struct {
	Scene   Order          `json:"scene"` // up to which the story was read
	Answers []PhraseAnswer `json:"answers"`
}

// PhraseAnswer says of which entries a phrase is a name; of none where it is nobody's.
type PhraseAnswer struct {
	Key     string  `json:"key"` // mention.PhraseKey of it
	Entries []int64 `json:"entries,omitempty"`
}

// Text returns what the model reads of the row.
func (t *Trace) Text() string {
	return t.Content + t.Attached
}

// CallRequired is the code of a note that demands a tool call, after a reply that called none where one had to be
// called.
const CallRequired = "CALL_REQUIRED"

// Shown is an entry as a row of the journal shows it. The entry is not shown again while that row is in the window and
// no later revision has changed its text.
type Shown struct {
	Entry    int64 `json:"e"`
	Revision int64 `json:"r"`           // id of the entry's newest revision at that time
	Name     bool  `json:"n,omitempty"` // only its names are shown
	States   bool  `json:"s,omitempty"` // only its open states are shown
}

// The kinds of snapshots.
const (
	SnapshotCheckpoint = "checkpoint" // after a scene
	SnapshotManual     = "manual"     // that a person has created
	// of a question to the curator: the context is what it was asked with, and its answer
	SnapshotFork = "curator_fork"
)

// SnapshotKinds returns the kinds.
func SnapshotKinds() []string { return []string{SnapshotCheckpoint, SnapshotManual, SnapshotFork} }

// Snapshot is a position in the journal from which the model's context can be reconstructed.
type Snapshot struct {
	ID       int64  `json:"id"`
	Kind     string `json:"kind"`
	Name     string `json:"name,omitempty"` // that a person gave it; empty: none
	Created  int64  `json:"created"`
	Scene    int    `json:"scene"`
	Thread   int64  `json:"thread"`
	Trace    int64  `json:"trace"`    // id of the newest row of the journal
	Revision int64  `json:"revision"` // id of the newest revision
	Context  int64  `json:"context"`  // id of the snapshot_context: system prompt and tools
	Entries  int    `json:"entries"`  // live entries
	Tokens   int    `json:"tokens"`   // of the window, as last reported or estimated; of a fork: of what was asked
	Before   int64  `json:"-"`        // of a fork: it has the turns of the window before this one; 0: all
	Alone    bool   `json:"-"`        // of a fork: it has nothing but the question
}

// Usage is the cost of one call, in tokens.
type Usage struct {
	Prompt     int
	Told       int // of Prompt: tokens for which the server said whether they were in its prefix cache
	Cached     int // of Told: those in the cache
	Completion int
	Exact      bool // reported by the server; otherwise estimated here
}

// Plus returns what two have used together.
func (u Usage) Plus(other Usage) Usage {
	return Usage{
		u.Prompt + other.Prompt, u.Told + other.Told, u.Cached + other.Cached, u.Completion + other.Completion,
		u.Exact && other.Exact,
	}
}

// Minus returns what was used since an earlier count.
func (u Usage) Minus(before Usage) Usage {
	return Usage{
		u.Prompt - before.Prompt, u.Told - before.Told, u.Cached - before.Cached,
		u.Completion - before.Completion, u.Exact,
	}
}
