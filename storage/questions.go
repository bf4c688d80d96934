package storage

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"fmt"

	"annotator"
	"annotator/codex"
	"annotator/internal/sqlite"
)

// Questions returns the questions of the model to people, by their numbers.
func (r Reader) Questions(ctx context.Context) ([]annotator.Question, error) {
	answers, err := r.Answers(ctx)
	if err != nil {
		return nil, err
	}
	answered := map[int64]bool{}
	for i := range answers {
		answered[answers[i].Question] = true
	}
	questions, err := collect(ctx, r.q, func(rows *sql.Rows, q *annotator.Question) error {
		var row int64
		var text string
		if err := rows.Scan(&row, &text); err != nil {
			return err
		}
		err := json.Unmarshal([]byte(text), q)
		q.Row, q.Answered = row, answered[q.ID]
		return err
	}, `SELECT id, parsed ->> 'question' FROM trace WHERE kind = 'tool_result' AND tool = 'ask_person' AND error = ''
		ORDER BY id`)
	return questions, sqlite.Wrap(err, "read the questions in %s", r.path)
}

// Answers returns the answers of people that were not undone, in their order. The last one to a question counts.
func (r Reader) Answers(ctx context.Context) ([]annotator.Answer, error) {
	answers, err := collect(ctx, r.q, func(rows *sql.Rows, a *annotator.Answer) error {
		var text string
		var op annotator.Operation
		if err := rows.Scan(&a.Row, &text); err != nil {
			return err
		}
		err := json.Unmarshal([]byte(text), &op)
		a.Question, a.Text, a.By, a.From = op.Question, op.Text, op.By, op.From
		return err
	}, `SELECT t.id, t.arguments FROM trace t WHERE t.kind = 'edit' AND t.tool = 'answer' AND t.error = ''
		AND `+NotUndone+` ORDER BY t.id`)
	return answers, sqlite.Wrap(err, "read the answers in %s", r.path)
}

// NotUndone is a condition on a row t of the journal with an operation of a person.
const NotUndone = `NOT EXISTS (SELECT 1 FROM trace u WHERE u.kind = 'edit' AND u.tool = 'undo' AND u.error = ''
	AND u.arguments ->> 'row' = t.id)`

// Questions returns the questions of the model to people, by their numbers.
func (g *Glossary) Questions(ctx context.Context) ([]annotator.Question, error) {
	return g.Reader().Questions(ctx)
}

// Hidden returns the entries with a name that a person has taken out of the codex, by id.
func (g *Glossary) Hidden(ctx context.Context, name string) ([]annotator.Entry, error) {
	return g.Reader().List(ctx, `SELECT DISTINCT e.id FROM value v JOIN entry e ON e.id = v.entry_id
		JOIN value l ON l.entry_id = e.id AND l.field = 'lock' AND l.key = ? AND l.ended_by IS NULL AND l.holds = 1
		WHERE v.field = 'alias' AND v.key = ? AND v.ended_by IS NULL AND e.status = 'retired' ORDER BY e.id`,
		codex.LockStatus, codex.Normalize(name))
}

// NewAnswer is an answer that no scene has shown to the model, with its question.
type NewAnswer struct {
	annotator.Answer
	Asked annotator.Question
}

// NewAnswers returns the answers that count and that no scene has shown to the model, in their order. What a scene has
// shown whose turn has left the window by itself, because it was refused, counts as not shown.
func (s *Edits) NewAnswers(ctx context.Context) ([]NewAnswer, error) {
	r := s.db.Reader(Limit{})
	answers, err := r.Answers(ctx)
	if err != nil || len(answers) == 0 {
		return nil, err
	}
	shown, err := readAll(ctx, s.db, "read the shown answers", ScanValue[int64], `SELECT a.value FROM trace t
		JOIN json_each(t.parsed, '$.answers') a WHERE t.kind = 'scene' AND t.parsed <> ''
		AND NOT EXISTS (SELECT 1 FROM compaction WHERE only_turn = t.turn AND only_turn <> 0)`)
	if err != nil {
		return nil, err
	}
	questions, err := r.Questions(ctx)
	if err != nil {
		return nil, err
	}
	last, isShown := map[int64]int64{}, map[int64]bool{}
	for i := range answers {
		last[answers[i].Question] = answers[i].Row
	}
	for _, row := range shown {
		isShown[row] = true
	}
	var unseen []NewAnswer
	for _, a := range answers {
		if last[a.Question] == a.Row && !isShown[a.Row] {
			unseen = append(unseen, NewAnswer{a, questions[a.Question-1]})
		}
	}
	return unseen, nil
}

// maxAnswer is the most characters of an answer.
const maxAnswer = 1000

// answer checks an answer, and says from where it is seen: from where the story is read to, unless the person says so.
func (e *edit) answer() error {
	questions, err := e.Questions(e.ctx)
	if err != nil {
		return err
	}
	if e.op.Question < 1 || e.op.Question > int64(len(questions)) {
		return &codex.Refusal{Code: "NOT_FOUND", Message: fmt.Sprintf("there is no question %d", e.op.Question)}
	}
	text, err := codex.Text("answer", e.op.Text, maxAnswer)
	if err != nil {
		return err
	}
	answers, err := e.Answers(e.ctx)
	for i := range answers {
		a := &answers[len(answers)-1-i]
		if a.Question != e.op.Question {
			continue
		}
		if a.Text == text {
			err = cmp.Or(err, error(&codex.Refusal{Code: codex.Already, Message: "that is the answer already"}))
		}
		break
	}
	e.op.Entry, e.op.Text = questions[e.op.Question-1].Entry, text
	read, readErr := e.read()
	e.op.From = cmp.Or(e.op.From, read)
	return cmp.Or(err, readErr)
}
