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

// decide asks a question, and stores what follows from the answer, all in one transaction. If the answer has nothing
// usable on an entry, the entry is asked about again, alone. After that it stays as it is, with a note of the reason.
// Nothing is decided by default. Summaries are asked for again, too, and then written by rule. It returns the decisions
// on the candidates, and which other entries were dropped or merged.
func (c *Curator) decide(ctx context.Context, q *inquiry) (decisions []Decision, folds []folded, err error) {
	if q.recap != nil && q.recap.Spent() {
		return nil, nil, c.recapByRule(ctx, q.recap)
	}
	reply, err := c.reply(ctx, q)
	if err != nil && !errors.Is(err, errNoRoom) && !errors.As(err, new(*model.Unanswered)) {
		return nil, nil, err
	}
	text, noReply := answerOf(reply, err)
	summaries, text, failed := c.readSummaries(ctx, q, text)
	if failed != nil {
		return nil, nil, failed
	}
	fallback := AskAgain
	// asked alone already, as often as a request is tried
	if q.again != "" || err != nil && len(q.batch) == 1 && q.onlyEntries() {
		fallback = Keep
	}
	said := q.read(text, noReply)
	e, failed := c.effects(ctx, q, &said, fallback)
	if failed != nil {
		return nil, nil, failed
	}
	summarised := summaries != nil && len(summaries.Episodes) > 0
	decided := slices.ContainsFunc(e.decisions, func(d Decision) bool { return d.Action.ByModel() })
	if summarised || decided || said.more() {
		if err := c.carryOut(ctx, reply, e.phrases, e.revisions, summaries); err != nil {
			return nil, nil, err
		}
		for _, f := range e.folded {
			c.Decided(f.Entry, f.Decision)
		}
		return e.decisions, e.folded, nil
	}
	body, reason := q.unusable(e.decisions)
	var call *annotator.Call
	if reply != nil {
		call = reply.Call
		call.Discard(reason, reply.Body())
	}
	note := &annotator.Trace{Kind: annotator.TraceNote, Content: body, Tokens: tokens.EstimateMessage(body)}
	note.Parsed.Phrases = e.phrases
	return e.decisions, nil, c.Records.Decide(ctx, call, note, e.revisions, summaries)
}

// said is what a reply says of the parts of a question, apart from the summaries.
type said struct {
	answers []Answer
	told    map[int64]statement
	named   map[string]string
	folds   []fold
	ended   []endedState
	other   bool // it says something of states, or of redundant entries
}

// read reads what a reply says; nothing if there is none.
func (q *inquiry) read(reply string, noReply error) (s said) {
	s.told, reply = q.present.read(reply)
	s.named, reply = q.phrases.read(reply)
	var states, redundant bool
	s.ended, states, reply = q.states.read(reply)
	s.folds, redundant, reply = q.redundant.read(reply)
	s.other = states || redundant
	s.answers = q.batch.Unanswered(noReply)
	if noReply == nil {
		s.answers = q.batch.Read(reply)
	}
	return s
}

// more reports whether a reply says something usable, apart from summaries and decisions on entries.
func (s *said) more() bool { return s.other || len(s.told)+len(s.named) > 0 }

// effects are what follows from a reply.
type effects struct {
	decisions []Decision
	revisions []annotator.Revision
	phrases   *annotator.Phrases
	folded    []folded
}

// effects computes what follows from a reply. An entry that one part of it changes is not changed by a later part that
// rests on what the entry was.
func (c *Curator) effects(ctx context.Context, q *inquiry, s *said, fallback Action) (e effects, err error) {
	at, thread := annotator.PlaceAt(c.Scene.Order, len(c.Scene.Posts)-1), c.Scene.Thread.ID
	if err := c.findPlaces(ctx, q.batch, s.answers); err != nil {
		return e, err
	}
	if err := c.findTargets(ctx, q.batch, s.answers); err != nil {
		return e, err
	}
	e.decisions, e.revisions = q.batch.Resolve(s.answers, fallback, thread, at)
	dropped, folded, err := c.dropped(ctx, q.redundant, s.folds, e.revisions, at)
	if err != nil {
		return e, err
	}
	e.revisions, e.folded = append(e.revisions, dropped...), folded
	changed := changedBy(e.revisions)
	names, err := c.names(ctx, q.phrases, s.named, changed)
	if err != nil {
		return e, err
	}
	if e.phrases = names.record; e.phrases != nil {
		c.due = foundPhrases{}
	}
	restated := changedBy(slices.DeleteFunc(slices.Clone(e.revisions), addsFact))
	e.revisions = append(e.revisions, q.states.revisions(s.ended, e.revisions, at, thread)...)
	e.revisions = append(e.revisions, q.present.revisions(s.told, restated, e.revisions, at, thread)...)
	e.revisions = append(e.revisions, names.revisions...)
	return e, nil
}

// answerOf returns the text of a reply, or why there is none.
func answerOf(reply *model.Reply, failed error) (text string, why error) {
	switch {
	case failed != nil:
		return "", failed
	case len(reply.Calls) > 0:
		return "", errors.New("it calls a tool")
	}
	return reply.Text, nil
}

// changedBy returns the entries that decisions change otherwise than by confirming them.
func changedBy(revisions []annotator.Revision) map[int64]bool {
	changed := map[int64]bool{}
	for i := range revisions {
		switch revisions[i].Field {
		case annotator.FieldStatus, annotator.FieldCuratorDecision:
		default:
			changed[revisions[i].Entry] = true
		}
	}
	return changed
}

// addsFact reports whether a revision only adds to the facts of an entry, as where it gets those of a dropped one. What
// the entry is now is then still as a reply says.
func addsFact(r annotator.Revision) bool {
	return r.Old == "" && (r.Field == annotator.FieldClaim || r.Field == annotator.FieldEvidence)
}

// readSummaries reads the summaries of a reply, which is empty if there is none, and returns the rest of it. Summaries
// are nil if none were asked for.
func (c *Curator) readSummaries(ctx context.Context, q *inquiry, reply string) (*annotator.Summaries, string, error) {
	switch {
	case q.recap == nil:
		return nil, reply, nil
	case reply == "":
		return q.recap.Nothing(), "", nil
	}
	return q.recap.Read(ctx, reply, !q.onlySummaries() || q.phrases != nil)
}

// recapByRule stores summaries that the model did not write.
func (c *Curator) recapByRule(ctx context.Context, recap *window.Recap) error {
	summaries, text, err := recap.ByRule(ctx)
	if err != nil {
		return err
	}
	note := &annotator.Trace{Kind: annotator.TraceNote, Content: text, Tokens: tokens.EstimateMessage(text)}
	return c.Records.Decide(ctx, nil, note, nil, summaries)
}

// errNoRoom is the error of a question that is too long for the context. Its text is stored as the reason of a
// decision.
var errNoRoom = errors.New("the question was not asked")

// reply gets the answer to a question, if the context has room for it.
func (c *Curator) reply(ctx context.Context, q *inquiry) (*model.Reply, error) {
	if !q.fits {
		return nil, fmt.Errorf("%w: it has %d tokens, and the context has no room for it", errNoRoom, q.tokens)
	}
	purpose := annotator.PurposeCurate
	if len(q.batch) == 0 { // an answer is optional
		purpose = annotator.PurposeSummarise
	}
	var fork *Fork
	if !q.onlySummaries() {
		fork = &Fork{Before: c.Turn, Alone: q.alone, System: c.system(&q.parts)}
	}
	return c.Ask(ctx, purpose, &q.Question, fork)
}

// carryOut stores decisions and summaries: the answer and all that it changes, or nothing.
func (c *Curator) carryOut(
	ctx context.Context, reply *model.Reply, phrases *annotator.Phrases, revisions []annotator.Revision,
	summaries *annotator.Summaries,
) error {
	row := &annotator.Trace{
		Kind: annotator.TraceReply, Content: reply.Text, Reasoning: reply.Reasoning,
		Tokens: tokens.Estimate(reply.Text), Parsed: annotator.Parsed{Phrases: phrases},
	}
	if err := c.Records.Decide(ctx, reply.Call, row, revisions, summaries); err != nil {
		return err
	}
	for i := range revisions {
		c.Names.Invalidate(revisions[i].Entry)
	}
	return c.Window.Relearn(ctx)
}

// unusable returns the note of an answer that has no result, and the reason.
func (q *inquiry) unusable(decisions []Decision) (text, reason string) {
	if len(decisions) == 0 && q.present != nil {
		return q.present.note(), "it holds no statement"
	}
	if len(decisions) == 0 && q.states != nil {
		return q.states.note(), "it says nothing of the states"
	}
	if len(decisions) == 0 && q.redundant != nil {
		return q.redundant.note(), "it says nothing of the entries"
	}
	if len(decisions) == 0 {
		return "The model is asked again for the summaries: it gave no usable answer.", "it holds no summary"
	}
	d := &decisions[0]
	if d.Action == Keep {
		return fmt.Sprintf("Entry %d stays tentative: the curator gave no usable answer: %s", q.batch[0].Entry.ID,
			d.Reason), d.Reason
	}
	var ids []string
	for _, c := range q.batch {
		ids = append(ids, fmt.Sprint(c.Entry.ID))
	}
	return fmt.Sprintf("The curator is asked again, about each alone: "+
		"it gave no usable answer about the entries %s: %s",
		strings.Join(ids, ", "), d.Reason), d.Reason
}
