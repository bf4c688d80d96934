package main

import (
	"context"
	"fmt"
	"io"
	"strconv"
	"strings"

	"annotator"

	"github.com/spf13/cobra"
)

func newQuestions(a *app) *cobra.Command {
	var all bool
	cmd := &cobra.Command{
		Use:   "questions",
		Short: "List what the model asks a person",
		Long: longHelp(`
List the questions that the model asks a person while it reads, and that wait for an answer. `+
			"`annotator answer`"+` answers one. With --as-of, list what was asked and answered up to a point of the
story.`, exitMisused, exitHalted, exitInterrupted),
		Example: `  annotator questions
  annotator questions --all --as-of scene:40`,
		Args: arguments(0, 0),
	}
	cmd.Flags().BoolVar(&all, "all", false, "list those that are answered, too")
	return a.answersAsOf(cmd, func(ctx context.Context, v *codexView, _ []string) (result, error) {
		return readQuestions(ctx, v, all)
	})
}

// questionList is what `annotator questions` prints.
type questionList struct {
	limited
	Questions []personQuestion `json:"questions"`
}

// personQuestion is a question as it is printed.
type personQuestion struct {
	ID       int64    `json:"id"`
	Entry    int64    `json:"entry"` // about which it was asked
	Term     string   `json:"term"`  // of the entry; of the one that it was merged into
	Scene    int      `json:"scene"`
	Question string   `json:"question"`
	Answers  []string `json:"answers,omitempty"` // that the model suggests
	Answer   string   `json:"answer,omitempty"`  // of a person
	By       string   `json:"by,omitempty"`      // who has answered

	place string // of the scene, as people name it
}

func readQuestions(ctx context.Context, v *codexView, all bool) (*questionList, error) {
	questions, err := v.Questions(ctx)
	if err != nil {
		return nil, err
	}
	scenes := &sceneLabels{db: v.db}
	list := &questionList{limited: v.limited, Questions: []personQuestion{}}
	for i := range questions {
		q := &questions[i]
		if q.Answered && !all {
			continue
		}
		asked := personQuestion{
			ID: q.ID, Entry: q.Entry, Term: q.Name, Scene: q.Scene, Question: q.Text,
			Answers: q.Answers, place: scenes.label(ctx, q.Scene),
		}
		if q.Answer != nil {
			asked.Answer, asked.By = q.Answer.Text, q.Answer.By
		}
		list.Questions = append(list.Questions, asked)
	}
	return list, scenes.err
}

func (l *questionList) print(w io.Writer) {
	for i := range l.Questions {
		q := &l.Questions[i]
		fmt.Fprintf(w, "%d. %s (#%d, %s)\n   %s\n", q.ID, oneLine(q.Term), q.Entry, q.place, oneLine(q.Question))
		if len(q.Answers) > 0 {
			fmt.Fprintf(w, "   perhaps: %s\n", oneLine(strings.Join(q.Answers, " | ")))
		}
		if q.Answer != "" {
			by := q.By
			if by == "" {
				by = "a person"
			}
			fmt.Fprintf(w, "   %s: %s\n", oneLine(by), oneLine(q.Answer))
		}
	}
	if len(l.Questions) == 0 {
		fmt.Fprintln(w, "no question waits for an answer")
	}
}

func newAnswer(a *app) *cobra.Command {
	return a.edits(&cobra.Command{
		Use: "answer QUESTION TEXT", Short: "Answer a question of the model",
		Long: `Answer a question of the model: ` + "`annotator questions`" + ` lists them with their numbers. ` +
			`The model reads the answer with the next scene that names the entry. The codex is not changed. ` +
			`Under a limit an answer is seen from where the story was read to, or from --at. ` +
			`Another answer takes its place.`,
		Example: `  annotator answer 3 "Yes, she is the keeper's daughter."`,
	}, 2, func(_ context.Context, _ *editView, args []string) (op annotator.Operation, err error) {
		op = annotator.Operation{Do: annotator.DeedAnswer, Text: args[1]}
		if op.Question, err = strconv.ParseInt(args[0], 10, 64); err != nil {
			err = annotator.Errorf(annotator.Misused, "%q is no number of a question", args[0]).
				WithAdvice("`annotator questions` lists them")
		}
		return op, err
	})
}
