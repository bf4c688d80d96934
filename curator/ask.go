package curator

import (
	"context"
	"slices"

	"annotator"
	"annotator/context/prompt"
	"annotator/context/window"
)

// maxQuestion is the maximum of tokens in a question about several entries.
const maxQuestion = 8_192

// inquiry is a question about a batch, for summaries, for present statements, or for several of these.
type inquiry struct {
	window.Question
	parts
	tokens int    // of the question itself
	alone  bool   // without the window
	fits   bool   // the context has room for question and answer
	again  string // why a former answer could not be used; empty if there was none
}

// parts are what a question asks for. Each may be missing.
type parts struct {
	batch     Batch
	recap     *window.Recap
	present   statements
	phrases   phrases
	states    *openStates
	redundant *redundant
}

// section is a part of a question with an instruction of its own. It comes before the other parts in the message.
type section struct {
	instruction string
	shown       string // an element
	end         string // of a question that asks for nothing else
	tokens      int    // of its answer
	least       int    // tokens of the whole answer, at least
}

// before returns the section before another question in the same message; that may be empty.
func (s *section) before(other string) string {
	text := s.instruction + "\n\n" + s.shown
	if other == "" {
		text += "\n\n" + s.end
	}
	return prompt.BeforeQuestion(text, other)
}

// sections returns the sections of a question, the last of the message first.
func (p *parts) sections(s *Settings) (list []section) {
	const closeEach = "Close each of these elements, and write nothing else."
	if p.phrases != nil {
		list = append(list, section{s.Names, p.phrases.shown(), closeEach, phraseTokens * len(p.phrases), s.MaxTokens})
	}
	if p.redundant != nil {
		tokens := redundantTokens * len(p.redundant.list)
		list = append(list, section{s.Redundant, p.redundant.shown, "Write nothing else.", tokens, 0})
	}
	if p.states != nil {
		tokens := max(statesTokens, tokensPerState*len(p.states.list))
		list = append(list, section{p.states.instruction(s), p.states.shown, "Write nothing else.", tokens, 0})
	}
	if p.present != nil {
		list = append(list,
			section{s.Present, p.present.shown(), closeEach, statementTokens * len(p.present), s.MaxTokens})
	}
	return list
}

// maxWaiting times as many entries as a question may be about are the most that wait until the window has room for it.
const maxWaiting = 3

// next returns the question that is due; nil for none. What has to be asked again is asked alone, first the summaries,
// then each entry. All else shares a question, with as many entries as it may be about. If the window leaves room for
// less, entries wait for its compaction. Statements depend only on the facts that are shown, so they are asked for
// without the window. An entry that may be redundant is not confirmed by the same answer. It waits for the next
// question, unless all entries may be redundant.
func (c *Curator) next(ctx context.Context, open []annotator.UndecidedEntry) (*inquiry, error) {
	recap, urgent, err := c.dueRecap(ctx)
	if err != nil {
		return nil, err
	}
	if urgent && recap.Alone() {
		return c.inquire(parts{recap: recap}, "")
	}
	if at := slices.IndexFunc(open, func(u annotator.UndecidedEntry) bool { return u.RetryReason != "" }); at >= 0 {
		batch, err := c.candidates(ctx, open[at:at+1])
		if err != nil {
			return nil, err
		}
		return c.inquire(parts{batch: batch}, open[at].RetryReason)
	}
	present, due, err := c.dueStatements(ctx)
	if err != nil {
		return nil, err
	}
	states, statesDue, err := c.dueStates(ctx)
	if err != nil {
		return nil, err
	}
	var superfluous *redundant
	due = due || urgent || statesDue || len(open) >= c.least()
	if due || c.Final {
		if superfluous, err = c.dueRedundant(ctx); err != nil {
			return nil, err
		}
	}
	if !due && superfluous == nil {
		return nil, nil
	}
	phrases, err := c.duePhrases(ctx)
	if err != nil {
		return nil, err
	}
	asked := open
	if certain := superfluous.without(open); len(certain) > 0 {
		asked = certain
	}
	batch, err := c.candidates(ctx, asked[:min(len(asked), max(1, c.Settings.Batch))])
	if err != nil {
		return nil, err
	}
	q, full, err := c.fullest(parts{batch, recap, present, phrases, states, superfluous}, urgent)
	if full || urgent || c.least() < 2 || len(open) > maxWaiting*c.least() {
		return q, err
	}
	return nil, err
}

// fullest returns the largest question that asks for all parts. If the window leaves no room for that, it omits the
// present statements, then the redundant entries, the states and the phrases. Summaries are omitted last, unless they
// are urgent. What is omitted is asked for by the next question, without the window if need be.
func (c *Curator) fullest(p parts, urgent bool) (q *inquiry, full bool, err error) {
	for {
		if q, full, err = c.largest(p); err != nil || full {
			return q, full, err
		}
		smaller := p.smaller(urgent)
		if smaller.empty() {
			return q, full, nil
		}
		p = smaller
	}
}

// smaller returns the parts without the first that a question can do without; none if it needs all of them.
func (p parts) smaller(urgent bool) parts {
	switch {
	case p.present != nil:
		p.present = nil
	case p.redundant != nil:
		p.redundant = nil
	case p.states != nil:
		p.states = nil
	case p.phrases != nil:
		p.phrases = nil
	case p.recap != nil && !urgent:
		p.recap = nil
	default:
		return parts{}
	}
	return p
}

// empty reports whether nothing is asked for that is worth a question.
func (p *parts) empty() bool { return len(p.batch) == 0 && p.onlyEntries() }

// dueRecap returns the summaries that are due, and whether they cannot wait. They cannot if the corpus has ended, if
// the window will be compacted before the next thread ends, or if the model was asked before.
func (c *Curator) dueRecap(ctx context.Context) (recap *window.Recap, urgent bool, err error) {
	if c.Tasks&Summaries == 0 {
		return nil, false, nil
	}
	ended, err := c.Threads.Ended(ctx)
	if err != nil {
		return nil, false, err
	}
	if recap, err = c.Window.Recap(ctx, ended); recap == nil || err != nil {
		return nil, false, err
	}
	next, err := c.Threads.ScenesAfter(ctx, c.Scene.Thread.Order)
	return recap, c.Scene.Last || recap.Alone() || c.Window.FullAfter(next), err
}

// largest returns the question about as many of the candidates as one may be about. If nothing else is asked for, it is
// about the first at least. It is full unless the window leaves no room for a larger one.
func (c *Curator) largest(p parts) (q *inquiry, full bool, err error) {
	least := 1
	if p.recap != nil || p.present != nil || p.states != nil {
		least = 0
	}
	batch := p.batch
	about := func(n int) (*inquiry, error) {
		p.batch = batch[:n]
		return c.inquire(p, "")
	}
	smallest, err := about(min(least, len(batch)))
	if err != nil {
		return nil, false, err
	}
	q, full = smallest, true
	// Each candidate adds text. So no question about more fits where one about fewer does not.
	for low, high := least, len(batch); low < high; {
		n := (low + high + 1) / 2
		larger, err := about(n)
		switch {
		case err != nil:
			return nil, false, err
		case larger.tokens <= maxQuestion && larger.fits && larger.alone == smallest.alone:
			q, low = larger, n
		default: // the last to fail is about one more than q
			full, high = larger.tokens > maxQuestion, n-1
		}
	}
	if q == smallest && (p.present != nil || p.states != nil) && !smallest.fits {
		full = false
	}
	return q, full, nil
}

// inquire returns the question for some parts. It is at the end of the window. If that leaves no room for it and no
// summaries are asked for, it is alone. It then shows the posts that the window would have shown.
func (c *Curator) inquire(p parts, again string) (*inquiry, error) {
	q := &inquiry{parts: p, again: again}
	following, err := c.Window.Before(c.Turn)
	if err == nil {
		err = c.compose(q, following, c.above)
	}
	if err == nil && !q.fits && p.recap == nil {
		q.alone = true
		err = c.compose(q, c.Window.NewPrompt(), nil)
	}
	return q, err
}

// compose writes the text of a question, and puts it at the end of a prompt that shows some posts.
func (c *Curator) compose(q *inquiry, following *window.Prompt, above map[int64]bool) error {
	q.Question = window.Question{}
	if n := len(q.batch); n > 0 {
		q.Text, q.MaxTokens, q.Temperature = q.batch.Question(c.Settings.Instruction, above),
			c.Settings.MaxTokens*(n+1)/2, c.Settings.Temperature
	}
	if q.again != "" {
		q.Text = Correction(q.Text, q.again)
	}
	for _, p := range q.sections(&c.Settings) {
		q.Text, q.Temperature = p.before(q.Text), c.Settings.Temperature
		q.MaxTokens = max(q.MaxTokens+p.tokens, p.least)
	}
	if q.recap != nil {
		text, err := q.recap.Question(q.Text)
		if err != nil {
			return err
		}
		if q.Text == "" {
			q.Temperature = q.recap.Temperature()
		}
		q.Text = text
		q.MaxTokens += q.recap.MaxTokens()
	}
	q.tokens = c.Window.Count(q.Text)
	return c.place(q, following)
}

// place puts a question at the end of a prompt.
func (c *Curator) place(q *inquiry, p *window.Prompt) error {
	if system := c.system(&q.parts); system != "" {
		p.ReplacePrefix(window.NewPrefix(system, "", nil))
	}
	err := p.Ask(q.Text)
	q.Prompt, q.fits = p, c.Window.Budget.ReplyTo(p.Tokens()) >= q.MaxTokens
	if err == nil && !q.fits && q.onlySummaries() { // which can be shorter
		q.MaxTokens = q.recap.Room(p)
		q.fits = q.MaxTokens > 0
	}
	return err
}

// system returns the system prompt that replaces the run's in a question; empty for none.
func (c *Curator) system(p *parts) string {
	if c.Settings.Prompt != Replaced || p.onlySummaries() {
		return ""
	}
	return c.Settings.System + "\n"
}

// onlyEntries reports whether nothing is asked for but decisions on entries.
func (p *parts) onlyEntries() bool {
	return p.recap == nil && p.present == nil && p.states == nil && p.redundant == nil
}

func (p *parts) onlySummaries() bool {
	return len(p.batch) == 0 && p.present == nil && p.states == nil && p.redundant == nil
}
