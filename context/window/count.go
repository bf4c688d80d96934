package window

import (
	"cmp"
	"context"
	"time"

	"annotator"
	"annotator/context/tokens"
)

// counts is what is known of the tokens of the window. What the server has counted is preferred to estimates.
type counts struct {
	counter  tokens.Counter
	ratio    float64     // of the counter
	prompt   int         // tokens of the newest prompt as the server counted it; 0 if not known for this window
	exact    int         // tokens of the newest prompt and its reply; 0 if not known for this window
	since    tokens.Size // of what was added since
	outdated int64       // the reply up to which prompts were counted with another tokenizer or prefix; 0 for none
}

// restore reads the server's counts: the newest prompts, for estimates, and the newest one exactly. It does not use the
// exact count if the window has been compacted since.
func (c *counts) restore(ctx context.Context, calls Calls, rows []annotator.Trace, compacted int64) error {
	*c = counts{outdated: c.outdated, ratio: c.ratio}
	if err := c.learn(ctx, calls); err != nil {
		return err
	}
	last, reply, err := calls.Last(ctx)
	if err != nil || reply <= max(c.outdated, compacted) || !last.Usage.Exact {
		return err
	}
	for i := range rows {
		switch row := &rows[i]; {
		case row.ID == reply:
			c.reply(last.Characters, last.Usage, row)
		case row.ID > reply:
			c.addTokens(row)
		}
	}
	return nil
}

// learn fits the estimates to the newest prompts that the server counted, as they are on record.
func (c *counts) learn(ctx context.Context, calls Calls) error {
	c.counter = tokens.Counter{Ratio: c.ratio}
	counted, err := calls.Counted(ctx, tokens.MaxObservations)
	for i := range counted {
		c.counter.Observe(counted[i].Characters, counted[i].Usage.Prompt)
	}
	return err
}

// reply records what the server counted for the newest reply. The tokens of the window are then known exactly, except
// for reasoning, which is counted and not sent again. A count far above the estimate is not relied on: every later
// prompt would seem to have lost its beginning.
func (c *counts) reply(size tokens.Size, usage annotator.Usage, reply *annotator.Trace) {
	if !usage.Exact {
		return
	}
	if c.exact, c.prompt, c.since = 0, 0, (tokens.Size{}); c.counter.Doubts(size, usage.Prompt) {
		return
	}
	c.exact, c.prompt = usage.Prompt, usage.Prompt
	if reply.Reasoning == "" {
		c.exact += usage.Completion
	} else {
		c.exact += c.counter.Count(tokens.Measure(reply.Content).Framed(tokens.PerMessage))
	}
}

// addTokens adds up what comes after the newest reply.
func (c *counts) addTokens(row *annotator.Trace) {
	switch row.Kind {
	case annotator.TraceScene, annotator.TraceResult, annotator.TraceNote, annotator.TraceClose:
		c.since = c.since.Plus(tokens.Measure(row.Text())).Framed(tokens.PerMessage)
	}
}

// minTokens is the fewest tokens that the server can count of the next prompt, by what it counted of its beginning; 0
// if not known.
func (c *counts) minTokens() int {
	if c.prompt == 0 {
		return 0
	}
	const tolerance = 0.98 // a template may render the last message otherwise than those before
	return int(tolerance*float64(c.prompt)) + c.since.MinTokens()
}

// Counted records what the server counted for the newest reply, whose row is in the window. The prompt has a size that
// estimates have learned from.
func (w *Window) Counted(size tokens.Size, usage annotator.Usage, reply *annotator.Trace) {
	w.counts.reply(size, usage, reply)
}

// Relearn fits later estimates to the newest prompts that the server has counted, after one was recorded. They are
// learned from the record alone, so that a resumed run estimates as an uninterrupted one.
func (w *Window) Relearn(ctx context.Context) error { return w.counts.learn(ctx, w.sources.Calls) }

// Rerendered says that messages are sent in another form from now on, so that fewer tokens than before may be right.
func (w *Window) Rerendered() { w.counts.prompt = 0 }

// size is the size of the next prompt.
func (w *Window) size() tokens.Size { return w.Prefix.size.Plus(w.history.Size()) }

// Tokens estimates the next prompt: as the server counted the newest one, with an estimate of what was added since. All
// of it is estimated if the server has not counted this window yet.
func (w *Window) Tokens() int {
	if w.counts.exact > 0 {
		return w.counts.exact + w.counts.counter.Count(w.counts.since)
	}
	return w.counts.counter.Count(w.size())
}

// Needed estimates the prompt of the next request with the present scene.
func (w *Window) Needed() int {
	needed := w.Tokens()
	if w.scene.turn == 0 {
		needed += cmp.Or(w.scene.counted, w.counts.counter.Count(w.scene.size))
	}
	return needed
}

// memoryGrowth is how many tokens a compaction may add before the turns: a chunk's summary.
const memoryGrowth = 256

// Room estimates how many tokens can be added to the present turn before its scene is too long for a window without
// other turns.
func (w *Window) Room() int {
	now := w.scene.size
	if turns := w.history.Turns(); len(turns) > len(w.older()) {
		now = turns[len(turns)-1].Size
	}
	alone := w.Prefix.size.Plus(w.history.memory).Plus(now)
	return w.Budget.Prompt() - w.counts.counter.Count(alone) - memoryGrowth
}

// Counter returns the counter of the window, which learns while the window is used.
func (w *Window) Counter() *tokens.Counter { return &w.counts.counter }

// Count estimates the tokens of a text.
func (w *Window) Count(text string) int { return w.counts.counter.Count(tokens.Measure(text)) }

// growth estimates what the present scene will still add to the prompt, from the average turn in the window. A
// compaction within a turn makes the server compute that turn twice.
func (w *Window) growth() int {
	older := w.older()
	if len(older) == 0 {
		return 0
	}
	var all tokens.Size
	for i := range older {
		all = all.Plus(older[i].Size)
	}
	now := w.scene.size
	if turns := w.history.Turns(); len(turns) > len(older) {
		now = turns[len(turns)-1].Size
	}
	return max(0, w.counts.counter.Count(all)/len(older)-w.counts.counter.Count(now))
}

// older returns the turns before the present one.
func (w *Window) older() []Turn {
	turns := w.history.Turns()
	if n := len(turns); n > 0 && w.scene.turn == turns[n-1].ID {
		return turns[:n-1]
	}
	return turns
}

// Tokenizer has the server count the tokens of a text.
type Tokenizer func(ctx context.Context, text string) (int, error)

// tokenizerTimeout is how long a server may take to count tokens.
const tokenizerTimeout = 10 * time.Second

// UseTokenizer makes the server count the scenes that decide whether the window is full. It is tried at once.
func (w *Window) UseTokenizer(ctx context.Context, t Tokenizer) {
	w.tokenizer = t
	w.serverCount(ctx, "Once upon a time.")
}

// serverCount asks the server to count a text; it returns 0 if that fails. A tokenizer that fails is not used again.
func (w *Window) serverCount(ctx context.Context, text string) int {
	ctx, cancel := context.WithTimeout(ctx, tokenizerTimeout)
	defer cancel()
	n, err := w.tokenizer(ctx, text)
	if err != nil {
		w.tokenizer = nil
	}
	return n
}

// countScene asks the server to count the present scene, if it has a tokenizer and the scene decides whether the window
// is full.
func (w *Window) countScene(ctx context.Context) {
	if w.tokenizer == nil || w.scene.turn != 0 {
		return
	}
	estimate, excess := w.counts.counter.Count(w.scene.size), w.Config.Policy.Excess(w.load())
	if excess > estimate || excess < -estimate {
		return
	}
	if n := w.serverCount(ctx, w.scene.text); n > 0 {
		w.scene.counted = n + tokens.PerMessage
	}
}
