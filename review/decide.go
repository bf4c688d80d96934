package review

import (
	"slices"
	"strings"
	"time"

	"annotator"
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

// Decision returns the decision that an answer is, of a person who is shown a view.
func (s *Suggestion) Decision(answer annotator.Verdict, v *view.View) *annotator.Decision {
	return &annotator.Decision{Key: s.Key, Digest: s.Digest, Verdict: answer, Seen: ShownTo(v)}
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
