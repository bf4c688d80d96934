package entries

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

// Rules refuse, under any policy, destructive edits of entries that a scene does not name, and those beyond a cap. A
// story can order the model to destroy the codex, and the rules limit the effect. All that one call removes counts
// once.
type Rules struct {
	Scene    *annotator.Scene
	Turn     int64
	Cap      int // destructive edits
	Names    *Names
	Glossary *storage.Glossary
}

// Check returns why an edit is refused; nil if it is not.
func (r *Rules) Check(ctx context.Context, edit *tools.CheckedEdit) error {
	if !codex.Destructive(edit.Revisions) {
		return nil
	}
	own, err := r.Glossary.OfScene(ctx, r.Scene.N, r.Turn)
	if err != nil {
		return err
	}
	// Closed claims show what is recent, and what was replaced.
	before, err := r.Glossary.WholeEntry(ctx, edit.Before.ID)
	if err != nil {
		return err
	}
	edit = &tools.CheckedEdit{Before: before, Now: edit.Now, Into: edit.Into, Revisions: edit.Revisions}
	c := &check{Rules: r, CheckedEdit: edit, own: own, story: annotator.Bodies(r.Scene.Posts)}
	switch allowed, err := c.allowed(ctx); {
	case err != nil:
		return err
	case !allowed:
		return &tools.Failure{
			Code: tools.NotMentioned,
			Message: fmt.Sprintf("scene %d does not name entry %d, %q, so it takes nothing "+
				"away from it but states and claims that facts of this call replace, each with its quote", r.Scene.N,
				edit.Before.ID, edit.Before.Name()),
		}
	}
	if n := countDestructive(own); n >= r.Cap {
		return &tools.Failure{
			Code: tools.EditCap,
			Message: fmt.Sprintf("this scene has taken something away from the glossary %d times, "+
				"which is as often as a scene may; add to entries, or leave them as they are", n),
		}
	}
	return nil
}

// check is an edit that takes something away.
type check struct {
	*Rules
	*tools.CheckedEdit
	own   []annotator.Revision // that the scene has made before
	story string               // the scene's text
}

// allowed reports whether the scene may take away what the edit does.
func (c *check) allowed(ctx context.Context) (bool, error) {
	named, err := c.names(ctx, c.Before)
	if named || err != nil {
		return named, err
	}
	if replaces, err := c.replaces(ctx); replaces || err != nil || c.revealsName() || c.undoesOwn() {
		return err == nil, err
	}
	if c.Into == nil || !c.guessed() {
		return false, nil
	}
	return c.names(ctx, c.Into)
}

// names reports whether the scene names an entry, by a name that the entry had before the scene or by a part of one. It
// is also true if the narration addresses the entry, or if this scene alone has made and changed the entry. What the
// scene itself has changed does not count, or it could make itself name any entry.
func (c *check) names(ctx context.Context, e *annotator.Entry) (bool, error) {
	if e.First.Order() == c.Scene.Order && e.Last.Order() == c.Scene.Order {
		return true, nil
	}
	names := c.formerNames(e)
	if len(inAnyCase(names).Find(c.story)) > 0 {
		return true, nil
	}
	usage, err := c.Names.Usage(ctx, c.Scene.Order)
	if err != nil {
		return false, err
	}
	if len(indexOf(names...).Named(c.story, usage)) > 0 {
		return true, nil
	}
	addressed, err := c.Names.addressed(ctx, c.Scene, c.own)
	return addressed == e.ID, err
}

// formerNames returns the names that an entry had before the scene.
func (c *check) formerNames(e *annotator.Entry) (names []string) {
	given := namesGiven(c.own, e.ID)
	for _, alias := range e.Aliases {
		if alias.From.Order() < c.Scene.Order && !given[codex.Normalize(alias.Name)] {
			names = append(names, alias.Name)
		}
	}
	return names
}

// guessed reports whether an inferred fact that held before the scene says that the entry may be the one that it
// becomes. Such a fact names that entry. So a scene that names only the other entry can merge the two.
func (c *check) guessed() bool {
	index, added := inAnyCase(c.formerNames(c.Into)), factsAdded(c.own, c.Before.ID)
	return slices.ContainsFunc(c.Before.Claims, func(f annotator.Claim) bool {
		before := f.From.Order() < c.Scene.Order && !added[f.ID]
		return before && f.Until == 0 && f.Kind == annotator.Inferred && len(index.Find(f.Text)) > 0
	})
}

// recentScenes is the number of scenes before the present one whose things a reader still remembers. Such a thing may
// be called "the lamp" or "she".
const recentScenes = 3

// replaces reports whether the edit removes only facts for which it adds others that words of this scene support. These
// may be states of a thing of recent scenes, and claimed or inferred facts of any thing. A revelation need not name its
// subject. The story may never write the names of a thing, such as an event that the model has named. Of such a thing
// the edit may replace any fact of recent scenes. A scene that gives the entry a name has to use a former name.
// Otherwise it could rename an entry and then rewrite it.
func (c *check) replaces(ctx context.Context) (bool, error) {
	first, err := c.Names.before(ctx, c.Scene.Order, recentScenes)
	if err != nil {
		return false, err
	}
	added := factsAdded(c.own, c.Before.ID)
	isRecent := func(f annotator.Claim) bool {
		return f.From.Order() < c.Scene.Order && f.From.Order() >= first && !added[f.ID]
	}
	recent := slices.ContainsFunc(c.Before.Claims, isRecent)
	if len(namesGiven(c.own, c.Before.ID)) > 0 || len(c.Now.Aliases) > len(c.Before.Aliases) {
		return false, nil
	}
	written, err := c.Glossary.IsMentioned(ctx, c.Before.ID)
	return onlyCloses(c.Revisions, func(closed *annotator.Claim) bool {
		at := slices.IndexFunc(c.Now.Claims, func(f annotator.Claim) bool { return f.ID == closed.ReplacedBy })
		may := closed.State && recent || closed.Kind == annotator.Claimed || closed.Kind == annotator.Inferred ||
			!written && isRecent(*closed)
		return may && at >= 0 && slices.ContainsFunc(c.Now.Claims[at].Evidence, func(e annotator.Evidence) bool {
			return slices.ContainsFunc(c.Scene.Posts, func(p annotator.Post) bool { return p.ID == e.Post })
		})
	}), err
}

// undoesOwn reports whether the edit removes only what the scene itself has added: names, and facts that replaced
// nothing.
func (c *check) undoesOwn() bool {
	added, given := factsAdded(c.own, c.Before.ID), namesGiven(c.own, c.Before.ID)
	for _, claims := range [][]annotator.Claim{c.Before.Claims, c.Now.Claims} {
		for i := range claims {
			delete(added, claims[i].ReplacedBy)
		}
	}
	facts := slices.DeleteFunc(slices.Clone(c.Revisions), func(v annotator.Revision) bool {
		alias, is := valueOf[annotator.Alias](&v, annotator.FieldAlias, v.Old)
		return is && given[codex.Normalize(alias.Name)]
	})
	return onlyCloses(facts, func(closed *annotator.Claim) bool { return added[closed.ID] })
}

// revealsName reports whether the edit removes only a term, and replaces it with one that the scene has. The former
// term stays a name. A string of JSON in a scene is a part of a call that somebody wants made, and reveals nothing.
func (c *check) revealsName() bool {
	isTerm := func(v annotator.Revision) bool { return v.Field == annotator.FieldTerm }
	at := slices.IndexFunc(c.Revisions, isTerm)
	if at < 0 || codex.Destructive(slices.DeleteFunc(slices.Clone(c.Revisions), isTerm)) {
		return false
	}
	term, _ := codex.SplitName(c.Revisions[at].New)
	return len(indexOf(term).Find(strings.ReplaceAll(c.story, strconv.Quote(term), ""))) > 0
}

// valueOf reads the value of a revision, and reports whether it is one of a field.
func valueOf[T any](v *annotator.Revision, field annotator.Field, text string) (value T, is bool) {
	is = v.Field == field && text != "" && json.Unmarshal([]byte(text), &value) == nil
	return value, is
}

// namesGiven returns the names that revisions give to an entry, normalised.
func namesGiven(revisions []annotator.Revision, entry int64) map[string]bool {
	given := map[string]bool{}
	for i := range revisions {
		v := &revisions[i]
		if alias, is := valueOf[annotator.Alias](v, annotator.FieldAlias, v.New); is && v.Entry == entry {
			given[codex.Normalize(alias.Name)] = true
		}
	}
	return given
}

// factsAdded returns the ids of the facts that revisions add to an entry.
func factsAdded(revisions []annotator.Revision, entry int64) map[int64]bool {
	added := map[int64]bool{}
	for i := range revisions {
		v := &revisions[i]
		if claim, is := valueOf[annotator.Claim](v, annotator.FieldClaim, v.New); is && v.Entry == entry &&
			v.Old == "" {
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
		closed, is := valueOf[annotator.Claim](&revisions[i], annotator.FieldClaim, revisions[i].New)
		if !is || !may(&closed) {
			return false
		}
	}
	return true
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

// indexOf returns an index of the names of one entry.
func indexOf(names ...string) *mention.Index {
	index := mention.New()
	index.SetNames(1, names)
	return index
}

// inAnyCase returns an index of names that are found in a text in whatever case it writes them.
func inAnyCase(names []string) *mention.Index {
	lower := make([]string, len(names))
	for i := range names {
		lower[i] = strings.ToLower(names[i])
	}
	return indexOf(lower...)
}
