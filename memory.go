package annotator

// EpisodeKind is what an episode sums up.
type EpisodeKind string

// The kinds of episodes.
const (
	EpisodeChunk      EpisodeKind = "chunk"      // some scenes of a thread
	EpisodeThread     EpisodeKind = "thread"     // a whole thread
	EpisodeCumulative EpisodeKind = "cumulative" // the story so far; each supersedes the one before
)

// Author says who wrote an episode.
type Author string

// The authors of episodes.
const (
	AuthorModel Author = "model"
	AuthorRule  Author = "rule" // a stopgap: what could be said without a model
)

// Episode is a summary that stands in the window for the turns it was made from. The turns stay in the journal.
type Episode struct {
	ID         int64       `json:"id"`
	Kind       EpisodeKind `json:"kind"`
	Thread     int64       `json:"thread,omitempty"` // 0 for a cumulative one
	Index      int         `json:"index"`            // of a chunk within its thread, from 0
	Scenes     string      `json:"scenes"`           // indices within the thread, from 0: "0-9"; of a chunk
	FromScene  int         `json:"from_scene"`       // the scenes it covers, over the whole story
	ToScene    int         `json:"to_scene"`
	FromTurn   int64       `json:"from_turn"` // the turns it was made from
	ToTurn     int64       `json:"to_turn"`
	Summary    string      `json:"summary"`
	Entries    []int64     `json:"entries"` // of the glossary that these turns made or changed
	By         Author      `json:"by"`
	Supersedes int64       `json:"supersedes,omitempty"` // the cumulative episode before
	Tokens     int         `json:"tokens"`               // estimate of the summary
	Trace      int64       `json:"trace"`                // the compaction row it took effect with
}

// Fold is what a compaction row says of the window from there on, whole: the newest one tells all.
type WindowState struct {
	Tier    string `json:"tier"`
	Through int64  `json:"through,omitempty"` // the turns up to this one have left the window
	Strip   int64  `json:"strip,omitempty"`   // the thinking of the turns up to this one is taken out
	Cut     int64  `json:"cut,omitempty"`     // the long replies of the turns up to this one are cut,
	CutAt   int    `json:"cut_at,omitempty"`  // to so many characters
	Memory  string `json:"memory,omitempty"`  // what stands before the turns, as the model reads it
}
