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

// inquiry is a question about a batch.
type inquiry struct {
	window.Question
	batch  Batch
	tokens int    // of the question itself
	alone  bool   // without the window
	fits   bool   // the context has room for question and answer
	again  string // why a former answer could not be used; empty if there was none
}

// next returns the question that is due: about an entry that has to be asked about again, alone; else about the first
// of the entries, as many of them as one question may be about.
func (c *Curator) next(ctx context.Context, open []annotator.UndecidedEntry, last *annotator.Post) (*inquiry, error) {
	due := open[:max(1, min(len(open), c.Settings.Batch))]
	if at := slices.IndexFunc(open, func(u annotator.UndecidedEntry) bool { return u.RetryReason != "" }); at >= 0 {
		due = open[at : at+1]
	}
	batch, err := c.candidates(ctx, due, last)
	if err != nil {
		return nil, err
	}
	single, err := c.inquire(batch[:1], due[0].RetryReason)
	for n := len(batch); err == nil && n > 1; n-- {
		var larger *inquiry
		if larger, err = c.inquire(batch[:n], ""); err == nil && larger.canReplace(single) {
			return larger, nil
		}
	}
	return single, err
}

// canReplace reports whether a larger question may be asked in the place of one that it contains: not if it leaves no
// room for the window.
func (q *inquiry) canReplace(smaller *inquiry) bool {
	return q.fits && q.tokens <= maxQuestion && q.alone == smaller.alone
}

// inquire returns the question about a batch. It stands at the end of the window, or alone if that leaves no room for
// it.
func (c *Curator) inquire(batch Batch, again string) (*inquiry, error) {
	q := &inquiry{batch: batch, again: again}
	q.Text, q.MaxTokens, q.Temperature = batch.Question(c.Settings.Instruction), c.Settings.MaxTokens*len(batch), c.Settings.Temperature
	if again != "" {
		q.Text = Correction(q.Text, again)
	}
	q.tokens = c.Window.Count(q.Text)
	following, err := c.Window.Before(c.Turn)
	if err == nil {
		err = c.place(q, following)
	}
	if err == nil && !q.fits {
		q.alone = true
		err = c.place(q, c.Window.NewPrompt())
	}
	return q, err
}

// place puts a question at the end of a prompt.
func (c *Curator) place(q *inquiry, p *window.Prompt) error {
	if c.Settings.Prompt == Replaced {
		p.ReplacePrefix(window.NewPrefix(c.Settings.System+"\n", "", nil))
	}
	err := p.Ask(q.Text)
	q.Prompt, q.fits = p, c.Window.Limits.ReplyAfter(p) >= q.MaxTokens
	return err
}

// decide asks a question, and stores what follows from the answer, all in one transaction. If the answer has nothing
// usable on an entry, it is asked about again, alone; after that it is left as it is, with a note of the reason.
// Nothing is decided by default.
func (c *Curator) decide(ctx context.Context, q *inquiry) ([]Decision, error) {
	reply, err := c.reply(ctx, q)
	if err != nil && !errors.Is(err, errNoRoom) && !errors.As(err, new(*model.Unanswered)) {
		return nil, err
	}
	fallback := AskAgain
	if q.again != "" || err != nil && len(q.batch) == 1 { // asked alone already, as often as a request is tried
		fallback = Keep
	}
	at := annotator.PlaceAt(c.Scene.N, len(c.Scene.Posts)-1)
	decisions, revisions := q.batch.Resolve(q.batch.answers(reply, err), fallback, c.Scene.Thread.ID, at)
	if slices.ContainsFunc(decisions, func(d Decision) bool { return d.Action.ByModel() }) {
		return decisions, c.carryOut(ctx, reply, revisions)
	}
	var call *annotator.Call
	if reply != nil {
		call = reply.Call
		call.Discard(decisions[0].Reason, reply.Body())
	}
	text := q.batch.unusable(&decisions[0])
	note := &annotator.Trace{Kind: annotator.TraceNote, Content: text, Tokens: tokens.EstimateMessage(text)}
	return decisions, c.Store(ctx, call, note, revisions)
}

// errNoRoom is the error of a question that is too long for the context. Its text is stored as the reason of a
// decision.
var errNoRoom = errors.New("the step makes nothing better")

// reply has a question answered, if the context has room for it.
func (c *Curator) reply(ctx context.Context, q *inquiry) (*model.Reply, error) {
	if !q.fits {
		return nil, fmt.Errorf("%w: the question has %d tokens, and the context has no room for it", errNoRoom, q.tokens)
	}
	return c.Ask(ctx, &q.Question)
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

// carryOut stores decisions: the answer and all that it changes, or nothing.
func (c *Curator) carryOut(ctx context.Context, reply *model.Reply, revisions []annotator.Revision) error {
	row := &annotator.Trace{
		Kind: annotator.TraceReply, Content: reply.Text, Reasoning: reply.Reasoning,
		Tokens: tokens.Estimate(reply.Text),
	}
	if err := c.Store(ctx, reply.Call, row, revisions); err != nil {
		return err
	}
	c.Window.Observe(reply.Call.Characters, reply.Call.Usage)
	for i := range revisions {
		c.Names.Invalidate(revisions[i].Entry)
	}
	return nil
}

// unusable is the note of an answer that decides nothing.
func (b Batch) unusable(d *Decision) string {
	if d.Action == Keep {
		return fmt.Sprintf("Entry %d stays tentative: the curator gave no usable answer: %s", b[0].Entry.ID, d.Reason)
	}
	var ids []string
	for _, c := range b {
		ids = append(ids, fmt.Sprint(c.Entry.ID))
	}
	return fmt.Sprintf("The curator is asked again, about each alone: "+
		"it gave no usable answer about the entries %s: %s",
		strings.Join(ids, ", "), d.Reason)
}
