package annotator

import (
	"slices"
	"sync"
	"time"
)

// NoticeKind is what a notice tells of.
type NoticeKind string

// The kinds of notices.
const (
	NoticeTransition NoticeKind = "transition"
	NoticeRun        NoticeKind = "run"        // a run begins: Total, Done
	NoticeScene      NoticeKind = "scene"      // a scene is done: Scene, Reason if it was refused
	NoticeCall       NoticeKind = "call"       // a call to the model ended: Usage, Duration; Reason if it failed
	NoticeTool       NoticeKind = "tool"       // a tool ran: Tool; Reason is its error's code
	NoticeCompaction NoticeKind = "compaction" // turns left the window: Reason
	NoticeDecision   NoticeKind = "decision"   // the curator has decided on an entry: Reason
	NoticeWait       NoticeKind = "wait"       // waiting before another try: Duration, Reason
	NoticeWord       NoticeKind = "word"       // a word to the user: Reason
	NoticeEnd        NoticeKind = "end"        // the run ends: Reason if before its end
)

// Notice is something that happened in a run, for whoever watches. What does not apply is left zero.
type Notice struct {
	Time     time.Time     `json:"time"`
	Kind     NoticeKind    `json:"kind"`
	State    State         `json:"state,omitempty"` // of a transition, as Event and Next
	Event    Event         `json:"event,omitempty"`
	Next     State         `json:"next,omitempty"`
	Scene    int           `json:"scene,omitempty"`
	Turn     int64         `json:"turn,omitempty"`
	Total    int           `json:"total,omitempty"` // scenes of the story
	Done     int           `json:"done,omitempty"`  // scenes done, in this run and before
	Entries  int           `json:"entries,omitempty"`
	Tool     string        `json:"tool,omitempty"`
	Usage    *Usage        `json:"usage,omitempty"`
	Duration time.Duration `json:"duration,omitempty"`
	Reason   string        `json:"reason,omitempty"`
}

// Bus hands each notice to all who subscribed, in order, on the publisher's goroutine. The zero Bus is ready to use.
type Bus struct {
	mu          sync.Mutex
	subscribers []func(Notice)
}

// Subscribe adds a function that is called with every later notice. It should be quick: the run waits for it.
func (b *Bus) Subscribe(f func(Notice)) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.subscribers = append(b.subscribers, f)
}

// Publish hands a notice to all subscribers.
func (b *Bus) Publish(n Notice) {
	b.mu.Lock()
	subscribers := slices.Clip(b.subscribers)
	b.mu.Unlock()
	for _, f := range subscribers {
		f(n)
	}
}
