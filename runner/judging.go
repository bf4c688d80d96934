package runner

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"annotator"
	"annotator/context/tokens"
	"annotator/curator"
	"annotator/model"
	"annotator/storage"
)

// mostAsked is how many tokens a question about several entries has at the most.
const mostAsked = 8_192

// inquiry is a question about some entries.
type inquiry struct {
	question question
	batch    curator.Batch
	asked    int    // tokens of the question itself
	fits     bool   // there is room for the answer
	again    string // what was wrong with a former answer; empty where there was none
}

// next puts together the question that is due: about an entry that has to be asked about again, alone; else about the first of
// the entries, as many of them as one question may be about.
func (f *fork) next(ctx context.Context, open []storage.Undecided) (*inquiry, error) {
	due := open[:max(1, min(len(open), f.Config.Curator.Batch))]
	if at := slices.IndexFunc(open, func(u storage.Undecided) bool { return u.Again != "" }); at >= 0 {
		due = open[at : at+1]
	}
	batch, err := f.candidates(ctx, due)
	if err != nil {
		return nil, err
	}
	alone, err := f.inquire(batch[:1], due[0].Again)
	for n := len(batch); err == nil && n > 1; n-- {
		var larger *inquiry
		if larger, err = f.inquire(batch[:n], ""); err == nil && larger.insteadOf(alone) {
			return larger, nil
		}
	}
	return alone, err
}

// insteadOf reports whether a larger question may take the place of one that it holds: not if it leaves no room for the window.
func (q *inquiry) insteadOf(smaller *inquiry) bool {
	alone, wasAlone := q.question.history == nil, smaller.question.history == nil
	return q.fits && q.asked <= mostAsked && alone == wasAlone
}

// inquire puts together the question about a batch. It follows the window, and is alone where that leaves no room for it.
func (f *fork) inquire(batch curator.Batch, again string) (*inquiry, error) {
	i := &inquiry{question: f.question, batch: batch, again: again}
	q := &i.question
	q.note, q.most = i.batch.Question(), q.most*len(i.batch)
	if i.again != "" {
		q.note = curator.Correction(q.note, i.again)
	}
	if err := f.behind(q, f.turn); err != nil {
		return nil, err
	}
	size := tokens.Measure(q.note)
	if f.room(q) < q.most {
		q.history, q.size = nil, q.frame.size.Plus(size).Framed(tokens.PerMessage)
		q.estimate = f.counter.Count(q.size)
	}
	i.asked, i.fits = f.counter.Count(size), f.room(q) >= q.most
	return i, nil
}

// judge puts a question, and writes down what follows from the answer. What was asked is in the journal before it is sent; the
// answer commits with all its effects. Where it has nothing usable on an entry, that one is asked about again alone; after
// that it is left as it is, with a note that says why. Nothing is decided by default.
func (f *fork) judge(ctx context.Context, i *inquiry) ([]curator.Decision, error) {
	var call *storage.Call
	var reply *model.Reply
	err := f.noRoom(i)
	if err == nil {
		call, reply, err = f.ask(ctx, &i.question)
	}
	if err != nil && !errors.Is(err, errNotBetter) {
		return nil, err
	}
	otherwise := curator.Again
	if i.again != "" || err != nil && len(i.batch) == 1 { // alone already, and as often as a request is tried
		otherwise = curator.None
	}
	decisions, revisions := i.batch.Settle(rulings(i.batch, reply, err), otherwise, f.day.row.Thread.ID, f.at)
	if slices.ContainsFunc(decisions, func(d curator.Decision) bool { return d.Verdict.Made() }) {
		return decisions, f.carryOut(ctx, call, reply, revisions)
	}
	if call != nil {
		spoil(call, reply, errors.New(decisions[0].Reason))
	}
	return decisions, f.Store.Curation.Decide(ctx, call, note(unused(i.batch, &decisions[0])), revisions)
}

// noRoom returns the error that there is none for a question, even without the window.
func (f *fork) noRoom(i *inquiry) error {
	if i.fits {
		return nil
	}
	return fmt.Errorf("%w: the question has %d tokens, and the context has no room for it", errNotBetter, i.asked)
}

// rulings reads an answer, of which there is none where there is an error.
func rulings(b curator.Batch, reply *model.Reply, err error) []curator.Ruling {
	switch {
	case err != nil:
		return b.Unruled(err)
	case len(reply.Calls) > 0:
		return b.Unruled(errors.New("it calls a tool"))
	}
	return b.Read(reply.Text)
}

// carryOut writes down decisions: the answer and all that it changes, or nothing.
func (f *fork) carryOut(ctx context.Context, call *storage.Call, reply *model.Reply, revisions []annotator.Revision) error {
	row := &annotator.Trace{Kind: annotator.TraceReply, Content: reply.Text, Reasoning: reply.Reasoning, Tokens: tokens.Estimate(reply.Text)}
	if err := f.Store.Curation.Decide(ctx, call, row, revisions); err != nil {
		return err
	}
	f.learned(call)
	for i := range revisions {
		f.names.Invalidate(revisions[i].Entry)
	}
	return nil
}

// unused says what becomes of entries on which an answer decides nothing.
func unused(b curator.Batch, d *curator.Decision) string {
	if d.Verdict == curator.None {
		return fmt.Sprintf("Entry %d stays tentative: the curator gave no usable answer: %s", b[0].Entry.ID, d.Reason)
	}
	var ids []string
	for _, c := range b {
		ids = append(ids, fmt.Sprint(c.Entry.ID))
	}
	return fmt.Sprintf("The curator is asked again, about each alone: it gave no usable answer about the entries %s: %s", strings.Join(ids, ", "), d.Reason)
}

// spoil gives a call the outcome that its answer could not be used.
func spoil(call *storage.Call, reply *model.Reply, wrong error) {
	call.Outcome, call.Decision, call.Fault = string(annotator.Malformed), "not used", wrong.Error()
	call.Raw = reply.Raw
	if len(call.Raw) == 0 {
		call.Raw = []byte(reply.Text)
	}
}

func note(text string) *annotator.Trace {
	return &annotator.Trace{Kind: annotator.TraceNote, Content: text, Tokens: tokens.Estimate(text) + tokens.PerMessage}
}
