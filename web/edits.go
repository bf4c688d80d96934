package web

import (
	"context"
	"net/http"

	"annotator"
	"annotator/storage"
)

// Editor applies an operation of a person to a database. If a run has it, the operation is stored, and the run applies
// it. The error is of kind annotator.Misused if the rules refuse it.
type Editor interface {
	Edit(ctx context.Context, db *storage.DB, op *annotator.Operation) (stored bool, err error)
}

// MayEdit reports whether the reader may change the codex: the server allows it, and a shared link is not enough.
// Server.protect has checked that a form comes from a page of this server.
func (r *request) MayEdit() bool {
	s := r.db.server
	return s.Editor != nil && (s.Token == "" || s.isAuthorised(r.Request))
}

// edits is a handler of forms that change the codex. One form of a database is handled after another.
func edits(handle handler) handler {
	return func(r *request) (*page, error) {
		if !r.MayEdit() {
			return nil, annotator.Errorf(annotator.Misused, "this server takes no edits")
		}
		r.db.editing.Lock()
		defer r.db.editing.Unlock()
		return handle(r)
	}
}

// edit applies an operation. Under a limit it is seen from there, unless what it rests on is seen later.
func (r *request) edit(op annotator.Operation) (stored bool, err error) {
	if m := r.limit.moment; !m.IsZero() && op.From == 0 {
		op.From = m.Place.Order()
	}
	return r.db.server.Editor.Edit(r.Context(), r.db.DB, &op)
}

// undo takes the newest edit back, and redirects to the page of the form.
func undo(r *request) (*page, error) {
	if _, err := r.edit(annotator.Operation{Do: annotator.DeedUndo}); err != nil {
		return nil, err
	}
	return r.goBack()
}

// goBack redirects to the page from which a form was sent, which is one of this database.
func (r *request) goBack() (*page, error) {
	http.Redirect(r.w, r.Request, r.backUnder(r.limit.inLinks()), http.StatusSeeOther)
	return nil, nil
}
