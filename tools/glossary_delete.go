package tools

import (
	"context"

	"annotator/codex"
)

type deleteArguments struct {
	EntryID int64  `json:"entry_id" jsonschema:"the entry's id"`
	Reason  string `json:"reason" jsonschema:"why it does not belong in the glossary, in one sentence"`
	closing
}

func retire(ctx context.Context, env *Env, a deleteArguments) (Result, error) {
	e, err := env.entry(ctx, a.EntryID)
	if err != nil {
		return Result{}, err
	}
	revisions, err := codex.Retire(e, a.Reason, env.Actor, env.Scene.End())
	if err != nil {
		return Result{}, err
	}
	return env.change(ctx, e, revisions)
}
