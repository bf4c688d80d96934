package tools

import (
	"context"
	_ "embed"

	"annotator/codex"
)

//go:embed summon_continue.md
var summonContinueText string

type summonContinueArguments struct {
	Message string `json:"message" jsonschema:"the next question"`
}

func summonContinueTool() Tool {
	return Define("summon_continue", Summons, summonContinueText, summonContinue)
}

func summonContinue(ctx context.Context, env *Env, a summonContinueArguments) (Result, error) {
	question, err := codex.Text("message", a.Message, maxQuestion)
	if err != nil {
		return Result{}, err
	}
	return answerResult(env.Snapshots.Continue(ctx, question))
}
