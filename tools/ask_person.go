package tools

import (
	"context"
	"slices"

	"annotator"
	"annotator/codex"
)

// AskName is the tool by which the model asks a person.
const AskName = "ask_person"

type askArguments struct {
	Entry    entryRef `json:"entry" also:"integer" shown:"integer" jsonschema:"its id or term"`
	Question string   `json:"question" jsonschema:"one sentence"`
	Answers  []string `json:"answers,omitempty" jsonschema:"to choose from"`
}

// Limits of questions to a person, who has little time.
const (
	maxAsked            = 3 // by a scene
	maxWaiting          = 2 // about an entry
	maxAnswers          = 5 // that a question suggests
	maxQuestionToPerson = 500
)

// ask files a question to a person. The model goes on without the answer.
func ask(ctx context.Context, env *Env, a askArguments) (Result, error) {
	e, err := env.entryBy(ctx, a.Entry)
	if err != nil {
		return Result{}, err
	}
	q := &annotator.Question{Entry: e.ID, Scene: env.Scene.N}
	if q.Text, err = codex.Text("question", a.Question, maxQuestionToPerson); err != nil {
		return Result{}, err
	}
	for _, answer := range a.Answers[:min(len(a.Answers), maxAnswers)] {
		text, err := codex.Text("answer", answer, codex.MaxName)
		if err != nil {
			return Result{}, err
		}
		q.Answers = append(q.Answers, text)
	}
	asked, err := env.Glossary.Questions(ctx)
	if err != nil {
		return Result{}, err
	}
	if err := mayAsk(q, asked); err != nil {
		return Result{}, err
	}
	q.ID = int64(len(asked)) + 1
	content := annotator.EncodeJSON(struct {
		OK       bool  `json:"ok"`
		Question int64 `json:"question"`
	}{true, q.ID})
	return Result{Content: content, Question: q}, nil
}

// mayAsk refuses a question that has been asked, and more than people can be expected to answer.
func mayAsk(q *annotator.Question, asked []annotator.Question) error {
	var waiting []int64
	scene := 0
	for i := range asked {
		other := &asked[i]
		if other.Scene == q.Scene {
			scene++
		}
		if other.Entry != q.Entry {
			continue
		}
		if codex.Normalize(other.Text) == codex.Normalize(q.Text) {
			return failf(Duplicate, "question %d asks this", other.ID)
		}
		if !other.Answered {
			waiting = append(waiting, other.ID)
		}
	}
	switch {
	case len(waiting) >= maxWaiting:
		return failf(Duplicate, "entry %d has %d questions that wait for an answer; the last is question %d: %s",
			q.Entry, len(waiting), slices.Max(waiting), asked[slices.Max(waiting)-1].Text)
	case scene >= maxAsked:
		return failf(AskLimit, "this scene has asked %d questions, which is as many as it may", scene)
	}
	return nil
}
