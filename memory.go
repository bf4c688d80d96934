package annotator

import "fmt"

// EpisodeKind says what an episode summarises.
type EpisodeKind string

// The kinds of episodes.
const (
	EpisodeChunk      EpisodeKind = "chunk"      // some scenes of a thread
	EpisodeThread     EpisodeKind = "thread"     // a whole thread
	EpisodeCumulative EpisodeKind = "cumulative" // the story so far; each supersedes the one before
)

// EpisodeKinds returns the kinds.
func EpisodeKinds() []EpisodeKind {
	return []EpisodeKind{EpisodeChunk, EpisodeThread, EpisodeCumulative}
}

// Author says who wrote an episode.
type Author string

// The authors of episodes.
const (
	AuthorModel Author = "model"
	AuthorRule  Author = "rule" // written without a model, when none answered
)

// Episode is a summary that replaces turns in the window. The turns stay in the journal.
type Episode struct {
	ID        int64       `json:"id"`
	Kind      EpisodeKind `json:"kind"`
	Thread    int64       `json:"thread,omitempty"` // 0 for a cumulative one
	Index     int         `json:"index"`            // of a chunk within its thread, from 0
	FromScene int         `json:"from_scene"`       // the scenes it covers: the first in story order, and the last
	ToScene   int         `json:"to_scene"`
	From      Order       `json:"-"` // of FromScene
	To        Order       `json:"-"`
	FromTurn  int64       `json:"from_turn"` // the turns it was made from
	ToTurn    int64       `json:"to_turn"`
	Summary   string      `json:"summary"`
	// ids of the entries that these turns created or changed, where these are read
	Entries    []int64 `json:"entries"`
	By         Author  `json:"by"`
	Supersedes int64   `json:"supersedes,omitempty"` // the cumulative episode before
	Tokens     int     `json:"tokens"`               // estimate of the summary
	Trace      int64   `json:"trace"`                // id of the journal row it was made with
}

// NoStory is the summary of a story so far by a model that tells none. A summary that begins with it is not for
// readers: what follows was added by rules.
const NoStory = "This model tells no story so far."

// Scenes names the scenes that it covers: "12-15".
func (e *Episode) Scenes() string { return fmt.Sprintf("%d-%d", e.FromScene, e.ToScene) }

// EndedThread is a thread whose scenes are done, and that has no summary or is in the window.
type EndedThread struct {
	ID         int64
	Summarised bool
	Unanswered int   // questions for its summary that were answered without one
	LastTurn   int64 // of the newest scene of it that was recorded
}

// Summaries is what is made at the end of threads: a summary of each, and the story so far. They enter the window with
// a later compaction, or never.
type Summaries struct {
	Episodes []Episode
	Missing  []int64 // ids of the threads without a usable summary in the answer
}

// WindowState is the complete state of the window after a compaction. Only the newest one counts.
type WindowState struct {
	Tier    string `json:"tier"`
	Through int64  `json:"through,omitempty"` // the turns up to this one have left the window
	Strip   int64  `json:"strip,omitempty"`   // reasoning is removed from the turns up to this one
	Cut     int64  `json:"cut,omitempty"`     // long replies of the turns up to this one are cut to CutAt
	CutAt   int    `json:"cut_at,omitempty"`  // in characters
	// the entries shown with the scenes of the turns up to this one are omitted
	Bare    int64  `json:"bare,omitempty"`
	Answers int64  `json:"answers,omitempty"` // long answers of tools to the turns up to this one are omitted
	Memory  string `json:"memory,omitempty"`  // the summaries before the turns, as the model reads them
	Row     int64  `json:"-"`                 // the compaction's row of the journal; 0 before the first
}

// Compaction is one compaction of the window. It replaces the state of the window.
type Compaction struct {
	State  WindowState
	Before int // tokens of the prompt
	After  int
	Reason string
	// made by it, which enter the window, except for summaries of threads; the commit sets ids and traces
	Episodes []Episode
	Entered  []int64 // ids of earlier episodes that enter the window
	Gone     []int64 // ids of the episodes that leave the window
	Reply    *Trace  // the summary as the model wrote it; nil without a model
	Call     *Call   // the call of Reply
}
