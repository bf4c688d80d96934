package review

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"annotator"
	"annotator/codex"
	"annotator/view"
)

// The letters of the answers. The others are those of choices.
const (
	LetterYes    = "y"
	LetterNever  = "n"
	LetterEdit   = "e"
	LetterSplit  = "s"
	LetterLater  = "l"
	LetterWait   = "w"
	LetterReject = "x"
)

// Answer returns what a letter answers to a suggestion, and the choice that it applies; nil for none. It reports false
// for a letter that the suggestion does not have.
func (s *Suggestion) Answer(letter string) (answer annotator.Verdict, choice *Choice, ok bool) {
	choice = s.Choice(letter)
	switch letter {
	case LetterNever:
		return annotator.VerdictNever, choice, true
	case LetterLater:
		return annotator.VerdictLater, nil, true
	case LetterWait:
		return annotator.VerdictWait, nil, true
	case LetterReject:
		return annotator.VerdictRejected, choice, choice != nil
	}
	return annotator.VerdictAccepted, choice, choice != nil
}

// Decide submits the operations of an answer, and returns the decision to store. Under a limit, the codex may refuse an
// operation because of what is told later. Then the answer is taken without that operation, so that the question does
// not come again, and the refusal is returned as well.
func (s *Suggestion) Decide(ctx context.Context, v *view.View, answer annotator.Verdict,
	operations []annotator.Operation, submit func(*annotator.Operation) (row int64, err error),
) (d *annotator.Decision, refused *codex.Refusal, err error) {
	m := v.Moment()
	isLimited := !m.IsZero()
	d = &annotator.Decision{Key: s.Key, Digest: s.Digest, Verdict: answer, Seen: ShownTo(v)}
	for _, op := range operations {
		if err := v.Confine(ctx, &op); err != nil { // so that the decision has what the journal gets
			return nil, nil, err
		}
		row, err := submit(&op)
		if errors.As(err, &refused) && isLimited {
			continue
		}
		if err != nil {
			return nil, nil, err
		}
		d.Edits = append(d.Edits, annotator.DecidedEdit{Operation: op, Row: row})
	}
	return d, refused, nil
}

// ShownTo returns the order of the furthest scene that a view shows.
func ShownTo(v *view.View) annotator.Order {
	if m := v.Moment(); !m.IsZero() {
		return m.Order()
	}
	return 1<<62 - 1
}

// IsLike reports whether two suggestions are of the same kind, for the same reason.
func (s *Suggestion) IsLike(other *Suggestion) bool {
	reason, _, _ := strings.Cut(s.Why, ":")
	same, _, _ := strings.Cut(other.Why, ":")
	return s.Kind == other.Kind && reason == same
}

// IsChangedBy reports whether operations change a side of the suggestion, so that it has to be computed anew.
func (s *Suggestion) IsChangedBy(operations []annotator.Operation) bool {
	return slices.ContainsFunc(operations, func(op annotator.Operation) bool {
		return slices.ContainsFunc(s.Sides, func(side Side) bool {
			isPart := side.Fact == 0 || op.Fact == 0 || side.Fact == op.Fact
			return side.Entry != 0 && (side.Entry == op.Entry || side.Entry == op.Other) && isPart
		})
	})
}

// Open returns the suggestions that are to be decided now, in order.
func (q *Queue) Open(decisions map[string]annotator.Decision, now time.Time) (open []Suggestion) {
	for i := range q.Suggestions {
		d, decided := decisions[q.Suggestions[i].Key]
		if !decided || isDue(&d, &q.Suggestions[i], now) {
			open = append(open, q.Suggestions[i])
		}
	}
	return open
}

// isDue reports whether a suggestion is asked about again after a decision.
func isDue(d *annotator.Decision, s *Suggestion, now time.Time) bool {
	switch d.Verdict {
	case annotator.VerdictWait:
		return d.Digest != s.Digest
	case annotator.VerdictLater:
		const day = "2006-01-02"
		return d.Digest != s.Digest || time.UnixMilli(d.At).In(now.Location()).Format(day) != now.Format(day)
	}
	return false
}
