package web

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"strconv"

	"annotator"
	"annotator/codex"
	"annotator/storage"
)

// Editor applies an operation of a person to a database, and returns its row of the journal. If a run has the database,
// the operation is stored, and the row is 0. The error is a *codex.Refusal if the rules reject it.
type Editor interface {
	Edit(ctx context.Context, db *storage.DB, op *annotator.Operation) (row int64, err error)
}

// MayEdit reports whether the reader may change the codex: the server allows it, and a shared link is not enough.
func (r *request) MayEdit() bool {
	s := r.db.server
	return s.Editor != nil && (s.Token == "" || s.isAuthorised(r.Request))
}

// formToken is the field of forms with Options.FormToken.
const formToken = "form"

// edits is a handler of forms that change the codex. Server.protect has checked that a form comes from a page of this
// server, and the form has its token. One form of a database is handled after another. A *codex.Refusal becomes a page
// that says so.
func edits(handle handler) handler {
	return func(r *request) (*page, error) {
		s := r.db.server
		if !r.MayEdit() {
			return nil, annotator.Errorf(annotator.Misused, "this server takes no edits")
		}
		if s.FormToken != "" && !same(r.PostFormValue(formToken), s.FormToken) {
			return r.refused("This form was made before the server was started again. Load the page again, and " +
				"repeat the edit."), nil
		}
		r.db.editing.Lock()
		defer r.db.editing.Unlock()
		p, err := handle(r)
		refusal := (*codex.Refusal)(nil)
		switch {
		case !errors.As(err, &refusal):
			return p, err
		case r.limit.Limited(): // the reason may be what is told later
			return r.refused("The codex does not allow this. Without a limit, the page says why."), nil
		}
		return r.refused("The codex does not allow this: " + refusal.Message + "."), nil
	}
}

// apply applies an operation, or stores it for the run: its row is 0 then. Under a limit it is about what the limit
// shows, and is seen from there, unless what it rests on is seen later.
func (r *request) apply(op annotator.Operation) (row int64, err error) {
	if err := r.view.Confine(r.Context(), &op); err != nil {
		return 0, err
	}
	return r.submit(&op)
}

// submit is apply without a look at the limit.
func (r *request) submit(op *annotator.Operation) (row int64, err error) {
	op.By = cmp.Or(op.By, r.db.server.By)
	return r.db.server.Editor.Edit(r.Context(), r.db.DB, op)
}

// editAndReturn applies an operation, and redirects to the page of the form with a notice, where it can be undone.
func (r *request) editAndReturn(op annotator.Operation) (*page, error) {
	row, err := r.apply(op)
	if err != nil {
		return nil, err
	}
	to := r.ownPage(r.PostFormValue("back"))
	values := to.Query()
	values.Set(editedName, string(op.Do))
	values.Del(editedRow)
	if row != 0 {
		values.Set(editedRow, strconv.FormatInt(row, 10))
	}
	to.RawQuery = values.Encode()
	http.Redirect(r.w, r.Request, to.String(), http.StatusSeeOther)
	return nil, nil
}

// goBack redirects to the page from which a form was sent, which is one of this database.
func (r *request) goBack() (*page, error) {
	http.Redirect(r.w, r.Request, r.backUnder(r.limit.inLinks()), http.StatusSeeOther)
	return nil, nil
}

// refused returns the page of an edit that was refused.
func (r *request) refused(why string) *page {
	return &page{template: "refused", Title: "Nothing was changed", status: http.StatusConflict, Data: struct {
		Why, Back string
	}{why, r.ownPage(r.PostFormValue("back")).String()}}
}

// The query parameters of the page after an edit.
const (
	editedName = "edited" // what the edit did
	editedRow  = "row"    // its row of the journal
)

// editedText says what an edit did; empty for an unknown one.
func editedText(do annotator.Deed) string {
	return map[annotator.Deed]string{
		annotator.DeedEdit:   "The fact is changed.",
		annotator.DeedAdd:    "It is added.",
		annotator.DeedReject: "It is taken out, and does not come back.",
		annotator.DeedEnd:    "It is over.",
		annotator.DeedKeep:   "The entry stays.",
		annotator.DeedRename: "The entry has another name.",
		annotator.DeedRetag:  "The entry has other tags.",
		annotator.DeedHide:   "The entry is taken out.",
		annotator.DeedMerge:  "The two are one entry.",
		annotator.DeedSplit:  "The two are separate again, and stay so.",
		annotator.DeedNever:  "The two are never merged.",
		annotator.DeedLock:   "Only a person can change it.",
		annotator.DeedUnlock: "The model may change it.",
		annotator.DeedRevert: "The change is taken back.",
		annotator.DeedUndo:   "The edit is taken back.",
		annotator.DeedBatch:  "The edits are made.",
		annotator.DeedSeed:   "The run begins with these entries.",
	}[do]
}

// notice is what a page says of the edit that led to it.
type notice struct {
	Text string
	Undo int64 // the row of the journal of the edit; 0: it cannot be taken back here
}

// Notice returns the notice of the edit that led to the page; nil for none.
func (p *page) Notice() *notice {
	if p.db == nil || !p.MayEdit() || p.status != 0 {
		return nil
	}
	do := annotator.Deed(p.URL.Query().Get(editedName))
	text := editedText(do)
	row := p.queryNumber(editedRow)
	switch {
	case text == "":
		return nil
	case row == 0:
		return &notice{Text: "The edit is stored. The run applies it before its next scene."}
	case p.limit.Limited():
		text += " It is shown from where the story has told what it changes."
	}
	if do == annotator.DeedUndo {
		row = 0
	}
	return &notice{text, row}
}

// FormToken returns what a form that edits sends as formToken.
func (p *page) FormToken() string { return p.db.server.FormToken }

// FormBack returns the address of the page, to which a form leads back.
func (p *page) FormBack() string { return p.back() }

// undo takes back the edit of a row of the journal, or the newest one.
func undo(r *request) (*page, error) {
	row, err := strconv.ParseInt(r.PostFormValue(editedRow), 10, 64)
	if r.PostFormValue(editedRow) != "" && err != nil {
		return nil, notFound()
	}
	return r.editAndReturn(annotator.Operation{Do: annotator.DeedUndo, Row: row})
}
