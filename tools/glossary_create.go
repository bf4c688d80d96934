package tools

import (
	"context"

	"annotator"
	"annotator/codex"
)

type createArguments struct {
	Term       string           `json:"term" jsonschema:"the name by which the story calls it, with what it is in parentheses only where other things share the name: Dawn (ship)"`
	Definition string           `json:"definition" jsonschema:"what the story has told of it so far, in plain full sentences, one fact each"`
	Tags       []string         `json:"tags" jsonschema:"what sort of thing it is: person, place, group, object, creature, event, concept"`
	Status     annotator.Status `json:"status,omitempty" enum:"tentative,confirmed" default:"tentative" jsonschema:"confirmed if the story leaves no doubt that it matters"`
	Aliases    []string         `json:"aliases,omitempty" jsonschema:"other names by which the story calls it"`
	citation
	closing
}

func create(ctx context.Context, env *Env, a createArguments) (Result, error) {
	a.Term, a.Definition, a.Aliases = unescape(a.Term), unescape(a.Definition), unescapeAll(a.Aliases)
	if err := env.checkNameFree(ctx, a.Term, 0); err != nil {
		return Result{}, err
	}
	evidence, at, err := env.locate(ctx, a.citation)
	if err != nil {
		return Result{}, err
	}
	revisions, err := codex.Revise(&annotator.Entry{}, codex.Edit{
		Name: &a.Term, Definition: &a.Definition, Tags: a.Tags, Aliases: a.Aliases, Status: &a.Status,
		Evidence: evidence, Kind: a.Kind, Actor: env.Actor, At: at,
	})
	if err != nil {
		return Result{}, err
	}
	return env.write(ctx, 0, revisions)
}
