package tools

import (
	"context"

	"annotator/codex"
)

type summonContinueArguments struct {
	Message string `json:"message" jsonschema:"the next question"`
}

func summonContinue(ctx context.Context, env *Env, a summonContinueArguments) (Result, error) {
	question, err := codex.Text("message", a.Message, maxQuestion)
	if err != nil {
		return Result{}, err
	}
	return env.answerResult(env.Snapshots.Continue(ctx, question))
}
