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
