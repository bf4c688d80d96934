package web

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"annotator"
	"annotator/codex"
	"annotator/view"
)

// editEntry applies the operation that a form on an entry's page asks for.
func editEntry(r *request, id int64) (*page, error) {
	field := func(name string) string { return strings.TrimSpace(r.PostFormValue(name)) }
	op := annotator.Operation{Do: annotator.Deed(field("do")), Entry: id}
	op.Fact, _ = strconv.ParseInt(field("fact"), 10, 64) // 0: the entry, or a name
	switch op.Do {
	case annotator.DeedSplit, annotator.DeedLock, annotator.DeedUnlock, annotator.DeedEnd, annotator.DeedKeep:
	case annotator.DeedEdit:
		op.Text = field("text")
		if why, err := r.restate(&op); why != "" || err != nil {
			return r.refused(why), err
		}
	case annotator.DeedRename, annotator.DeedReject:
		op.Name = field("name")
	case annotator.DeedHide:
		op.Text = cmp.Or(field("text"), "hidden by a person")
	case annotator.DeedRetag:
		op.Tags = strings.Split(field("tags"), ",")
	case annotator.DeedAdd:
		op.Name, op.Text = field("name"), field("text")
		op.Identity, op.State = field("identity") != "", field("state") != ""
		op.Relation, op.Object = field("relation"), field("object")
		if why, err := r.quoteFor(&op); why != "" || err != nil {
			return r.refused(why), err
		}
	case annotator.DeedMerge, annotator.DeedNever:
		if why, err := r.findOther(&op); why != "" || err != nil {
			return r.refused(why), err
		}
	default:
		return nil, annotator.Errorf(annotator.Misused, "there is no form for %q", op.Do)
	}
	return r.editAndReturn(op)
}

// restate sets the words of a fact, and its relation if the form has another one. Otherwise it returns why it cannot.
func (r *request) restate(op *annotator.Operation) (why string, err error) {
	e, err := r.view.WithClaims(r.Context(), op.Entry, []int64{op.Fact})
	if err != nil || len(e.Claims) == 0 {
		return "", err // the rules say that there is no such fact
	}
	if !r.PostForm.Has("relation") {
		return "", nil
	}
	was := &e.Claims[0]
	relation, object := codex.CleanName(r.PostFormValue("relation")), codex.CleanName(r.PostFormValue("object"))
	switch {
	case relation == was.Relation && object == was.Object:
	case codex.HasWord(relation):
		op.Was, op.Relation, op.Object = was.Text, relation, object
	case was.Relation != "":
		return "A relation is not taken away so. Say that the fact is wrong, and add it without one.", nil
	default:
		return "What is this to the other entry? Write it as “sister of”.", nil
	}
	return "", nil
}

// quoteFor sets the evidence of a fact that is added, if the form quotes a scene. Otherwise it returns why it cannot.
func (r *request) quoteFor(op *annotator.Operation) (why string, err error) {
	quote := strings.TrimSpace(r.PostFormValue("quote"))
	if quote == "" || op.Name != "" {
		return "", nil
	}
	n, _ := strconv.Atoi(r.PostFormValue("scene"))
	if n < 1 || r.db.Story == nil {
		return "A quotation needs the number of its scene.", nil
	}
	scene, err := r.view.Scene(r.Context(), n)
	if isNotFound(err) {
		return "There is no such scene.", nil
	}
	if err != nil {
		return "", err
	}
	posts, err := r.db.Story.Scene(r.Context(), scene.Thread.ID, scene.Posts)
	if found, ok := codex.GroundIn(posts, quote); ok {
		op.Evidence = &found
		return "", nil
	}
	return "The scene does not have these words. Quote whole words as they stand there.", err
}

// findOther sets the other entry, which the form names. Otherwise it returns why it cannot.
func (r *request) findOther(op *annotator.Operation) (why string, err error) {
	found, err := r.view.Named(r.Context(), r.PostFormValue("other"))
	switch {
	case err != nil:
		return "", err
	case len(found) == 0:
		return "There is no entry with this name.", nil
	case len(found) > 1:
		return "Several entries have this name. Write the full name, with what is in parentheses.", nil
	}
	op.Other = found[0].ID
	return "", nil
}

// entryEdits are the forms of an entry that are not about one of its facts.
type entryEdits struct {
	Names  []string // all but the term
	Tags   string   // with commas between them
	Locked bool
	Merged []*annotator.Entry // they are part of the entry since a merge
	Past   []view.PastEdit    // the newest first
}

// fillEdits sets the forms, if the reader may edit.
func (shown *entryPage) fillEdits(r *request) (err error) {
	if !r.MayEdit() {
		return nil
	}
	const most = 10
	e := &entryEdits{Tags: strings.Join(shown.Tags, ", "), Locked: len(shown.Locks) > 0}
	for _, n := range shown.Names {
		e.Names = append(e.Names, n.Name)
	}
	if e.Past, err = r.view.EditsOf(r.Context(), shown.ID, most); err != nil {
		return err
	}
	ids, err := r.view.MergedInto(r.Context(), shown.ID, most)
	if err != nil {
		return err
	}
	entries, err := r.view.Headings(r.Context(), ids)
	e.Merged, shown.Edits = present(ids, entries), e
	for _, f := range shown.all() {
		f.Locked = slices.Contains(shown.Locks, codex.LockFact(f.ID))
	}
	return err
}

// all returns the facts of the page.
func (shown *entryPage) all() []*fact {
	facts := slices.Clone(shown.Opening)
	for _, p := range shown.Passages {
		facts = append(facts, p.Facts...)
	}
	return facts
}
