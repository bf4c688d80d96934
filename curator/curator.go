// Package curator asks a model about entries of the glossary that are still tentative: whether to confirm, reject,
// reword or merge them. It gathers what each question shows, reads the answer, and stores what follows from it.
package curator

import (
	"context"
	"slices"

	"annotator"
	"annotator/context/mention"
	"annotator/context/window"
	"annotator/model"
)

// Prompt says under which system prompt the curator is asked.
type Prompt string

// The curator's prompts. docs/curator.md has what each costs.
const (
	Shared   Prompt = "shared"   // the run's own, with its tools: the server has the whole window in its cache
	Replaced Prompt = "replaced" // its own, without tools: the window is computed again at the end of each thread
)

// Settings are what the user can set.
type Settings struct {
	Off         bool
	Prompt      Prompt
	Batch       int // the most entries that one question is about; below 2: one
	MaxTokens   int // of an answer about one entry; of one about several, half of that for each other entry
	Temperature float64
	Instruction string // what each question begins with
	System      string // the system prompt where it replaces the run's
	Present     string // what a question for present statements begins with
	Names       string // what a question about phrases begins with
	States      string // what a question about open states begins with
}

// Curator asks about entries one question after another, each at the end of the same window: no question is in the
// window of the next.
type Curator struct {
	Settings Settings
	Scene    *annotator.SceneRow // the newest that was read
	Window   *window.Window
	Turn     int64 // the questions follow the window as it was before this turn; 0: all of it
	Posts    Posts
	Names    *mention.Cache
	Decided  func(*annotator.Entry, Decision) // is called after each decision, with the entry as it was
	Stopped  func() bool                      // reports whether to stop before the next question
	// with fewer entries than this no further question is due; below 2: with none
	Least int
	// Recap returns the summaries that are due, and whether they cannot wait for a question about entries. It is nil,
	// or returns nil, where none are. It reads the database, so that a resumed run asks the same as an uninterrupted
	// one.
	Recap func(ctx context.Context) (recap *window.Recap, urgent bool, err error)

	// Outdated returns the entries whose present statement is out of date, at most limit, and whether they cannot wait
	// for others. It is nil where none is asked for, and reads the database like Recap.
	Outdated func(ctx context.Context, limit int) (ids []int64, urgent bool, err error)

	// Phrases returns what the story has kept calling things since it was last asked, at most MaxPhrases. It is nil
	// where none are asked about, and reads the database like Recap.
	Phrases func(ctx context.Context) ([]Phrase, error)
	// ShortForms returns the short forms of names that the last scenes use, at most MaxShortForms, and how often they
	// name each entry. It is nil where they become no names.
	ShortForms func(ctx context.Context) (forms []ShortForm, named map[int64]int, err error)
	// Named returns the live entries with a name.
	Named func(ctx context.Context, name string) ([]annotator.Entry, error)

	// States reads the open states that may have ended. It is nil where none is asked about, and reads the database
	// like Recap.
	States States

	// Ask gets the answer to a question, as the retry policy says. The question is stored before it is sent, with the
	// fork if there is one. The caller fills in the rest of the fork. The curator ends the reply's call. The error is a
	// *model.Unanswered if there is no reply.
	Ask func(ctx context.Context, purpose annotator.CallPurpose, q *window.Question, fork *Fork) (*model.Reply, error)
	// Entries returns the entries with the ids, by id. Ids without an entry are left out.
	Entries func(ctx context.Context, ids []int64) (map[int64]*annotator.Entry, error)
	// Usage returns how the story uses words. If it is nil, no word is common.
	Usage func(ctx context.Context) (*mention.Usage, error)
	// PlaceOf returns the place of a post of the story. If it is nil, what a question adds has the place of the scene's
	// end.
	PlaceOf func(ctx context.Context, post int64) (annotator.Place, error)
	// Scenes reads the scenes of the run.
	Scenes Scenes
	// Store stores a row of the journal, revisions and summaries, and ends the call, if there is one, in one
	// transaction.
	Store func(
		ctx context.Context, call *annotator.Call, row *annotator.Trace, revisions []annotator.Revision,
		s *annotator.Summaries,
	) error

	above map[int64]bool // the posts that the window shows above the next question
}

// Fork says what a question about entries shows apart from itself.
type Fork struct {
	Before int64  // the turns of the window before this one; 0: all
	Alone  bool   // nothing
	System string // the system prompt that replaces the run's, and its tools; empty: the run's
}

// Posts reads the story.
type Posts interface {
	Post(ctx context.Context, id int64) (*annotator.Post, error)
	// Scene returns posts of a thread, in the order of their ids given.
	Scene(ctx context.Context, thread int64, posts []int64) ([]annotator.Post, error)
}

// Scenes reads the scenes of a run, as storage.Scenes does.
type Scenes interface {
	// At returns the scene with an order.
	At(ctx context.Context, order annotator.Order) (*annotator.SceneRow, error)
	// Neighbor returns the scene that is some scenes after another in story order, or before it; NotFound for none.
	Neighbor(ctx context.Context, order annotator.Order, distance int) (*annotator.SceneRow, error)
}

// Curate asks about entries until there is a decision on each, and for the summaries that are due. It stops when what
// is left is not worth a question. No question is asked about entries that the narration shows. The error is of kind
// Interrupted if it was stopped.
func (c *Curator) Curate(ctx context.Context, open []annotator.UndecidedEntry) error {
	if err := c.nameShortForms(ctx); err != nil {
		return err
	}
	open, err := c.confirmShown(ctx, open)
	if err != nil {
		return err
	}
	for all := len(open); ; {
		q, err := c.next(ctx, open)
		if err != nil || q == nil {
			return err
		}
		if c.Stopped() {
			return annotator.Errorf(annotator.Interrupted, "stopped with the curator's decisions on %d of %d entries",
				all-len(open), all).WithAdvice("run again to go on")
		}
		decisions, err := c.decide(ctx, q)
		if err != nil {
			return err
		}
		for i, d := range decisions {
			if d.Action != AskAgain {
				c.Decided(&q.batch[i].Entry, d)
			}
		}
		open = undecided(open, q.batch, decisions)
	}
}

// undecided returns what is left of entries after decisions on some of them. A resumed run reads the same from the
// database, so that it asks the same questions.
func undecided(open []annotator.UndecidedEntry, batch Batch, decisions []Decision) (left []annotator.UndecidedEntry) {
	for _, u := range open {
		at := slices.IndexFunc(batch, func(c *Candidate) bool { return c.Entry.ID == u.Entry })
		switch {
		case at < 0:
			left = append(left, u)
		case decisions[at].Action == AskAgain:
			left = append(left, annotator.UndecidedEntry{Entry: u.Entry, RetryReason: decisions[at].Reason})
		}
	}
	return left
}
