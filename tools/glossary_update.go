package tools

import (
	"context"
	"fmt"

	"annotator"
	"annotator/codex"
)

type updateArguments struct {
	EntryID    int64             `json:"entry_id" jsonschema:"the entry's id"`
	Term       *string           `json:"term,omitempty" jsonschema:"a new name; the old one stays as an alias"`
	Definition *string           `json:"definition,omitempty" jsonschema:"the whole definition as it should read now: the sentences that still hold, word for word, and the new ones"`
	Tags       []string          `json:"tags,omitempty" jsonschema:"all tags that the entry should have; they replace the present ones"`
	Status     *annotator.Status `json:"status,omitempty" enum:"tentative,confirmed" jsonschema:"confirmed if the story leaves no doubt that it matters"`
	Aliases    []string          `json:"aliases,omitempty" jsonschema:"further names; they are added to the present ones"`
	citation
	Narrow bool `json:"narrow,omitempty" default:"false" jsonschema:"true if the definition is meant to say less than before, because the story has taken something back"`
	closing
}

func (a *updateArguments) isEmpty() bool {
	return a.Term == nil && a.Definition == nil && a.Tags == nil && a.Status == nil && len(a.Aliases) == 0 && a.Quote == ""
}

func update(ctx context.Context, env *Env, a updateArguments) (Result, error) {
	e, err := env.entryToUpdate(ctx, &a)
	if err != nil {
		return Result{}, err
	}
	a.Term, a.Definition, a.Aliases = unescapePointer(a.Term), unescapePointer(a.Definition), unescapeAll(a.Aliases)
	if a.Term != nil {
		if err := env.checkNameFree(ctx, *a.Term, e.ID); err != nil {
			return Result{}, err
		}
	}
	evidence, at, err := env.locate(ctx, a.citation)
	if err != nil {
		return Result{}, err
	}
	revisions, err := codex.Revise(e, codex.Edit{
		Name: a.Term, Definition: a.Definition, Tags: a.Tags, Aliases: a.Aliases, Status: a.Status,
		Evidence: evidence, Kind: a.Kind, DropsClaims: a.Narrow, Actor: env.Actor, At: at,
	})
	if err != nil {
		return Result{}, err
	}
	return env.change(ctx, e, revisions)
}

// entryToUpdate returns the entry of an update. It fails if the update changes nothing.
func (env *Env) entryToUpdate(ctx context.Context, a *updateArguments) (*annotator.Entry, error) {
	e, err := env.entry(ctx, a.EntryID)
	if failure := failureOf(err); failure != nil && a.Term != nil {
		failure.Message += fmt.Sprintf("; if nothing goes by %.200q yet, glossary_create makes an entry", *a.Term)
		return nil, failure
	}
	if err == nil && a.isEmpty() {
		err = &Failure{
			Code: UpdateFailed, Entry: e,
			Message: "no change was asked for; give at least one of term, definition, tags, status, aliases and quote",
		}
	}
	return e, err
}
