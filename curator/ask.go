package curator

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"annotator"
	"annotator/context/prompt"
	"annotator/context/tokens"
	"annotator/context/window"
	"annotator/model"
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
		list = append(list, section{s.States, p.states.shown, "Write nothing else.", tokens, 0})
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
// then each entry. Else summaries, present statements and entries share a question, with as many entries as it may be
// about. If the window leaves room for less, entries wait for its compaction. Statements depend only on the facts that
// are shown, so they are asked for without the window.
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
	if !urgent && !due && !statesDue && len(open) < c.least() {
		return nil, nil
	}
	phrases, err := c.duePhrases(ctx)
	if err != nil {
		return nil, err
	}
	superfluous, err := c.dueRedundant(ctx)
	if err != nil {
		return nil, err
	}
	batch, err := c.candidates(ctx, open[:min(len(open), max(1, c.Settings.Batch))])
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
// redundant entries, then the states, then phrases and present statements. Summaries are omitted last, unless they are
// urgent.
func (c *Curator) fullest(p parts, urgent bool) (q *inquiry, full bool, err error) {
	q, full, err = c.largest(p)
	if err == nil && !full && p.redundant != nil {
		p.redundant = nil
		q, full, err = c.largest(p)
	}
	if err == nil && !full && p.states != nil && (len(p.batch) > 0 || p.recap != nil || p.present != nil) {
		p.states = nil
		q, full, err = c.largest(p)
	}
	if err == nil && !full && (p.present != nil || p.phrases != nil) && (len(p.batch) > 0 || p.recap != nil) {
		p.present, p.phrases = nil, nil
		q, full, err = c.largest(p)
	}
	if err == nil && !full && !urgent && p.recap != nil && len(p.batch) > 0 {
		p.recap = nil
		q, full, err = c.largest(p)
	}
	return q, full, err
}

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

func (p *parts) onlySummaries() bool { return len(p.batch) == 0 && p.present == nil && p.states == nil }

// decide asks a question, and stores what follows from the answer, all in one transaction. If the answer has nothing
// usable on an entry, the entry is asked about again, alone. After that it stays as it is, with a note of the reason.
// Nothing is decided by default. Summaries are asked for again, too, and then written by rule.
func (c *Curator) decide(ctx context.Context, q *inquiry) ([]Decision, error) {
	if q.recap != nil && q.recap.Spent() {
		return nil, c.recapByRule(ctx, q.recap)
	}
	reply, err := c.reply(ctx, q)
	if err != nil && !errors.Is(err, errNoRoom) && !errors.As(err, new(*model.Unanswered)) {
		return nil, err
	}
	text, noReply := answerOf(reply, err)
	summaries, text, failed := c.readSummaries(ctx, q, text)
	if failed != nil {
		return nil, failed
	}
	fallback := AskAgain
	// asked alone already, as often as a request is tried
	if q.again != "" || err != nil && len(q.batch) == 1 && q.onlyEntries() {
		fallback = Keep
	}
	said := q.read(text, noReply)
	e, failed := c.effects(ctx, q, &said, fallback)
	if failed != nil {
		return nil, failed
	}
	summarised := summaries != nil && len(summaries.Episodes) > 0
	decided := slices.ContainsFunc(e.decisions, func(d Decision) bool { return d.Action.ByModel() })
	if summarised || decided || said.more() {
		if err := c.carryOut(ctx, reply, e.phrases, e.revisions, summaries); err != nil {
			return nil, err
		}
		for _, f := range e.folded {
			c.Decided(f.Entry, f.Decision)
		}
		return e.decisions, nil
	}
	body, reason := q.unusable(e.decisions)
	var call *annotator.Call
	if reply != nil {
		call = reply.Call
		call.Discard(reason, reply.Body())
	}
	note := &annotator.Trace{Kind: annotator.TraceNote, Content: body, Tokens: tokens.EstimateMessage(body)}
	note.Parsed.Phrases = e.phrases
	return e.decisions, c.Records.Decide(ctx, call, note, e.revisions, summaries)
}

// said is what a reply says of the parts of a question, apart from the summaries.
type said struct {
	answers []Answer
	told    map[int64]statement
	named   map[string]string
	folds   []fold
	ended   []endedState
	states  bool // it says something of states
}

// read reads what a reply says; nothing if there is none.
func (q *inquiry) read(reply string, noReply error) (s said) {
	s.told, reply = q.present.read(reply)
	s.named, reply = q.phrases.read(reply)
	s.ended, s.states, reply = q.states.read(reply)
	s.folds, reply = q.redundant.read(reply)
	s.answers = q.batch.Unanswered(noReply)
	if noReply == nil {
		s.answers = q.batch.Read(reply)
	}
	return s
}

// more reports whether a reply says something usable, apart from summaries and decisions on entries.
func (s *said) more() bool { return s.states || len(s.told)+len(s.named)+len(s.folds) > 0 }

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
	e.revisions = append(e.revisions, q.states.revisions(s.ended, e.revisions, at, thread)...)
	e.revisions = append(e.revisions, q.present.revisions(s.told, changed, e.revisions, at, thread)...)
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
