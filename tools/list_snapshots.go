package tools

import (
	"context"

	"annotator"
)

type listSnapshotsArguments struct {
	Limit        int    `json:"limit,omitempty" min:"1" max:"50" default:"20" jsonschema:"at most so many"`
	SnapshotType string `json:"snapshot_type,omitempty" enum:"checkpoint,manual,curator_fork" jsonschema:"only of this type"`
	ThreadID     int64  `json:"thread_id,omitempty" jsonschema:"only of this thread"`
}

func listSnapshots(ctx context.Context, env *Env, a listSnapshotsArguments) (Result, error) {
	found, err := env.Snapshots.List(ctx, a.SnapshotType, a.ThreadID, a.Limit)
	if err != nil {
		return Result{}, err
	}
	views := make([]snapshotView, len(found))
	for i := range found {
		views[i] = viewSnapshot(&found[i])
	}
	return Result{Content: annotator.EncodeJSON(struct {
		OK        bool           `json:"ok"`
		Count     int            `json:"count"`
		Snapshots []snapshotView `json:"snapshots"`
	}{true, len(views), views})}, nil
}
