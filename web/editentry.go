package web

import (
	"strconv"
	"strings"

	"annotator"
	"annotator/codex"
)

// editEntry applies the operation that a form on an entry's page asks for.
func editEntry(r *request, id int64) (*page, error) {
	op := annotator.Operation{
		Do: annotator.Deed(r.PostFormValue("do")), Entry: id,
		Name: strings.TrimSpace(r.PostFormValue("name")), Text: strings.TrimSpace(r.PostFormValue("text")),
		Identity: r.PostFormValue("identity") != "", State: r.PostFormValue("state") != "",
	}
	op.Fact, _ = strconv.ParseInt(r.PostFormValue("fact"), 10, 64) // 0: the entry, or a name
	switch op.Do {
	case annotator.DeedEdit, annotator.DeedReject, annotator.DeedRename, annotator.DeedSplit, annotator.DeedLock,
		annotator.DeedUnlock, annotator.DeedEnd, annotator.DeedKeep:
	case annotator.DeedHide:
		if op.Text == "" {
			op.Text = "hidden by a person"
		}
	case annotator.DeedRetag:
		op.Tags = strings.FieldsFunc(r.PostFormValue("tags"), func(c rune) bool { return c == ',' || c == '\n' })
	case annotator.DeedAdd:
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

// quoteFor sets the evidence of a fact that is added, if the form quotes a scene. Otherwise it returns why it cannot.
func (r *request) quoteFor(op *annotator.Operation) (why string, err error) {
	quote := strings.TrimSpace(r.PostFormValue("quote"))
	if quote == "" || op.Name != "" {
		return "", nil
	}
	n, err := strconv.Atoi(r.PostFormValue("scene"))
	if err != nil || r.db.Story == nil {
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
	for i := range posts {
		if found, ok := codex.Ground(posts[i].Body, quote); ok {
			found.Post = posts[i].ID
			op.Evidence = &found
			return "", nil
		}
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
