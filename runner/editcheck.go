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
func (r *Runner) editCheck(g *storage.Glossary) func(context.Context, *annotator.Entry, []annotator.Revision) error {
	return func(ctx context.Context, e *annotator.Entry, revisions []annotator.Revision) error {
		if !codex.Destructive(revisions) {
			return nil
		}
		own, err := g.OfScene(ctx, r.scene.row.N, r.scene.turn)
		if err != nil {
			return err
		}
		named, err := r.mayRemoveFrom(ctx, e, own)
		if err == nil && !named {
			named = r.revealsName(revisions)
		}
		if err == nil && !named {
			err = &tools.Failure{Code: tools.NotMentioned, Message: fmt.Sprintf("scene %d does not name entry %d, %q: it may add to it, "+
				"and take nothing away from it", r.scene.row.N, e.ID, e.Name())}
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
	n := r.scene.row.N
	if e.First.Scene() == n && e.Last.Scene() == n {
		return true, nil
	}
	var names, anyCase []string
	for _, alias := range e.Aliases {
		if alias.From.Scene() < n {
			names, anyCase = append(names, alias.Name), append(anyCase, strings.ToLower(alias.Name)) // which is found in any case
		}
	}
	if len(indexOf(anyCase...).Find(r.scene.story())) > 0 {
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
