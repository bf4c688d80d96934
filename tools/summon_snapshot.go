package tools

import (
	"context"

	"annotator/codex"
)

type summonSnapshotArguments struct {
	SnapshotID int64  `json:"snapshot_id" jsonschema:"as list_snapshots names it"`
	Query      string `json:"query" jsonschema:"the first question"`
}

func summonSnapshot(ctx context.Context, env *Env, a summonSnapshotArguments) (Result, error) {
	question, err := codex.Text("query", a.Query, maxQuestion)
	if err != nil {
		return Result{}, err
	}
	return env.answerResult(env.Snapshots.Open(ctx, a.SnapshotID, question))
}
