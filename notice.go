package annotator

import "time"

// NoticeKind is the kind of a notice. Its text is the "kind" of a line in an events file.
type NoticeKind string

// The kinds of notices. Each comment names the fields that are set besides time, current scene and progress.
const (
	NoticeStart NoticeKind = "start" // a run begins, before it has done anything
	// it is ready: the story is listed, the window restored, the server answers
	NoticeRun        NoticeKind = "run"
	NoticeTransition NoticeKind = "transition" // State, Event, Next
	NoticeCalling    NoticeKind = "calling"    // a call to the model begins: Purpose, Attempt, Usage as estimated
	NoticeStream     NoticeKind = "stream"     // its reply arrives: Purpose, Attempt, Bytes, Duration
	// no token of it has come for a while: Purpose, Attempt, Duration, Reason
	NoticeSilence NoticeKind = "silence"
	// it ended: Purpose, Attempt, Usage, Duration; on failure Decision, Reason
	NoticeCall NoticeKind = "call"
	NoticeTool NoticeKind = "tool" // a tool ran: Tool; Reason is its error's code
	// the run waits before a retry: Duration, Reason; for a server that does not answer Waited, Patience
	NoticeWait       NoticeKind = "wait"
	NoticeCompaction NoticeKind = "compaction" // turns left the window: Tier, TokensBefore, TokensAfter, Reason
	NoticeDecision   NoticeKind = "decision"   // the curator has decided about an entry: Reason
	NoticeScene      NoticeKind = "scene"      // a scene is done: Entries; Reason if it was quarantined
	NoticeWarning    NoticeKind = "word"       // a warning to the user: Reason
	NoticeAlive      NoticeKind = "alive"      // the run goes on: once a minute, whatever else happens
	NoticeEnd        NoticeKind = "end"        // the run ends: Entries; Reason on failure, a stop or quarantined scenes
	// the subscriber was too slow for the Lost notices that this one replaces
	NoticeLost NoticeKind = "lost"
)

// Notice reports something that happened in a run. Fields that do not apply are zero.
type Notice struct {
	Time     time.Time     `json:"time"`
	Kind     NoticeKind    `json:"kind"`
	Scene    int           `json:"scene,omitempty"`
	Turn     int64         `json:"turn,omitempty"`
	Done     int           `json:"done,omitempty"`  // scenes done, in this run and before
	Total    int           `json:"total,omitempty"` // scenes of the story
	State    State         `json:"state,omitempty"`
	Event    Event         `json:"event,omitempty"`
	Next     State         `json:"next,omitempty"`
	Purpose  CallPurpose   `json:"purpose,omitempty"`
	Attempt  int           `json:"attempt,omitempty"` // of a call, from 1
	Usage    Usage         `json:"-"`
	Bytes    int           `json:"bytes,omitempty"` // of a reply, so far
	Duration time.Duration `json:"-"`
	Waited   time.Duration `json:"-"` // for a server that does not answer, before this wait
	// how long such a server is waited for in all; 0 where the wait is before another attempt
	Patience time.Duration `json:"-"`
	Decision string        `json:"decision,omitempty"` // the reaction to a failed call
	Tool     string        `json:"tool,omitempty"`
	Entries  int           `json:"entries,omitempty"` // of the glossary
	Lost     int           `json:"lost,omitempty"`
	Reason   string        `json:"reason,omitempty"`
	Err      error         `json:"-"` // the error of Reason, where a program may have advice; else nil

	Tier         string `json:"tier,omitempty"`          // of a compaction
	TokensBefore int    `json:"tokens_before,omitempty"` // of the window
	TokensAfter  int    `json:"tokens_after,omitempty"`
}
