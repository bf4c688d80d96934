package review

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"annotator"
	"annotator/codex"
	"annotator/view"
)

// asked returns what others ask of a person: questions of the model, what it would change of what is locked, and what
// agents propose.
func (r *reader) asked(ctx context.Context, v *view.View) (found []Suggestion, err error) {
	questions, err := v.Questions(ctx)
	if err != nil {
		return nil, err
	}
	for i := range questions {
		if questions[i].Answer == nil {
			found = append(found, r.question(&questions[i]))
		}
	}
	locked, err := v.Suggestions(ctx)
	if err != nil {
		return nil, err
	}
	for _, l := range locked {
		s := Suggestion{Kind: Locked, Why: fmt.Sprintf("the model did in scene %d what a person has locked", l.Scene)}
		if r.offer(&s, &l.Operation) {
			s.seal(l.Row, annotator.EncodeJSON(l.Operation))
			found = append(found, s)
		}
	}
	proposals, err := v.Proposals(ctx)
	if err != nil {
		return nil, err
	}
	for i := range proposals {
		s := Suggestion{Kind: Proposal, Why: "an agent proposes it: " + proposals[i].Why}
		if r.offer(&s, &proposals[i].Operation) {
			s.seal(proposals[i].ID)
			found = append(found, s)
		}
	}
	return found, nil
}

// question returns a question of the model. What it suggests as answers can be chosen by the first letter.
func (r *reader) question(q *view.Question) Suggestion {
	s := Suggestion{Kind: Question, Asks: q.Text, Why: fmt.Sprintf("the model asks in scene %d", q.Scene)}
	answer := annotator.Operation{Do: annotator.DeedAnswer, Question: q.ID}
	if len(q.Answers) > 0 {
		s.Why += ", and suggests: " + strings.Join(q.Answers, "; ")
		first := answer
		first.Text = q.Answers[0]
		s.Choices = append(s.Choices, Choice{
			Letter: LetterYes, Does: "answer: " + q.Answers[0], Operations: operations(first),
		})
	}
	s.Choices = append(s.Choices, Choice{
		Letter: LetterEdit, Does: "answer in words that you type", Input: InputText, Operations: operations(answer),
	})
	r.show(&s, q.Entry, 0)
	s.Score = s.rests()
	s.seal(q.ID)
	return s
}

// offer makes an operation what a suggestion applies. It reports false for one of an entry that is not there.
func (r *reader) offer(s *Suggestion, op *annotator.Operation) bool {
	if !r.show(s, op.Entry, op.Fact) || op.Other != 0 && !r.show(s, op.Other, 0) {
		return false
	}
	does := codex.Describe(op)
	s.Asks = "Is this right: " + does + "?"
	s.Choices = []Choice{{Letter: LetterYes, Does: does, Operations: operations(*op)}}
	if op.Text != "" && op.Do != annotator.DeedHide {
		s.Choices = append(s.Choices, Choice{
			Letter: LetterEdit, Does: "the same with other words", Input: InputFact, Operations: operations(*op),
		})
	}
	s.Score = s.rests()
	return true
}

// show adds a side with an entry, or with a fact of it. It reports whether the entry is there.
func (r *reader) show(s *Suggestion, entry, fact int64) bool {
	e := r.byID[entry]
	if e == nil {
		return false
	}
	at := slices.IndexFunc(e.Claims, func(c annotator.Claim) bool { return c.ID == fact })
	if at >= 0 {
		s.Sides = append(s.Sides, r.factSide(e, &e.Claims[at]))
	} else {
		s.Sides = append(s.Sides, r.side(e))
	}
	s.concern(r, e)
	return fact == 0 || at >= 0
}
