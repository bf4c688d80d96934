package tools

import (
	"context"
	"slices"

	"annotator"
	"annotator/codex"
)

type deleteArguments struct {
	EntryID int64    `json:"entry_id" jsonschema:"its id"`
	Reason  string   `json:"reason" jsonschema:"why, in one sentence"`
	SameAs  entryRef `json:"same_as,omitempty" also:"integer" shown:"string" jsonschema:"that one, by its id or term; it gets all names and facts"`
	closing
}

func retire(ctx context.Context, env *Env, a deleteArguments) (Result, error) {
	e, err := env.entry(ctx, a.EntryID)
	if err != nil {
		return Result{}, err
	}
	if a.SameAs != "" {
		return merge(ctx, env, e, a)
	}
	revisions, err := codex.Retire(e, a.Reason, env.Actor, env.Scene.End())
	if err == nil && env.CheckEdit != nil {
		err = env.CheckEdit(ctx, &CheckedEdit{Before: e, Now: e, Revisions: revisions})
	}
	if err != nil {
		return Result{}, suggested(err, annotator.Operation{Do: annotator.DeedHide, Entry: e.ID, Text: a.Reason})
	}
	if e, err = env.Glossary.Revise(ctx, revisions); err != nil {
		return Result{}, err
	}
	answer := retireAnswer{OK: true, Entry: entryName{e.ID, e.Name()}, Status: e.Status}
	return Result{Content: annotator.EncodeJSON(answer), Changed: []int64{e.ID}}, nil
}

// merge makes an entry one with the entry that it is. Nothing is lost but the entry of its own.
func merge(ctx context.Context, env *Env, e *annotator.Entry, a deleteArguments) (Result, error) {
	into, err := env.entryBy(ctx, a.SameAs)
	if err != nil {
		return Result{}, err
	}
	if _, err := codex.Text("reason", a.Reason, codex.MaxQuote); err != nil {
		return Result{}, err
	}
	if e, err = env.Glossary.WholeEntry(ctx, e.ID); err != nil { // closed claims move with their evidence
		return Result{}, err
	}
	if into, err = env.Glossary.WholeEntry(ctx, into.ID); err != nil {
		return Result{}, err
	}
	revisions, err := codex.Merge(e, into, env.Actor, env.Scene.End())
	if err == nil && env.CheckEdit != nil {
		err = env.CheckEdit(ctx, &CheckedEdit{Before: e, Now: e, Into: into, Revisions: revisions})
	}
	if err != nil && !codex.IsOther(e, into) {
		err = suggested(err, annotator.Operation{Do: annotator.DeedMerge, Entry: e.ID, Other: into.ID})
	}
	if err != nil {
		return Result{}, err
	}
	own := slices.IndexFunc(revisions, func(r annotator.Revision) bool { return r.Entry == e.ID })
	target := env.edit(ctx, into)
	if own > 0 {
		now, err := env.Glossary.Revise(ctx, revisions[:own])
		if err != nil {
			return Result{}, err
		}
		target.entry = *now
	}
	if e, err = env.Glossary.Revise(ctx, revisions[own:]); err != nil {
		return Result{}, err
	}
	answer := retireAnswer{
		OK: true, Entry: entryName{e.ID, e.Name()}, Status: e.Status,
		Into: &entryName{into.ID, into.Name()}, Added: target.added(),
	}
	return Result{Content: annotator.EncodeJSON(answer), Changed: []int64{into.ID, e.ID}}, nil
}

type retireAnswer struct {
	OK     bool             `json:"ok"`
	Entry  entryName        `json:"entry"`
	Status annotator.Status `json:"status"`
	Into   *entryName       `json:"into,omitempty"`  // what it was merged into
	Added  []int64          `json:"added,omitempty"` // the numbers that its facts have there
}
