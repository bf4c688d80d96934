package tools

import (
	"context"

	"annotator"
	"annotator/codex"
)

type deleteArguments struct {
	EntryID int64  `json:"entry_id" jsonschema:"the entry's id"`
	Reason  string `json:"reason" jsonschema:"why, in one sentence"`
	closing
}

func retire(ctx context.Context, env *Env, a deleteArguments) (Result, error) {
	e, err := env.entry(ctx, a.EntryID)
	if err != nil {
		return Result{}, err
	}
	revisions, err := codex.Retire(e, a.Reason, env.Actor, env.Scene.End())
	if err == nil && env.CheckEdit != nil {
		err = env.CheckEdit(ctx, &CheckedEdit{Before: e, Now: e, Revisions: revisions})
	}
	if err != nil {
		return Result{}, err
	}
	if e, err = env.Glossary.Revise(ctx, revisions); err != nil {
		return Result{}, err
	}
	answer := retireAnswer{OK: true, Entry: entryName{e.ID, e.Name()}, Status: e.Status}
	return Result{Content: annotator.EncodeJSON(answer), Changed: []int64{e.ID}}, nil
}

type retireAnswer struct {
	OK     bool             `json:"ok"`
	Entry  entryName        `json:"entry"`
	Status annotator.Status `json:"status"`
}
