package main

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"annotator"
	"annotator/review"
	"annotator/storage"

	"github.com/spf13/cobra"
)

// reviewOptions are the options of `annotator review`.
type reviewOptions struct {
	*app
	point  string
	corpus string
	by     string // who answers; empty: nobody says
	kinds  []string
	limit  int
	json   bool
}

func newReview(a *app) *cobra.Command {
	o := &reviewOptions{app: a}
	cmd := &cobra.Command{
		Use: "review", Short: "Decide what is uncertain in a codex, one question after another",
		Long: longHelp(`
Decide what is uncertain in a codex: entries that may be one, facts that may contradict each other, states that may have
ended, names that are nobody's, quotations that lack what their fact says, tentative entries, and entries that bring
nothing. The kinds take turns. Of each kind comes first what is likeliest and has most resting on it.

Each question shows what it is about with its quotations, and the answers that it has:

  y  yes: apply what is suggested
  n  never ask about this again; of two entries: they are not the same
  e  edit: give other words or a name, which may follow the letter
  s  split: take a merge back
  l  later: ask again when something changes, or the next day
  w  wait: ask again when something changes
  x  reject: the fact or the entry is wrong, and is taken out
  A  the next answer is for all questions of the same kind and reason
  u  undo the last decision
  q  quit
  ?  explain

Answers are lines of standard input, so that they can come from a file. Its end quits.

An answer is stored at once. What it changes is an edit of a person, as by annotator edit: it is locked, and stored for
a run that is active. With --as-of, nothing that is told later takes part, and edits are seen from there.`,
			exitMisused, exitHalted, exitInterrupted),
		Example: `  annotator review
  annotator review book.epub --kind double --kind state --limit 20
  annotator review --as-of chapter:12
  annotator review --json > queue.json`,
	}
	flags := cmd.Flags()
	asOfFlag(flags, &o.point)
	corpusFlag(flags, &o.corpus, "`FILE` with the text of the story; without it, phrases are not looked for")
	flags.StringVar(&o.by, "by", "", "the `NAME` of who answers, which the history keeps; empty: nobody says")
	wordsFlag(flags, &o.kinds, "kind", kindNames(), "only this `KIND` of question; may be repeated")
	limitFlag(flags, &o.limit, 0, "the maximum number of questions; 0: all")
	jsonFlag(flags, &o.json)
	return onDatabase(cmd, func(ctx context.Context, db *storage.DB, _ []string) error { return o.run(ctx, db) })
}

func kindNames() (names []string) {
	for _, k := range review.Kinds() {
		names = append(names, string(k))
	}
	return names
}

func (o *reviewOptions) run(ctx context.Context, db *storage.DB) (err error) {
	v, err := codexAt(ctx, db, o.point)
	if err != nil {
		return err
	}
	story, err := openCorpus(ctx, db, db.Path(), o.corpus, false)
	if err != nil {
		return err
	}
	r := &reviewing{reviewOptions: o, view: v}
	if story != nil {
		defer func() { err = cmp.Or(err, story.Close()) }()
		r.story = story
	}
	if err := r.load(ctx); err != nil {
		return err
	}
	if o.json {
		return o.printJSON(r.shown())
	}
	return r.interact(ctx)
}

// reviewing is a review that goes on.
type reviewing struct {
	*reviewOptions
	view    *codexView
	story   review.Story // nil if it was not found
	queue   []review.Suggestion
	total   int                  // of the queue when it was computed
	asked   int                  // questions
	decided int                  // answers that were stored
	last    []annotator.Decision // of this session, the newest last
	ended   bool                 // the input
}

// load computes the queue without what is decided.
func (r *reviewing) load(ctx context.Context) error {
	q, err := review.Read(ctx, r.view.View, r.story)
	if err != nil {
		return err
	}
	decisions, err := r.view.db.Decisions.InForce(ctx)
	if err != nil {
		return err
	}
	r.queue = slices.DeleteFunc(q.Open(decisions, r.now()), func(s review.Suggestion) bool {
		return len(r.kinds) > 0 && !slices.Contains(r.kinds, string(s.Kind))
	})
	if r.limit > 0 {
		r.queue = r.queue[:min(len(r.queue), max(0, r.limit-r.asked))]
	}
	r.total = r.asked + len(r.queue)
	if q.Left > 0 && r.asked == 0 {
		r.say(fmt.Sprintf("%s are mentioned less than the others, and were not looked at",
			annotator.Quantity(q.Left, "entry")))
	}
	return nil
}

// shownQueue is what review prints as JSON.
type shownQueue struct {
	limited
	Total       int               `json:"total"`
	Suggestions []shownSuggestion `json:"suggestions"`
}

// shownSuggestion is a suggestion with positions.
type shownSuggestion struct {
	review.Suggestion
	Places []annotator.Position `json:"places"`
}

func (r *reviewing) shown() *shownQueue {
	q := &shownQueue{limited: r.view.limited, Total: len(r.queue), Suggestions: make([]shownSuggestion, len(r.queue))}
	for i := range r.queue {
		q.Suggestions[i] = shownSuggestion{Suggestion: r.queue[i], Places: []annotator.Position{}}
		for _, place := range r.queue[i].Places() {
			q.Suggestions[i].Places = append(q.Suggestions[i].Places, r.view.positions.At(place))
		}
	}
	return q
}

// interact asks one question after another, until there are no more or the input ends.
func (r *reviewing) interact(ctx context.Context) error {
	lines, readErr := readLines(ctx, r.in)
	for ctx.Err() == nil {
		if len(r.queue) == 0 { // what was changed may be a reason for others
			if err := r.load(ctx); err != nil {
				return err
			}
		}
		if len(r.queue) == 0 {
			again, err := r.askAtEnd(ctx, lines)
			if err != nil || !again {
				return cmp.Or(err, r.end())
			}
			continue
		}
		s := r.queue[0]
		r.asked++
		r.printSuggestion(&s)
		quit, err := r.answer(ctx, lines, &s)
		if r.ended {
			err = cmp.Or(err, readErr())
		}
		if err != nil || quit {
			return cmp.Or(err, r.end())
		}
	}
	fmt.Fprintln(r.out)
	return ctx.Err()
}

// askAtEnd asks whether to undo the last decision, where no question is left. It reports whether one is left now.
func (r *reviewing) askAtEnd(ctx context.Context, lines <-chan string) (bool, error) {
	if len(r.last) == 0 {
		return false, nil
	}
	line, _ := r.ask(ctx, lines, "no question is left: [u]ndo [q]uit ? ")
	if strings.TrimSpace(line) != letterUndo {
		return false, ctx.Err()
	}
	if err := r.undo(ctx); err != nil {
		return false, err
	}
	r.asked = max(0, r.asked-1)
	return true, r.load(ctx)
}

// end says what was done.
func (r *reviewing) end() error {
	fmt.Fprintf(r.out, "%s, %s left\n", annotator.Quantity(r.decided, "decision"),
		annotator.Quantity(len(r.queue), "question"))
	return r.view.positions.Err
}

// printSuggestion prints a question with what it is about.
func (r *reviewing) printSuggestion(s *review.Suggestion) {
	var chapters []string
	for _, place := range s.Places() {
		if at := r.view.positions.Named(place); at.Scene != 0 && !slices.Contains(chapters, oneLine(at.Chapter)) {
			chapters = append(chapters, oneLine(at.Chapter))
		}
	}
	head := fmt.Sprintf("[%d/%d] %s", r.asked, r.total, s.Kind.Label())
	if s.Facts > 0 {
		head += " · " + annotator.Quantity(s.Facts, "fact")
	}
	if s.Mentions > 0 {
		head += " · " + annotator.Quantity(s.Mentions, "mention")
	}
	if len(chapters) > 0 {
		head += " · " + strings.Join(chapters, ", ")
	}
	fmt.Fprintln(r.out)
	printIndented(r.out, "", head)
	printIndented(r.out, "", oneLine(s.Asks)+" ("+oneLine(s.Why)+")")
	for i := range s.Sides {
		r.printSide(&s.Sides[i])
	}
	fmt.Fprintln(r.out)
	for i := range s.Choices {
		printIndented(r.out, "  "+s.Choices[i].Letter+"  ", oneLine(s.Choices[i].Does))
	}
}

func (r *reviewing) printSide(side *review.Side) {
	fmt.Fprintln(r.out)
	name := oneLine(side.Name)
	switch {
	case side.Fact != 0:
		name += fmt.Sprintf("  %d:%d, %s", side.Entry, side.Fact, side.Kind)
	case side.Entry != 0:
		name += fmt.Sprintf("  #%d", side.Entry)
	}
	if len(side.Names) > 0 {
		name += ", also " + oneLine(strings.Join(side.Names, ", "))
	}
	printIndented(r.out, "", name)
	if side.Text != "" {
		printIndented(r.out, "  ", oneLine(shorten(side.Text, 400)))
	}
	for _, q := range side.Quotes {
		printIndented(r.out, "  ", fmt.Sprintf("%s, post %d: \"%s\"", r.view.at(r.view.positions.At(q.Place)), q.Post,
			oneLine(q.Text)))
	}
}

// prompts are the answers of the prompt, in order. Those without a letter of a choice are always there.
var prompts = []struct{ letter, text string }{
	{"y", "[y]es"},
	{"n", "[n]ever"},
	{"e", "[e]dit"},
	{"s", "[s]plit"},
	{"l", "[l]ater"},
	{"w", "[w]ait"},
	{"x", "[x] reject"},
	{"A", "[A]ll like this"},
	{"u", "[u]ndo"},
	{"q", "[q]uit"},
}

// promptFor returns the line that asks for an answer.
func promptFor(s *review.Suggestion) string {
	var text []string
	for _, p := range prompts {
		if strings.Contains("yesx", p.letter) && s.Choice(p.letter) == nil {
			continue
		}
		text = append(text, p.text)
	}
	return strings.Join(text, " ") + " ? "
}

// The answers that are about no single question.
const (
	letterUndo = "u"
	letterAll  = "A"
	letterQuit = "q"
)

// answer reads answers to a question until one decides it. It reports whether to quit.
func (r *reviewing) answer(ctx context.Context, lines <-chan string, s *review.Suggestion) (quit bool, err error) {
	for {
		line, more := r.ask(ctx, lines, promptFor(s))
		letter, words, _ := strings.Cut(strings.TrimSpace(line), " ")
		switch {
		case !more || letter == letterQuit:
			r.asked--
			return true, ctx.Err()
		case letter == "?" || letter == "":
			r.explain(s)
			continue
		case letter == letterUndo:
			err := r.undo(ctx)
			if err == nil {
				r.asked = max(0, r.asked-2) // this one, and the one that was undone
				return false, r.load(ctx)
			}
			r.printError(err)
			continue
		}
		like := []review.Suggestion{*s}
		if letter == letterAll {
			if like, letter, more = r.askForAll(ctx, lines, s); !more {
				return true, ctx.Err()
			}
		}
		done, err := r.decideAll(ctx, lines, like, letter, words)
		if err != nil || done {
			return false, err
		}
	}
}

// ask prints a prompt and reads a line; false at the end of the input.
func (r *reviewing) ask(ctx context.Context, lines <-chan string, prompt string) (string, bool) {
	fmt.Fprint(r.out, prompt)
	select {
	case <-ctx.Done():
		fmt.Fprintln(r.out)
		return "", false
	case line, more := <-lines:
		if r.ended = !more; r.ended || !r.isTerminal(r.out) {
			fmt.Fprintln(r.out)
		}
		return line, more
	}
}

// askForAll returns the questions like one, and the letter that answers all of them.
func (r *reviewing) askForAll(ctx context.Context, lines <-chan string, s *review.Suggestion) (
	like []review.Suggestion, letter string, more bool,
) {
	for i := range r.queue {
		if r.queue[i].IsLike(s) {
			like = append(like, r.queue[i])
		}
	}
	letter, more = r.ask(ctx, lines, fmt.Sprintf("%s like this: y, n, l, w or x for all of them, or nothing ? ",
		annotator.Quantity(len(like), "question")))
	letter = strings.TrimSpace(letter)
	if !slices.Contains([]string{"y", "n", "l", "w", "x"}, letter) {
		letter = ""
	}
	return like, letter, more
}

// decideAll answers questions with a letter. It reports false if the letter is no answer to them, or was refused.
func (r *reviewing) decideAll(ctx context.Context, lines <-chan string, like []review.Suggestion,
	letter, words string,
) (done bool, err error) {
	for i := range like {
		answer, choice, ok := like[i].Answer(letter)
		if !ok {
			fmt.Fprintf(r.out, "%q is no answer to this; ? explains\n", letter)
			return done, nil
		}
		var operations []annotator.Operation
		if choice != nil {
			if operations, err = r.operations(ctx, lines, choice, words); err != nil {
				r.printError(err)
				return done, nil
			}
		}
		decided, err := r.decide(ctx, &like[i], answer, operations)
		if err != nil || !decided {
			return done, err
		}
		done = true
	}
	return done, nil
}

// operations returns the operations of a choice, with what the person types for it.
func (r *reviewing) operations(ctx context.Context, lines <-chan string, c *review.Choice, words string) (
	[]annotator.Operation, error,
) {
	if c.Input == review.InputNone {
		return c.Operations, nil
	}
	if words = strings.TrimSpace(words); words == "" {
		words, _ = r.ask(ctx, lines, string(c.Input)+": ")
		words = strings.TrimSpace(words)
	}
	if words == "" {
		return nil, annotator.Errorf(annotator.Misused, "nothing was typed")
	}
	if c.Input != review.InputEntry {
		return c.With(words, 0), nil
	}
	e, err := r.view.findEntry(ctx, words)
	if err != nil {
		return nil, err
	}
	return c.With("", e.ID), nil
}

// decide applies operations and stores the decision. It reports false if the codex refuses an operation.
func (r *reviewing) decide(ctx context.Context, s *review.Suggestion, answer annotator.Verdict,
	operations []annotator.Operation,
) (bool, error) {
	d := s.Decision(answer, r.view.View)
	path := r.view.db.Path()
	for _, op := range operations {
		err := r.view.Confine(ctx, &op)
		if err == nil {
			op.By, err = editor(r.by)
		}
		if err != nil {
			return false, err
		}
		done, err := (&edit{app: r.app, corpus: r.corpus}).submit(ctx, path, op)
		if err = refused(err); err != nil {
			if annotator.KindOf(err) != annotator.Misused {
				return false, err
			}
			if r.point != "" { // the reason may be what is told later
				err = annotator.Errorf(annotator.Misused, "the codex does not allow this").
					WithAdvice("without --as-of it says why")
			}
			r.printError(err)
			return false, nil
		}
		done.printHead(r.out)
		d.Edits = append(d.Edits, annotator.DecidedEdit{Operation: done.Operation, Row: done.Row})
	}
	if err := storage.FileDecision(ctx, path, r.now, d); err != nil {
		return false, err
	}
	r.decided++
	r.last = append(r.last, *d)
	r.queue = slices.DeleteFunc(r.queue, func(other review.Suggestion) bool {
		return other.Key == s.Key || other.IsChangedBy(operations)
	})
	return true, nil
}

// undo takes the newest decision of this session back, with its edits.
func (r *reviewing) undo(ctx context.Context) error {
	if len(r.last) == 0 {
		return annotator.Errorf(annotator.Misused, "nothing was decided here yet")
	}
	d := r.last[len(r.last)-1]
	for _, e := range slices.Backward(d.Edits) {
		row, err := e.Row, error(nil)
		if row == 0 {
			row, err = r.view.db.Edits.RowOf(ctx, &e.Operation)
		}
		if err == nil && row == 0 {
			err = annotator.Errorf(annotator.Misused, "the run has not applied it yet").
				WithAdvice("undo it after the run's next scene")
		}
		if err != nil {
			return err
		}
		op := annotator.Operation{Do: annotator.DeedUndo, Row: row}
		done, err := (&edit{app: r.app, corpus: r.corpus}).submit(ctx, r.view.db.Path(), op)
		if err != nil {
			return refused(err)
		}
		done.printHead(r.out)
	}
	r.last, r.decided = r.last[:len(r.last)-1], r.decided-1
	return storage.TakeBackDecision(ctx, r.view.db.Path(), r.now, d.ID)
}

// explain prints what each answer does.
func (r *reviewing) explain(s *review.Suggestion) {
	for i := range s.Choices {
		printIndented(r.out, "  "+s.Choices[i].Letter+"  ", oneLine(s.Choices[i].Does))
	}
	for _, line := range []struct{ letter, does string }{
		{"n", "never ask about this again"},
		{"l", "later: ask again when something changes, or the next day"},
		{"w", "wait: ask again when something changes"},
		{"A", "the next answer is for all of this kind and reason"},
		{"u", "undo the last decision"},
		{"q", "quit; so does the end of the input"},
	} {
		if s.Choice(line.letter) == nil {
			printIndented(r.out, "  "+line.letter+"  ", line.does)
		}
	}
}
