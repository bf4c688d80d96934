package view

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"slices"

	"annotator"
	"annotator/codex"
	"annotator/internal/sqlite"
)

// Question is a question of the model to a person, with the answer that counts.
type Question struct {
	annotator.Question
	Name   string            // of the entry; of the one that it was merged into
	Answer *annotator.Answer // nil while it waits for one
}

// Questions returns the questions of the model to people within the limit, by their numbers. What the limit hides of
// the answers is not there: such a question waits, or has an earlier answer.
func (v *View) Questions(ctx context.Context) ([]Question, error) {
	x, err := v.records(ctx)
	if err != nil {
		return nil, err
	}
	asked, err := v.r.Questions(ctx)
	if err != nil {
		return nil, err
	}
	answers, err := v.r.Answers(ctx)
	if err != nil {
		return nil, err
	}
	last := map[int64]*annotator.Answer{}
	for i := range answers {
		if a := &answers[i]; a.From <= x.scene && (v.m.snapshot == 0 || a.Row <= x.trace) {
			last[a.Question] = a
		}
	}
	var questions []Question
	for _, q := range asked {
		if q.Row > x.trace {
			break
		}
		name, err := v.presentName(ctx, q.Entry)
		if err != nil {
			return nil, err
		}
		answer := last[q.ID]
		q.Answered = answer != nil
		questions = append(questions, Question{q, name, answer})
	}
	return questions, nil
}

// presentName returns the name of an entry, or of the one that it was merged into.
func (v *View) presentName(ctx context.Context, id int64) (string, error) {
	for {
		found, err := v.Headings(ctx, []int64{id})
		if err != nil || found[id] == nil {
			return "", err
		}
		if found[id].Status != annotator.Merged {
			return found[id].Name(), nil
		}
		id = found[id].MergedInto
	}
}

// Suggestion is what a call of the model would have changed and a person has locked.
type Suggestion struct {
	Operation annotator.Operation // that does it; accepting the suggestion applies it
	Row       int64               // of the journal: of the newest call with it
	Scene     int                 // of that call
	Times     int                 // how often it was called
}

// Suggestions returns what calls of the model within the limit would have changed and a person has locked, by the
// newest call. It leaves out what the rules would refuse by now, because it is so already or rests on what has changed.
func (v *View) Suggestions(ctx context.Context) ([]Suggestion, error) {
	all, err := v.suggested(ctx)
	if err != nil {
		return nil, err
	}
	var open []Suggestion
	for _, s := range all {
		refusal := (*codex.Refusal)(nil)
		switch err := v.db.Edits.Check(ctx, s.Operation); {
		case err == nil:
			open = append(open, s)
		case !errors.As(err, &refusal):
			return nil, err
		}
	}
	return open, nil
}

// suggested returns what calls of the model within the limit would have changed and a person has locked.
func (v *View) suggested(ctx context.Context) (all []Suggestion, err error) {
	x, err := v.records(ctx)
	if err != nil {
		return nil, err
	}
	err = v.r.Each(ctx, func(rows *sql.Rows) error {
		var row int64
		var scene int
		var text string
		if err := rows.Scan(&row, &scene, &text); err != nil {
			return err
		}
		var operations []annotator.Operation
		err := json.Unmarshal([]byte(text), &operations)
		for _, op := range operations {
			all = addSuggestion(all, Suggestion{op, row, scene, 1})
		}
		return err
	}, `SELECT id, scene, parsed ->> 'suggests' FROM trace WHERE kind IN ('tool_result', 'update')
		AND instr(parsed, '"suggests":') AND id <= ? ORDER BY id`, x.trace)
	return all, sqlite.Wrap(err, "read the suggestions in %s", v.db.Path())
}

// setDoubts marks the claims of entries that hold because a person has locked them, and that the model would have
// changed or ended.
func (v *View) setDoubts(ctx context.Context, entries ...*annotator.Entry) error {
	locked := map[int64]*annotator.Entry{}
	for _, e := range entries {
		if e.Locked || len(e.Locks) > 0 {
			locked[e.ID] = e
		}
	}
	if len(locked) == 0 {
		return nil
	}
	suggested, err := v.suggested(ctx)
	for i := range suggested {
		op := &suggested[i].Operation
		e := locked[op.Entry]
		if e == nil || op.Fact == 0 {
			continue
		}
		for k := range e.Claims {
			c := &e.Claims[k]
			isLocked := e.Locked || slices.Contains(e.Locks, codex.LockFact(c.ID))
			c.Doubted = c.Doubted || c.ID == op.Fact && c.Until == 0 && isLocked
		}
	}
	return err
}

// addSuggestion adds a suggestion behind others, or moves the one that is the same to the end.
func addSuggestion(all []Suggestion, s Suggestion) []Suggestion {
	text := annotator.EncodeJSON(s.Operation)
	at := slices.IndexFunc(all, func(o Suggestion) bool { return annotator.EncodeJSON(o.Operation) == text })
	if at >= 0 {
		s.Times += all[at].Times
		all = slices.Delete(all, at, at+1)
	}
	return append(all, s)
}

// Proposals returns what agents have proposed that were shown nothing after the limit, in order.
func (v *View) Proposals(ctx context.Context) ([]annotator.Proposal, error) {
	last := v.wholeScene()
	if v.m.IsZero() {
		last = 0
	}
	return v.db.Edits.Proposals(ctx, last)
}
