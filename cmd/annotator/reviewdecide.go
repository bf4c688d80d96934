package main

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"annotator"
	"annotator/review"
	"annotator/storage"
)

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

// decide applies operations and stores the decision. It reports false if the codex refuses an operation without a
// limit.
func (r *reviewing) decide(ctx context.Context, s *review.Suggestion, answer annotator.Verdict,
	operations []annotator.Operation,
) (bool, error) {
	path := r.view.db.Path()
	by, err := editor(r.by)
	if err != nil {
		return false, err
	}
	d, refusal, err := s.Decide(ctx, r.view.View, answer, operations, func(op *annotator.Operation) (int64, error) {
		op.By = by
		done, err := (&edit{app: r.app, corpus: r.corpus}).submit(ctx, path, *op)
		if err != nil {
			return 0, err
		}
		done.printHead(r.out)
		return done.Row, nil
	})
	if err = refused(err); annotator.KindOf(err) == annotator.Misused {
		r.printError(err)
		return false, nil
	}
	if err != nil {
		return false, err
	}
	if refusal != nil { // the reason may be what is told later
		r.say("the answer is noted, but the codex does not allow the change; without --as-of it says why")
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
	rows, waits, err := r.view.db.Edits.RowsOf(ctx, &d)
	if err != nil {
		return err
	}
	if waits {
		return annotator.Errorf(annotator.Misused, "the run has not applied it yet").
			WithAdvice("undo it after the run's next scene")
	}
	for _, row := range rows {
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
