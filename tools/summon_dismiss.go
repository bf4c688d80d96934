package tools

import (
	"context"

	"annotator"
	"annotator/codex"
)

type summonDismissArguments struct {
	Summary string `json:"summary" jsonschema:"what you learned"`
}

func summonDismiss(ctx context.Context, env *Env, a summonDismissArguments) (Result, error) {
	summary, err := codex.Text("summary", a.Summary, maxQuestion)
	if err != nil {
		return Result{}, err
	}
	if err := env.Snapshots.Dismiss(ctx, summary); err != nil {
		return Result{}, err
	}
	return Result{Content: annotator.EncodeJSON(struct {
		OK bool `json:"ok"`
	}{true})}, nil
}
