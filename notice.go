package annotator

import "time"

// NoticeKind is what a notice tells of.
type NoticeKind string

// The kinds of notices, and what each says beside the time, the scene at hand and how much of the story is done.
const (
	NoticeStart      NoticeKind = "start"      // a run begins, and nothing has been done for it
	NoticeRun        NoticeKind = "run"        // it is ready to read: the story is known, the window restored, the server there
	NoticeTransition NoticeKind = "transition" // the machine goes from State by Event to Next
	NoticeCalling    NoticeKind = "calling"    // a call to the model begins: Purpose, Attempt, Usage as estimated
	NoticeStream     NoticeKind = "stream"     // its reply is under way: Purpose, Attempt, Bytes, Duration
	NoticeCall       NoticeKind = "call"       // it ended: Purpose, Attempt, Usage, Duration; Decision and Reason if it failed
	NoticeTool       NoticeKind = "tool"       // a tool ran: Tool; Reason is its error's code
	NoticeWait       NoticeKind = "wait"       // waiting before another try: Duration, Reason
	NoticeCompaction NoticeKind = "compaction" // turns left the window: Reason
	NoticeDecision   NoticeKind = "decision"   // the curator has decided on an entry: Reason
	NoticeScene      NoticeKind = "scene"      // a scene is done: Entries; Reason if it was refused
	NoticeWarning    NoticeKind = "word"       // a word to the user: Reason
	NoticeEnd        NoticeKind = "end"        // the run ends: Entries; Reason if it failed, was stopped, or scenes were refused
	NoticeLost       NoticeKind = "lost"       // the subscriber was too slow for the Lost notices that stood here
)

// Notice is something that happened in a run, for whoever watches. What does not apply is left zero.
type Notice struct {
	Time     time.Time
	Kind     NoticeKind
	State    State
	Event    Event
	Next     State
	Scene    int
	Turn     int64
	Total    int // scenes of the story
	Done     int // scenes done, in this run and before
	Entries  int // of the glossary
	Tool     string
	Purpose  string // of a call: annotate, summarise, curate and so on
	Attempt  int    // of a call, from 1
	Usage    Usage
	Bytes    int // of a reply, so far
	Duration time.Duration
	Decision string // what is done about a call that failed
	Lost     int
	Reason   string
}
