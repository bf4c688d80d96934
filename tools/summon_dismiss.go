package tools

import (
	"context"
	_ "embed"

	"annotator/codex"
)

//go:embed summon_dismiss.md
var summonDismissText string

type summonDismissArguments struct {
	Summary string `json:"summary" jsonschema:"what you learned"`
}

func summonDismissTool() Tool {
	return Define("summon_dismiss", Summons, summonDismissText, summonDismiss)
}

func summonDismiss(ctx context.Context, env *Env, a summonDismissArguments) (Result, error) {
	summary, err := codex.Text("summary", a.Summary, maxQuestion)
	if err != nil {
		return Result{}, err
	}
	if err := env.Snapshots.Dismiss(ctx, summary); err != nil {
		return Result{}, err
	}
	return Result{Content: encode(struct {
		OK bool `json:"ok"`
	}{true})}, nil
}
