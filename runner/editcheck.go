package runner

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"annotator"
	"annotator/codex"
	"annotator/context/mention"
	"annotator/storage"
	"annotator/tools"
)

// editCheck returns a check that refuses destructive edits of entries that the scene does not name, and those beyond the cap, under
// any policy. It bounds what a story can do that orders the model to destroy the codex. All that one call takes away counts once.
func (r *Runner) editCheck(g *storage.Glossary) func(context.Context, *tools.CheckedEdit) error {
	return func(ctx context.Context, edit *tools.CheckedEdit) error {
		if !codex.Destructive(edit.Revisions) {
			return nil
		}
		own, err := g.OfScene(ctx, r.scene.row.N, r.scene.turn)
		if err != nil {
			return err
		}
		named, err := r.mayRemoveFrom(ctx, edit.Before, own)
		if err == nil && !named {
			named, err = r.replaces(ctx, g, edit, own)
			named = named || r.revealsName(edit.Revisions) || undoesOwn(edit, own)
		}
		if err == nil && !named && edit.Into != nil && r.guessed(edit.Before, edit.Into, own) {
			named, err = r.mayRemoveFrom(ctx, edit.Into, own)
		}
		if err == nil && !named {
			err = &tools.Failure{Code: tools.NotMentioned, Message: fmt.Sprintf("scene %d does not name entry %d, %q, so it takes nothing "+
				"away from it but states and claims that facts of this call replace, each with its quote", r.scene.row.N, edit.Before.ID, edit.Before.Name())}
		}
		if n := countDestructive(own); err == nil && n >= r.config.EditCap {
			err = &tools.Failure{Code: tools.EditCap, Message: fmt.Sprintf("this scene has taken something away from the glossary %d times, "+
				"which is as often as a scene may; add to entries, or leave them as they are", n)}
		}
		return err
	}
}

// mayRemoveFrom reports whether the scene at hand names an entry, by a name that the entry had before the scene or by a part of one,
// whether its narration addresses the entry, or whether the entry was made and changed by this scene alone. What the scene itself has
// changed does not count, or it could make itself name any entry.
func (r *Runner) mayRemoveFrom(ctx context.Context, e *annotator.Entry, own []annotator.Revision) (bool, error) {
	if n := r.scene.row.N; e.First.Scene() == n && e.Last.Scene() == n {
		return true, nil
	}
	names := r.formerNames(e, own)
	if len(indexOf(inAnyCase(names)...).Find(r.scene.story())) > 0 {
		return true, nil
	}
	usage, err := r.wordUsage(ctx)
	if err != nil {
		return false, err
	}
	if len(indexOf(names...).Named(r.scene.story(), usage)) > 0 {
		return true, nil
	}
	addressed, err := r.addressed(ctx, own)
	return addressed == e.ID, err
}

// formerNames returns the names that an entry had before the scene at hand.
func (r *Runner) formerNames(e *annotator.Entry, own []annotator.Revision) (names []string) {
	given := namesGiven(own, e.ID)
	for _, alias := range e.Aliases {
		if alias.From.Scene() < r.scene.row.N && !given[codex.Normalize(alias.Name)] {
			names = append(names, alias.Name)
		}
	}
	return names
}

// inAnyCase returns names that are found in a text in whatever case it writes them.
func inAnyCase(names []string) []string {
	lower := make([]string, len(names))
	for i := range names {
		lower[i] = strings.ToLower(names[i])
	}
	return lower
}

// guessed reports whether it was told before the scene at hand that an entry may be another one: an inferred fact of it that holds names
// that one. So the two become one when a scene shows it that names only the other; what a scene orders is no such fact.
func (r *Runner) guessed(e, other *annotator.Entry, own []annotator.Revision) bool {
	index, added := indexOf(inAnyCase(r.formerNames(other, own))...), factsAdded(own, e.ID)
	return slices.ContainsFunc(e.Claims, func(c annotator.Claim) bool {
		before := c.From.Scene() < r.scene.row.N && !added[c.ID]
		return before && c.Until == 0 && c.Kind == annotator.Inferred && len(index.Find(c.Text)) > 0
	})
}

// namesGiven returns the names that revisions give to an entry, normalised.
func namesGiven(revisions []annotator.Revision, entry int64) map[string]bool {
	given := map[string]bool{}
	for i := range revisions {
		if v := &revisions[i]; v.Entry == entry && v.Field == annotator.FieldAlias {
			var alias annotator.Alias
			if json.Unmarshal([]byte(v.New), &alias) == nil {
				given[codex.Normalize(alias.Name)] = true
			}
		}
	}
	return given
}

// recentScenes is in how many scenes before the one at hand a thing was told of that is still before the reader's eyes. Such a thing
// goes by "the lamp" or "she".
const recentScenes = 3

// replaces reports whether an edit takes nothing away but facts in whose place it puts others that words of this scene bear out:
// states of a thing of recent scenes, and what was only claimed or inferred of any. A revelation need not name what it is about. Of
// a thing whose names the story nowhere writes, as of an event that the model has named, these may be all that recent scenes told. A
// scene that gives the entry a name has to name it as it was called before, or it could rename an entry and then rewrite it.
func (r *Runner) replaces(
	ctx context.Context, g *storage.Glossary, edit *tools.CheckedEdit, own []annotator.Revision,
) (bool, error) {
	n, added := r.scene.row.N, factsAdded(own, edit.Before.ID)
	isRecent := func(c annotator.Claim) bool {
		return c.From.Scene() < n && c.From.Scene() >= n-recentScenes && !added[c.ID]
	}
	recent := slices.ContainsFunc(edit.Before.Claims, isRecent)
	if len(namesGiven(own, edit.Before.ID)) > 0 || len(edit.Now.Aliases) > len(edit.Before.Aliases) {
		return false, nil
	}
	written, err := g.IsMentioned(ctx, edit.Before.ID)
	return onlyCloses(edit.Revisions, func(closed *annotator.Claim) bool {
		at := slices.IndexFunc(edit.Now.Claims, func(c annotator.Claim) bool { return c.ID == closed.ReplacedBy })
		may := closed.State && recent || closed.Kind == annotator.Claimed || closed.Kind == annotator.Inferred || !written && isRecent(*closed)
		return may && at >= 0 && slices.ContainsFunc(edit.Now.Claims[at].Evidence, func(e annotator.Evidence) bool {
			return slices.ContainsFunc(r.scene.Posts, func(p annotator.Post) bool { return p.ID == e.Post })
		})
	}), err
}

// undoesOwn reports whether an edit takes nothing away but names that the scene itself has given, and facts that it has added and that
// replaced nothing.
func undoesOwn(edit *tools.CheckedEdit, own []annotator.Revision) bool {
	added, given := factsAdded(own, edit.Before.ID), namesGiven(own, edit.Before.ID)
	for i := range edit.Now.Claims {
		delete(added, edit.Now.Claims[i].ReplacedBy)
	}
	facts := slices.DeleteFunc(slices.Clone(edit.Revisions), func(v annotator.Revision) bool {
		var alias annotator.Alias
		return v.Field == annotator.FieldAlias && v.Old != "" && json.Unmarshal([]byte(v.Old), &alias) == nil && given[codex.Normalize(alias.Name)]
	})
	return onlyCloses(facts, func(closed *annotator.Claim) bool { return added[closed.ID] })
}

// factsAdded returns the ids of the facts that revisions add to an entry.
func factsAdded(revisions []annotator.Revision, entry int64) map[int64]bool {
	added := map[int64]bool{}
	for i := range revisions {
		var claim annotator.Claim
		if v := &revisions[i]; v.Entry == entry && v.Field == annotator.FieldClaim && v.Old == "" && json.Unmarshal([]byte(v.New), &claim) == nil {
			added[claim.ID] = true
		}
	}
	return added
}

// onlyCloses reports whether revisions take nothing away but facts for which a condition holds.
func onlyCloses(revisions []annotator.Revision, may func(*annotator.Claim) bool) bool {
	for i := range revisions {
		if !codex.Destructive(revisions[i : i+1]) {
			continue
		}
		var closed annotator.Claim
		if revisions[i].Field != annotator.FieldClaim || json.Unmarshal([]byte(revisions[i].New), &closed) != nil || !may(&closed) {
			return false
		}
	}
	return true
}

// indexOf returns an index of the names of one entry.
func indexOf(names ...string) *mention.Index {
	index := mention.New()
	index.SetNames(1, names)
	return index
}

// revealsName reports whether revisions take nothing away but a term, for one that the scene has. The former term stays a name. What
// stands in a scene as a string of JSON is a part of a call, which somebody wants made, and reveals nothing.
func (r *Runner) revealsName(revisions []annotator.Revision) bool {
	at := slices.IndexFunc(revisions, func(v annotator.Revision) bool { return v.Field == annotator.FieldTerm })
	if at < 0 {
		return false
	}
	others := slices.DeleteFunc(slices.Clone(revisions), func(v annotator.Revision) bool { return v.Field == annotator.FieldTerm })
	if codex.Destructive(others) {
		return false
	}
	term, _ := codex.SplitName(revisions[at].New)
	return len(indexOf(term).Find(strings.ReplaceAll(r.scene.story(), strconv.Quote(term), ""))) > 0
}

// countDestructive counts the calls that took something away, by the revisions of a scene.
func countDestructive(revisions []annotator.Revision) int {
	edits := map[int64][]annotator.Revision{}
	for _, revision := range revisions {
		edits[revision.Trace] = append(edits[revision.Trace], revision)
	}
	n := 0
	for _, edit := range edits {
		if codex.Destructive(edit) {
			n++
		}
	}
	return n
}

// quoted returns the quotations that revisions add.
func quoted(revisions []annotator.Revision) (quotations []storage.QuotationOf, err error) {
	for i := range revisions {
		if r := &revisions[i]; r.Field == annotator.FieldEvidence {
			var evidence annotator.Evidence
			if err := json.Unmarshal([]byte(r.New), &evidence); err != nil {
				return nil, err
			}
			quotations = append(quotations, storage.QuotationOf{Entry: r.Entry, Text: evidence.Quote})
		}
	}
	return quotations, nil
}
