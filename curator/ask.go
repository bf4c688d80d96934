package curator

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"annotator"
	"annotator/context/tokens"
	"annotator/context/window"
	"annotator/model"
)

// maxQuestion is how many tokens a question about several entries has at most.
const maxQuestion = 8_192

// inquiry is a question about a batch, for summaries, or for both.
type inquiry struct {
	window.Question
	batch  Batch // may be empty if summaries are asked for
	recap  *window.Recap
	tokens int    // of the question itself
	alone  bool   // without the window
	fits   bool   // the context has room for question and answer
	again  string // why a former answer could not be used; empty if there was none
}

// maxWaiting is for how many times as many entries as a question may be about it is not awaited that the window has
// room for such a question.
const maxWaiting = 3

// next returns the question that is due; nil for none. What has to be asked again is asked alone, first the summaries,
// then each entry. Else summaries and entries share a question, with as many entries as it may be about. If the window
// leaves room for less, entries wait for its compaction.
func (c *Curator) next(ctx context.Context, open []annotator.UndecidedEntry) (*inquiry, error) {
	recap, urgent, err := c.dueRecap(ctx)
	if err != nil {
		return nil, err
	}
	if urgent && recap.Alone() {
		return c.inquire(nil, recap, "")
	}
	if at := slices.IndexFunc(open, func(u annotator.UndecidedEntry) bool { return u.RetryReason != "" }); at >= 0 {
		batch, err := c.candidates(ctx, open[at:at+1])
		if err != nil {
			return nil, err
		}
		return c.inquire(batch, nil, open[at].RetryReason)
	}
	enough := len(open) >= max(1, c.Least)
	if !urgent && !enough {
		return nil, nil
	}
	due := open[:min(len(open), max(1, c.Settings.Batch))]
	batch, err := c.candidates(ctx, due)
	if err != nil {
		return nil, err
	}
	q, full, err := c.largest(batch, recap)
	if err == nil && !full && !urgent && recap != nil {
		q, full, err = c.largest(batch, nil)
	}
	if full || urgent || c.Least < 2 || len(open) > maxWaiting*c.Least {
		return q, err
	}
	return nil, err
}

// dueRecap returns the summaries that are due, and whether they cannot wait.
func (c *Curator) dueRecap(ctx context.Context) (*window.Recap, bool, error) {
	if c.Recap == nil {
		return nil, false, nil
	}
	return c.Recap(ctx)
}

// largest returns the question about as many of the candidates as one may be about, the first or the summaries in any
// case. It is full unless the window leaves no room for a larger one.
func (c *Curator) largest(batch Batch, recap *window.Recap) (q *inquiry, full bool, err error) {
	least := 1
	if recap != nil {
		least = 0
	}
	smallest, err := c.inquire(batch[:min(least, len(batch))], recap, "")
	full = true
	for n := len(batch); err == nil && n > least; n-- {
		var larger *inquiry
		if larger, err = c.inquire(batch[:n], recap, ""); err != nil || larger.tokens > maxQuestion {
			continue
		}
		if larger.fits && larger.alone == smallest.alone {
			return larger, full, nil
		}
		full = false
	}
	return smallest, full, err
}

// inquire returns the question about a batch, for summaries, or both. It stands at the end of the window, or alone if
// that leaves no room for it and no summaries are asked for.
func (c *Curator) inquire(batch Batch, recap *window.Recap, again string) (*inquiry, error) {
	q := &inquiry{batch: batch, recap: recap, again: again}
	if len(batch) > 0 {
		q.Text, q.MaxTokens, q.Temperature = batch.Question(c.Settings.Instruction), c.Settings.MaxTokens*(len(batch)+1)/2, c.Settings.Temperature
	}
	if again != "" {
		q.Text = Correction(q.Text, again)
	}
	if recap != nil {
		text, err := recap.Question(q.Text)
		if err != nil {
			return nil, err
		}
		q.Text = text
		q.MaxTokens += recap.MaxTokens()
		if len(batch) == 0 {
			q.Temperature = recap.Temperature()
		}
	}
	q.tokens = c.Window.Count(q.Text)
	following, err := c.Window.Before(c.Turn)
	if err == nil {
		err = c.place(q, following)
	}
	if err == nil && !q.fits && recap == nil {
		q.alone = true
		err = c.place(q, c.Window.NewPrompt())
	}
	return q, err
}

// place puts a question at the end of a prompt.
func (c *Curator) place(q *inquiry, p *window.Prompt) error {
	if c.Settings.Prompt == Replaced && len(q.batch) > 0 {
		p.ReplacePrefix(window.NewPrefix(c.Settings.System+"\n", "", nil))
	}
	err := p.Ask(q.Text)
	q.Prompt, q.fits = p, c.Window.Limits.ReplyAfter(p) >= q.MaxTokens
	if err == nil && !q.fits && len(q.batch) == 0 { // summaries can be shorter
		q.MaxTokens = q.recap.Room(p)
		q.fits = q.MaxTokens > 0
	}
	return err
}

// decide asks a question, and stores what follows from the answer, all in one transaction. If the answer has nothing
// usable on an entry, it is asked about again, alone; after that it is left as it is, with a note of the reason.
// Nothing is decided by default. Summaries are asked for again, too, and then written by rule.
func (c *Curator) decide(ctx context.Context, q *inquiry) ([]Decision, error) {
	if q.recap != nil && q.recap.Spent() {
		return nil, c.recapByRule(ctx, q.recap)
	}
	reply, err := c.reply(ctx, q)
	if err != nil && !errors.Is(err, errNoRoom) && !errors.As(err, new(*model.Unanswered)) {
		return nil, err
	}
	answers, summaries, failed := c.read(ctx, q, reply, err)
	if failed != nil {
		return nil, failed
	}
	fallback := AskAgain
	if q.again != "" || err != nil && len(q.batch) == 1 && q.recap == nil { // asked alone already, as often as a request is tried
		fallback = Keep
	}
	at := annotator.PlaceAt(c.Scene.N, len(c.Scene.Posts)-1)
	decisions, revisions := q.batch.Resolve(answers, fallback, c.Scene.Thread.ID, at)
	told := summaries != nil && len(summaries.Episodes) > 0
	if told || slices.ContainsFunc(decisions, func(d Decision) bool { return d.Action.ByModel() }) {
		return decisions, c.carryOut(ctx, reply, revisions, summaries)
	}
	text, reason := q.unusable(decisions)
	var call *annotator.Call
	if reply != nil {
		call = reply.Call
		call.Discard(reason, reply.Body())
	}
	note := &annotator.Trace{Kind: annotator.TraceNote, Content: text, Tokens: tokens.EstimateMessage(text)}
	return decisions, c.Store(ctx, call, note, revisions, summaries)
}

// read reads the decisions and the summaries of a reply; there is none if there is an error. Summaries are nil if none
// were asked for.
func (c *Curator) read(
	ctx context.Context, q *inquiry, reply *model.Reply, noReply error,
) (answers []Answer, summaries *annotator.Summaries, err error) {
	if q.recap == nil {
		return q.batch.answers(reply, noReply), nil, nil
	}
	if noReply != nil || len(reply.Calls) > 0 {
		return q.batch.answers(reply, noReply), q.recap.Nothing(), nil
	}
	summaries, rest, err := q.recap.Read(ctx, reply.Text, len(q.batch) > 0)
	if err != nil || len(q.batch) == 0 {
		return nil, summaries, err
	}
	return q.batch.Read(rest), summaries, nil
}

// recapByRule stores summaries that the model did not write.
func (c *Curator) recapByRule(ctx context.Context, recap *window.Recap) error {
	summaries, text, err := recap.ByRule(ctx)
	if err != nil {
		return err
	}
	note := &annotator.Trace{Kind: annotator.TraceNote, Content: text, Tokens: tokens.EstimateMessage(text)}
	return c.Store(ctx, nil, note, nil, summaries)
}

// errNoRoom is the error of a question that is too long for the context. Its text is stored as the reason of a
// decision.
var errNoRoom = errors.New("the step makes nothing better")

// reply has a question answered, if the context has room for it.
func (c *Curator) reply(ctx context.Context, q *inquiry) (*model.Reply, error) {
	if !q.fits {
		return nil, fmt.Errorf("%w: the question has %d tokens, and the context has no room for it", errNoRoom, q.tokens)
	}
	purpose := annotator.PurposeCurate
	if len(q.batch) == 0 {
		purpose = annotator.PurposeSummarise
	}
	return c.Ask(ctx, purpose, &q.Question)
}

// answers reads a reply; there is none if there is an error.
func (b Batch) answers(reply *model.Reply, err error) []Answer {
	switch {
	case err != nil:
		return b.Unanswered(err)
	case len(reply.Calls) > 0:
		return b.Unanswered(errors.New("it calls a tool"))
	}
	return b.Read(reply.Text)
}

// carryOut stores decisions and summaries: the answer and all that it changes, or nothing.
func (c *Curator) carryOut(
	ctx context.Context, reply *model.Reply, revisions []annotator.Revision, summaries *annotator.Summaries,
) error {
	row := &annotator.Trace{
		Kind: annotator.TraceReply, Content: reply.Text, Reasoning: reply.Reasoning,
		Tokens: tokens.Estimate(reply.Text),
	}
	if err := c.Store(ctx, reply.Call, row, revisions, summaries); err != nil {
		return err
	}
	c.Window.Observe(reply.Call.Characters, reply.Call.Usage)
	for i := range revisions {
		c.Names.Invalidate(revisions[i].Entry)
	}
	return nil
}

// unusable is the note of an answer that brings nothing, and the reason.
func (q *inquiry) unusable(decisions []Decision) (text, reason string) {
	if len(decisions) == 0 {
		return "The model is asked again for the summaries: it gave no usable answer.", "it holds no summary"
	}
	d := &decisions[0]
	if d.Action == Keep {
		return fmt.Sprintf("Entry %d stays tentative: the curator gave no usable answer: %s", q.batch[0].Entry.ID, d.Reason), d.Reason
	}
	var ids []string
	for _, c := range q.batch {
		ids = append(ids, fmt.Sprint(c.Entry.ID))
	}
	return fmt.Sprintf("The curator is asked again, about each alone: "+
		"it gave no usable answer about the entries %s: %s",
		strings.Join(ids, ", "), d.Reason), d.Reason
}
