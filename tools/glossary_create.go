package tools

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"annotator"
	"annotator/codex"
)

type createArguments struct {
	Term    string           `json:"term" jsonschema:"the name by which the story calls it; only where two things share it, with what it is: Dawn (ship)"`
	Facts   []factArguments  `json:"facts,omitempty" shown:"required" jsonschema:"what the story has told of it so far"`
	Tags    []string         `json:"tags" jsonschema:"what sort of thing it is: person, place, group, object, substance, creature, event, rank, concept, or another word"`
	Status  annotator.Status `json:"status,omitempty" enum:"tentative,confirmed" default:"tentative" jsonschema:"confirmed if a quote shows that the narration vouches for it, tentative while it is only spoken of or guessed at"`
	Aliases []string         `json:"aliases,omitempty" jsonschema:"other names of it in the story"`
	closing
}

func create(ctx context.Context, env *Env, a createArguments) (Result, error) {
	if err := env.checkNameFree(ctx, a.Term, 0, a.Facts); err != nil {
		return Result{}, err
	}
	if err := env.checkKind(a.Tags); err != nil {
		return Result{}, err
	}
	facts, err := env.groundFacts(ctx, taken(a.Facts))
	if err != nil {
		return Result{}, err
	}
	at := env.earliest(facts)
	ed := env.edit(ctx, &annotator.Entry{})
	if !ed.take(refusedPart{Term: a.Term}, codex.Edit{Name: &a.Term, At: at}) {
		return Result{}, ed.failure()
	}
	ed.describe(a.Tags, &a.Status, at)
	ed.names(a.Aliases, at)
	ed.addFacts(facts, len(a.Facts), nil)
	if len(a.Facts) == 0 {
		ed.refuse(refusedPart{Part: "facts"}, failf(Empty, "an entry has facts"))
	}
	if len(ed.entry.Claims) == 0 { // an entry needs more than names
		return Result{}, ed.failure()
	}
	return ed.answer()
}

// earliest returns the earliest place of some facts; without facts, the scene's end.
func (env *Env) earliest(facts []groundedFact) annotator.Place {
	if len(facts) == 0 {
		return env.Scene.End()
	}
	return slices.MinFunc(facts, func(a, b groundedFact) int { return cmp.Compare(a.at, b.at) }).at
}

// checkKind checks that tags have one of the kinds to which the codex is limited.
func (env *Env) checkKind(tags []string) error {
	clean, err := codex.Tags(tags)
	isKind := func(tag string) bool { return slices.Contains(env.Kinds, tag) }
	if err != nil || env.Kinds == nil || slices.ContainsFunc(clean, isKind) {
		return err
	}
	return failf(OutOfScope, "this codex has entries of these kinds only, as tags: %s; leave others out",
		strings.Join(env.Kinds, ", "))
}
