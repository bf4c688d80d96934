package tools

import (
	"context"
	"fmt"

	"annotator"
	"annotator/codex"
)

type updateArguments struct {
	Entry   entryRef          `json:"entry_id" also:"integer" shown:"integer" jsonschema:"the entry's id"`
	Facts   []factArguments   `json:"facts,omitempty" shown:"brief" jsonschema:"what is not among its facts yet, each as for glossary_create"`
	Close   []closeArguments  `json:"close,omitempty" jsonschema:"facts that no longer hold, or are wrong"`
	Reword  []rewordArguments `json:"reword,omitempty" jsonschema:"facts that were badly put, or lack their relation"`
	Move    []moveArguments   `json:"move,omitempty" jsonschema:"facts to another entry"`
	Term    *string           `json:"term,omitempty" jsonschema:"a new name; the old one stays as an alias"`
	Aliases []string          `json:"aliases,omitempty" jsonschema:"names to add"`
	Drop    []string          `json:"drop_aliases,omitempty" jsonschema:"wrong ones"`
	Tags    []string          `json:"tags,omitempty" jsonschema:"all of them, in place of the present ones"`
	Status  *annotator.Status `json:"status,omitempty" enum:"tentative,confirmed" jsonschema:"as for glossary_create"`
	closing
}

func (a *updateArguments) isEmpty() bool {
	return a.Term == nil && a.Tags == nil && a.Status == nil &&
		len(a.Aliases)+len(a.Drop)+len(a.Facts)+len(a.Close)+len(a.Reword)+len(a.Move) == 0
}

func update(ctx context.Context, env *Env, a updateArguments) (Result, error) {
	e, err := env.entryToUpdate(ctx, &a)
	if err != nil {
		return Result{}, err
	}
	if a.isEmpty() { // it only says that the scene is done
		return env.edit(ctx, e).answer()
	}
	_, refused := codex.Revise(e, codex.Edit{Actor: env.Actor})
	if refused != nil && !isLocked(refused) { // nothing of it may be changed
		return Result{}, refused
	}
	facts, err := env.groundFacts(ctx, taken(a.Facts))
	if err != nil {
		return Result{}, err
	}
	at := env.earliest(facts)
	ed := env.edit(ctx, e)
	if a.Term != nil {
		ed.rename(*a.Term, a.Facts, at)
	}
	ed.names(a.Aliases, at)
	ed.dropNames(a.Drop, at)
	ed.addFacts(facts, len(a.Facts), a.Close)
	ed.closeFacts(a.Close, env.Scene.End())
	ed.reword(a.Reword, env.Scene.End())
	ed.move(a.Move, env.Scene.End())
	ed.describe(a.Tags, a.Status, at)
	if refused != nil { // each part is refused for the same reason, and may be suggested
		failure := failureOf(refused)
		failure.Suggests = ed.suggests
		return Result{}, failure
	}
	return ed.answer()
}

// rename takes a new name, unless another entry has it.
func (ed *editor) rename(term string, facts []factArguments, at annotator.Place) {
	part := refusedPart{Term: truncate(term, maxWhy)}
	if err := ed.env.checkNameFree(ed.ctx, term, ed.stored.ID, facts); err != nil {
		ed.refuse(part, err)
		return
	}
	ed.take(part, codex.Edit{Name: &term, At: at})
}

// entryToUpdate returns the entry of an update. It fails if the update neither changes anything nor ends its scene.
func (env *Env) entryToUpdate(ctx context.Context, a *updateArguments) (*annotator.Entry, error) {
	e, err := env.entryBy(ctx, a.Entry)
	if failure := failureOf(err); failure != nil && a.Term != nil {
		failure.Message += fmt.Sprintf("; if nothing goes by %.200q yet, glossary_create makes an entry", *a.Term)
		return nil, failure
	}
	if err == nil && a.isEmpty() && !a.Done {
		err = &Failure{
			Code: UpdateFailed, Entry: e,
			Message: "no change was asked for; give at least one of facts, close, reword, move, term, aliases, " +
				"drop_aliases, tags and status",
		}
	}
	return e, err
}
