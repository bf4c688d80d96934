// Package curator asks a model about entries of the glossary that are still tentative: whether to confirm, reject,
// reword or merge them. It gathers what each question shows, reads the answer, and stores what follows from it.
package curator

import (
	"context"
	"slices"

	"annotator"
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
	Redundant   string // what a question about entries that may be redundant begins with
}

// Task is a kind of thing that the curator asks for, apart from decisions on entries.
type Task uint

// The tasks.
const (
	Summaries Task = 1 << iota // of threads that have ended
	Present                    // statements of what entries are now
	States                     // which open states no longer hold
	Names                      // whose names phrases and short forms are
	Redundant                  // which entries are worth none of their own
)

// Curator asks about entries one question after another, each at the end of the same window: no question is in the
// window of the next.
type Curator struct {
	Sources
	Settings Settings
	Tasks    Task
	Scene    *annotator.SceneRow // the newest that was read
	Final    bool                // no later question is sure to follow, so that nothing waits
	Window   *window.Window
	// Since is the scene from which on a part of the story was joined to those before; 0: none was. It limits the
	// question about states to those before it that facts of the part may have ended, and adds such guesses.
	Since   annotator.Order
	Turn    int64                            // the questions follow the window before this turn; 0: all of it
	Decided func(*annotator.Entry, Decision) // is called after each decision, with the entry as it was
	Stopped func() bool                      // reports whether to stop before the next question

	// Ask gets the answer to a question, as the retry policy says. The question is stored before it is sent, with the
	// fork if there is one. The caller fills in the rest of the fork. The curator ends the reply's call. The error is a
	// *model.Unanswered if there is no reply.
	Ask func(ctx context.Context, purpose annotator.CallPurpose, q *window.Question, fork *Fork) (*model.Reply, error)

	above map[int64]bool // the posts that the window shows above the next question
	due   foundPhrases   // the newest
}

// least is the number of entries for which a question is due.
func (c *Curator) least() int {
	if c.Final {
		return 1
	}
	return max(1, c.Settings.Batch)
}

// PartScenes is how many scenes a part of a thread has. A long thread is a story of its own: its entries are looked at
// after each part. Of threads that are shorter, a question for present statements waits for as many scenes until it is
// full.
const PartScenes = 12

// Before returns the order of the first scene of the thread, or of the newest part of a long one. Entries that were
// first seen before it are judged, as later ones may still show what they are. If nothing follows, all are.
func (c *Curator) Before(ctx context.Context) (annotator.Order, error) {
	if c.Final {
		return c.Scene.Order + 1, nil
	}
	part, err := annotator.OrderOf(c.Scenes.Neighbor(ctx, c.Scene.Order, 1-PartScenes))
	return max(part, c.Scene.Thread.Order), err
}

// Fork says what a question about entries shows apart from itself.
type Fork struct {
	Before int64  // the turns of the window before this one; 0: all
	Alone  bool   // nothing
	System string // the system prompt that replaces the run's, and its tools; empty: the run's
}

// Curate asks about entries until there is a decision on each, and for the summaries that are due. It stops when what
// is left is not worth a question. No question is asked about entries that the narration shows. The error is of kind
// Interrupted if it was stopped.
func (c *Curator) Curate(ctx context.Context, open []annotator.UndecidedEntry) error {
	if err := c.dropGeneral(ctx); err != nil {
		return err
	}
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
		decisions, folds, err := c.decide(ctx, q)
		if err != nil {
			return err
		}
		for i, d := range decisions {
			if d.Action != AskAgain {
				c.Decided(&q.batch[i].Entry, d)
			}
		}
		open = undecided(open, q.batch, decisions, folds)
	}
}

// undecided returns what is left of entries after decisions on some of them, without those that were folded into
// others. A resumed run reads the same from the database, so that it asks the same questions.
func undecided(
	open []annotator.UndecidedEntry, batch Batch, decisions []Decision, folds []folded,
) (left []annotator.UndecidedEntry) {
	for _, u := range open {
		if slices.ContainsFunc(folds, func(f folded) bool { return f.ID == u.Entry }) {
			continue
		}
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
