package entries

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"

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
	c := &check{Rules: r, CheckedEdit: edit, own: own, story: annotator.Bodies(r.Scene.Posts)}
	refused, err := c.refused(ctx)
	switch {
	case err != nil:
		return err
	case refused != "":
		return &tools.Failure{
			Code: tools.NotMentioned,
			Message: fmt.Sprintf("scene %d has no distinctive word of the names of entry %d, %q%s", r.Scene.N,
				edit.Before.ID, edit.Before.Name(), c.instead(refused)),
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

// instead returns what a scene may do where it may not take away a value of a field.
func (c *check) instead(field annotator.Field) string {
	switch {
	case field == annotator.FieldClaim:
		return ": close a state, claim or guess by a fact of this call with a quote of this scene; add to the rest"
	case field == annotator.FieldMerge && c.Into != nil && !c.intoNamed:
		return fmt.Sprintf(", nor of those of entry %d, %q: add to them, and merge them with a scene that names one",
			c.Into.ID, c.Into.Name())
	case field == annotator.FieldMerge:
		return ": first add a fact to it with a quote of this scene; then merge it into one that the scene names"
	case field == annotator.FieldTerm:
		return ": give the new name as an alias, or merge the entry first with the one of this scene that it is"
	}
	return ": leave it, or add to it"
}

// check is an edit that takes something away.
type check struct {
	*Rules
	*tools.CheckedEdit
	own       []annotator.Revision // that the scene has made before
	story     string               // the scene's text
	intoNamed bool                 // the scene names the entry into which this one is merged
}

// refused returns the field of the first revision that takes away what the scene may not; empty for none. From an entry
// that it names, or that it alone has made, it may take everything.
func (c *check) refused(ctx context.Context) (annotator.Field, error) {
	made := slices.DeleteFunc(slices.Clone(c.own), func(v annotator.Revision) bool { return v.Entry != c.Before.ID })
	named, err := c.names(ctx, c.Before)
	if named || err != nil || len(made) == c.Before.Revisions {
		return "", err
	}
	if c.Into != nil {
		if c.intoNamed, err = c.names(ctx, c.Into); err != nil {
			return "", err
		}
	}
	mergeable := c.intoNamed && c.quoted()
	identified, err := c.identified(ctx)
	if err != nil {
		return "", err
	}
	for i := range c.Revisions {
		v := &c.Revisions[i]
		allowed := mergeable && v.Field == annotator.FieldMerge || !codex.Destructive(c.Revisions[i:i+1])
		if !allowed && !c.mayTake(v, identified) {
			return v.Field, nil
		}
	}
	return "", nil
}

// names reports whether a distinctive word of a name of an entry is in the scene, or whether the narration addresses
// the entry. Names that the scene itself has given do not count. An entry that the scene has merged with one that it
// does not name counts as not named, since it has the facts of both.
func (c *check) names(ctx context.Context, e *annotator.Entry) (bool, error) {
	names := slices.DeleteFunc(e.Names(), func(name string) bool { return gives(c.own, e.ID, name) })
	usage, err := c.Names.Usage(ctx, c.Scene.Order)
	if err != nil {
		return false, err
	}
	if !usage.Names(c.story, names) {
		addressed, err := c.Names.addressed(ctx, c.Scene, c.own)
		if addressed != e.ID || err != nil {
			return false, err
		}
	}
	sources, named, err := c.merged(ctx, e)
	return named == sources, err
}

// merged returns how many entries the scene has merged into one, and how many of these it names.
func (c *check) merged(ctx context.Context, into *annotator.Entry) (sources, named int, err error) {
	for i := range c.own {
		if v := &c.own[i]; v.Field == annotator.FieldMerge && v.New == strconv.FormatInt(into.ID, 10) {
			source, err := c.Glossary.Entry(ctx, v.Entry)
			if err != nil {
				return 0, 0, err
			}
			is, err := c.names(ctx, source)
			if err != nil {
				return 0, 0, err
			}
			if sources++; is {
				named++
			}
		}
	}
	return sources, named, nil
}

// identified reports whether the scene has merged entries that it names into the entry, and no others.
func (c *check) identified(ctx context.Context) (bool, error) {
	sources, named, err := c.merged(ctx, c.Before)
	return sources > 0 && named == sources, err
}

// gives reports whether some revisions give an entry a name.
func gives(revisions []annotator.Revision, entry int64, name string) bool {
	return slices.ContainsFunc(revisions, func(v annotator.Revision) bool {
		alias, is := valueOf[annotator.Alias](&v, annotator.FieldAlias, v.New)
		return is && v.Entry == entry && codex.Normalize(alias.Name) == codex.Normalize(name)
	})
}

// quoted reports whether the scene has supported a fact of the entry by its own words. To confirm a guess of another
// scene about it takes such words, too.
func (c *check) quoted() bool {
	return slices.ContainsFunc(c.own, func(v annotator.Revision) bool {
		evidence, is := valueOf[annotator.Evidence](&v, annotator.FieldEvidence, v.New)
		claim, closed := valueOf[annotator.Claim](&v, annotator.FieldClaim, v.New)
		confirmed := closed && claim.Ended == annotator.EndConfirmed && !c.adds(claim.ID)
		return v.Entry == c.Before.ID && (is && c.has(evidence) || confirmed)
	})
}

// adds reports whether the scene has added a fact of the entry.
func (c *check) adds(fact int64) bool {
	return slices.ContainsFunc(c.own, func(v annotator.Revision) bool {
		claim, is := valueOf[annotator.Claim](&v, annotator.FieldClaim, v.New)
		return is && v.Entry == c.Before.ID && v.Old == "" && claim.ID == fact
	})
}

// has reports whether a quotation is of the scene.
func (c *check) has(evidence annotator.Evidence) bool {
	return slices.ContainsFunc(c.Scene.Posts, func(p annotator.Post) bool { return p.ID == evidence.Post })
}

// mayTake reports whether a scene may take away a value of an entry that it does not name. It may take what it has
// added. A fact that it quotes may end what is still open: a state, a claim or a guess. A name that the scene has
// may take the place of a description. So it may of any name, once the scene has shown that the entry is one that it
// names.
// The former name stays as an alias.
func (c *check) mayTake(v *annotator.Revision, identified bool) bool {
	switch v.Field {
	case annotator.FieldAlias:
		alias, is := valueOf[annotator.Alias](v, v.Field, v.Old)
		return is && gives(c.undoable(), v.Entry, alias.Name)
	case annotator.FieldTerm:
		term, _ := codex.SplitName(v.New)
		return (identified || !isName(v.Old)) && isName(term) && len(indexOf(term).Find(c.story)) > 0
	case annotator.FieldClaim:
		closed, is := valueOf[annotator.Claim](v, v.Field, v.New)
		open := closed.State || closed.Kind == annotator.Claimed || closed.Kind == annotator.Inferred
		told := c.Told != nil && slices.ContainsFunc(c.Told.Evidence, c.has)
		return is && (c.added(closed.ID) || open && (c.supports(closed.ReplacedBy) || told))
	}
	return false
}

// undoable returns the revisions of the scene's calls that merged nothing. What a merge has moved, others have added.
func (c *check) undoable() []annotator.Revision {
	return slices.DeleteFunc(slices.Clone(c.own), func(v annotator.Revision) bool {
		return slices.ContainsFunc(c.own, func(merge annotator.Revision) bool {
			return merge.Field == annotator.FieldMerge && merge.Trace == v.Trace
		})
	})
}

// added reports whether the scene has added a fact, and has closed none by it.
func (c *check) added(fact int64) bool {
	added, replaces := false, func(f annotator.Claim) bool { return f.ReplacedBy == fact }
	for _, v := range c.undoable() {
		claim, is := valueOf[annotator.Claim](&v, annotator.FieldClaim, v.New)
		if is && v.Entry == c.Before.ID {
			added = added && !replaces(claim) || claim.ID == fact && v.Old == ""
		}
	}
	return added && !slices.ContainsFunc(c.Now.Claims, replaces)
}

// supports reports whether the scene has words that support a fact of the entry, as the call has made it so far.
func (c *check) supports(fact int64) bool {
	return slices.ContainsFunc(c.Now.Claims, func(f annotator.Claim) bool {
		return f.ID == fact && slices.ContainsFunc(f.Evidence, c.has)
	})
}

// isName reports whether a text has a capital letter, as a name has and a description does not. In scripts without case
// no text is a description.
func isName(text string) bool {
	return strings.ContainsFunc(text, unicode.IsUpper) || !strings.ContainsFunc(text, unicode.IsLower)
}

// valueOf reads the value of a revision, and reports whether it is one of a field.
func valueOf[T any](v *annotator.Revision, field annotator.Field, text string) (value T, is bool) {
	is = v.Field == field && text != "" && json.Unmarshal([]byte(text), &value) == nil
	return value, is
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

// indexOf returns an index of a name of one entry.
func indexOf(name string) *mention.Index {
	index := mention.New()
	index.SetNames(1, []string{name})
	return index
}
