// Package window owns the context that the model sees. A Window holds the request prefix, the history of the turns that
// have not been compacted away, and the count of their tokens. It says whether the next scene fits, compacts itself if
// not, and gives the next request.
//
// All of it is computed from rows of the journal. So a resumed run and a snapshot get the same bytes and the same
// estimates as an uninterrupted run.
package window

import (
	"cmp"
	"context"

	"annotator"
	"annotator/budget"
	"annotator/context/compaction"
	"annotator/context/tokens"
)

// Sources is what the window is computed from, and who writes its summaries.
type Sources struct {
	Journal  Journal
	Episodes Episodes
	Calls    Calls
	Scenes   Scenes
	// ChangedIn returns the entries that the turns of an episode made or changed, by id.
	ChangedIn func(ctx context.Context, e *annotator.Episode) ([]annotator.Entry, error)
	// Posts returns posts of a thread.
	Posts func(ctx context.Context, thread int64, posts []int64) ([]annotator.Post, error)
	// Summarise asks the model for a summary. The error is ErrNoSummary if no answer is to be had.
	Summarise func(ctx context.Context, q *Question) (*Answer, error)
}

// Journal keeps the rows of turns.
type Journal interface {
	// Window returns the rows up to a row (0: all) of the turns that are in the window.
	Window(ctx context.Context, through int64) ([]annotator.Trace, error)
}

// Episodes keeps the summaries, and what compactions have made of the window.
type Episodes interface {
	// WindowState returns what the newest compaction up to a row (0: all) says of the window, and whether it may have
	// been interrupted between two steps.
	WindowState(ctx context.Context, through int64) (state annotator.WindowState, unfinished bool, err error)
	// InForce returns the story so far (nil before the first) and the chunks in the window, oldest first.
	InForce(ctx context.Context) (story *annotator.Episode, chunks []annotator.Episode, err error)
	// Newest returns the newest episode of a kind in a thread, in the window or not; nil before the first. The story so
	// far has thread 0.
	Newest(ctx context.Context, kind annotator.EpisodeKind, thread int64) (*annotator.Episode, error)
	// NeedNoSummary returns those of some threads that have a summary, or have not ended.
	NeedNoSummary(ctx context.Context, threads []int64) ([]int64, error)
	// Compact commits a compaction, with the reply that it was made from.
	Compact(ctx context.Context, c *annotator.Compaction) error
}

// Calls keeps what the server has counted.
type Calls interface {
	// Counted returns the calls of the newest n prompts that the server has counted, oldest first.
	Counted(ctx context.Context, n int) ([]annotator.Call, error)
	// Last returns the newest call for a scene that ended well, and the row of its reply; 0 before the first.
	Last(ctx context.Context) (call annotator.Call, reply int64, err error)
	// Fail ends a call that brought no usable reply.
	Fail(ctx context.Context, c *annotator.Call) error
}

// Scenes keeps the list of scenes.
type Scenes interface {
	Get(ctx context.Context, n int) (*annotator.SceneRow, error)
	OfTurn(ctx context.Context, turn int64) (*annotator.SceneRow, error)
	Index(ctx context.Context, row *annotator.SceneRow) (int, error)
}

// Question is a message to the model that is no part of a scene.
type Question struct {
	Text        string
	Prompt      *Prompt // with the text at its end
	MaxTokens   int     // of the answer
	Temperature float64
}

// Answer is an answer of the model, whose call is not ended yet.
type Answer struct {
	Call      *annotator.Call
	Text      string
	Reasoning string
	Body      []byte // as it came
}

// Config is the settings of a window.
type Config struct {
	Policy             compaction.Policy
	SummaryTemplate    string // of the request for a summary: see prompt.Identity
	SummaryTokens      int    // of a summary's reply
	SummaryTemperature float64
	TokenRatio         float64 // see tokens.Counter
	// OnCompaction is called after each step of compaction. It may be nil.
	OnCompaction func(*annotator.Compaction)
}

// Window is the context of the model: a prefix, the history, and the scene at hand. It is not safe for concurrent use.
type Window struct {
	Budget *budget.Budget // of requests
	Config Config
	Prefix Prefix // in force

	encode     Encoder
	sources    Sources
	state      annotator.WindowState // that the newest compaction left
	unfinished bool                  // that compaction was interrupted before its target
	history    *History
	counts     counts
	tokenizer  Tokenizer // nil if the server has none
	scene      scene
}

// scene is the scene at hand.
type scene struct {
	thread  int64
	turn    int64 // 0 until its message is in the journal
	text    string
	size    tokens.Size // of the message
	counted int         // tokens of the message, if the server was asked; else 0
}

// New returns a window that is to be restored before it is used.
func New(config Config, b *budget.Budget, encode Encoder, sources Sources) *Window {
	return &Window{Config: config, Budget: b, encode: encode, sources: sources}
}

// Restore computes the window from the journal. Where the prefix or the endpoint has changed since the newest reply,
// what the server counted of prompts up to that is not used.
func (w *Window) Restore(ctx context.Context, changed bool) error {
	if changed {
		_, reply, err := w.sources.Calls.Last(ctx)
		if err != nil {
			return err
		}
		w.counts.outdated = reply
	}
	if err := w.Reload(ctx); err != nil {
		return err
	}
	const tolerance = 0.8 // the earlier process may have used another tokenizer
	w.counts.prompt = int(tolerance * float64(w.counts.prompt))
	return nil
}

// Reload computes the window anew after the journal was changed otherwise than by Add.
func (w *Window) Reload(ctx context.Context) (err error) {
	if w.state, w.unfinished, err = w.sources.Episodes.WindowState(ctx, 0); err != nil {
		return err
	}
	rows, err := w.sources.Journal.Window(ctx, 0)
	if err != nil {
		return err
	}
	state := w.state
	state.CutAt = cmp.Or(state.CutAt, w.Config.Policy.CutAt)
	if w.history, err = NewHistory(w.encode, state, rows); err != nil {
		return err
	}
	w.counts.ratio = w.Config.TokenRatio
	return w.counts.restore(ctx, w.sources.Calls, rows, w.state.Row)
}

// At returns the prompt that a model had at a snapshot; of a fork without the question.
func At(
	ctx context.Context, s *annotator.Snapshot, prefix Prefix, encode Encoder, journal Journal, episodes Episodes,
) (*Prompt, error) {
	p := NewPrompt(prefix, encode)
	if s.Alone {
		return p, nil
	}
	state, _, err := episodes.WindowState(ctx, s.Trace)
	if err != nil {
		return nil, err
	}
	rows, err := journal.Window(ctx, s.Trace)
	if err != nil {
		return nil, err
	}
	h, err := NewHistory(encode, state, rows)
	if err != nil {
		return nil, err
	}
	encoded, size, err := h.Before(s.Before)
	p.History, p.Size = encoded, p.Size.Plus(size)
	return p, err
}

// Unfinished reports whether the process ended in the middle of a compaction.
func (w *Window) Unfinished() bool { return w.unfinished }

// Begin makes a scene the one at hand. Turn is 0 if its message is not in the journal yet.
func (w *Window) Begin(thread, turn int64, text string) {
	w.scene = scene{thread: thread, turn: turn, text: text, size: tokens.Measure(text).Framed(tokens.PerMessage)}
}

// Add appends a row of the journal.
func (w *Window) Add(row *annotator.Trace) error {
	if row.Kind == annotator.TraceScene {
		w.scene.turn = row.Turn
	}
	w.counts.addTokens(row)
	return w.history.Add(row)
}

// Request returns the prompt of the next request.
func (w *Window) Request() (*Prompt, error) {
	p, err := w.Before(0)
	p.counted = w.counts.minTokens()
	return p, err
}

// Before returns a prompt with the window as it was before a turn, or all of it if there is no such turn. Questions
// follow it, so that the server finds it in its cache.
func (w *Window) Before(turn int64) (*Prompt, error) {
	encoded, size, err := w.history.Before(turn)
	p := w.NewPrompt()
	p.History, p.Size = encoded, p.Size.Plus(size)
	p.window = &measured{size: w.size(), tokens: w.Tokens()}
	return p, err
}

// NewPrompt returns a prompt with the prefix in force and without messages.
func (w *Window) NewPrompt() *Prompt {
	p := NewPrompt(w.Prefix, w.encode)
	p.Counter = w.Counter()
	return p
}

// History returns the messages of the window, which record the entries that it shows.
func (w *Window) History() *History { return w.history }

// Posts returns the posts whose scenes the window shows before a turn, or in all of it if there is no such turn.
func (w *Window) Posts(ctx context.Context, turn int64) (map[int64]bool, error) {
	shown := map[int64]bool{}
	for _, t := range w.history.Turns() {
		if t.ID == turn {
			break
		}
		scene, err := w.sources.Scenes.OfTurn(ctx, t.ID)
		if err != nil {
			return nil, err
		}
		for _, id := range scene.Posts {
			shown[id] = true
		}
	}
	return shown, nil
}

// Texts returns what the window shows of the story and of the glossary: the summaries, the scenes and the results of
// tools.
func (w *Window) Texts(ctx context.Context) ([]string, error) {
	rows, err := w.sources.Journal.Window(ctx, 0)
	texts := []string{w.state.Memory}
	for i := range rows {
		if kind := rows[i].Kind; kind == annotator.TraceScene || kind == annotator.TraceResult {
			texts = append(texts, rows[i].Text())
		}
	}
	return texts, err
}
