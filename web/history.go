package web

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"

	"annotator"
	"annotator/codex"
)

// change is a revision as a page shows it.
type change struct {
	annotator.Revision
	From, To string // the values as text
	Place    annotator.Position
}

// changes returns revisions as pages show them.
func (v *view) changes(revisions []annotator.Revision) []change {
	list := make([]change, len(revisions))
	for i := range revisions {
		r := &revisions[i]
		list[i] = change{*r, codex.ValueText(r.Field, r.Old), codex.ValueText(r.Field, r.New), v.place(r.At)}
	}
	return list
}

// claimOf returns the claim that a revision changes, 0 if it changes none.
func claimOf(r *annotator.Revision) int64 {
	var before, after struct{ ID, Claim int64 }
	_ = json.Unmarshal([]byte(r.Old), &before) // a value that is no JSON changes no claim
	_ = json.Unmarshal([]byte(r.New), &after)
	switch r.Field {
	case annotator.FieldClaim:
		return max(before.ID, after.ID)
	case annotator.FieldEvidence:
		return max(before.Claim, after.Claim)
	}
	return 0
}

// historyPage is the history of an entry, or of one claim of it.
type historyPage struct {
	Entry   *annotator.Entry
	Fact    *fact // nil: the history is that of the entry
	Changes []change
}

func showHistory(r *request) (*page, error) {
	h, err := r.history(0)
	if err != nil {
		return nil, err
	}
	return &page{template: "history", Title: "History of " + h.Entry.Name(), Section: "entries", Data: h}, r.view.at.Err
}

func showClaim(r *request) (*page, error) {
	id, err := r.number("claim")
	if err != nil {
		return nil, err
	}
	h, err := r.history(id)
	if err != nil {
		return nil, err
	}
	facts, err := r.facts(r.Context(), h.Entry)
	if err != nil {
		return nil, err
	}
	at := slices.IndexFunc(facts, func(f *fact) bool { return f.ID == id })
	if at < 0 && len(h.Changes) == 0 {
		return nil, notFound()
	}
	if at >= 0 {
		h.Fact = facts[at]
	}
	return &page{template: "history", Title: fmt.Sprintf("Fact %d of %s", id, h.Entry.Name()), Section: "entries", Data: h}, r.view.at.Err
}

// history reads the revisions of an entry: those of one claim, or all where it is 0.
func (r *request) history(claim int64) (*historyPage, error) {
	id, err := r.number("id")
	if err != nil {
		return nil, err
	}
	e, err := r.view.Entry(r.Context(), id)
	if err != nil {
		return nil, err
	}
	revisions, err := r.view.Revisions(r.Context(), id)
	if claim != 0 {
		revisions = slices.DeleteFunc(revisions, func(v annotator.Revision) bool { return claimOf(&v) != claim })
	}
	return &historyPage{Entry: e, Changes: r.view.changes(revisions)}, err
}

// revisionPage is one revision.
type revisionPage struct {
	Entry  *annotator.Entry
	Change change
	Claim  int64 // that it changes; 0: none
}

func showRevision(r *request) (*page, error) {
	id, err := r.number("id")
	if err != nil {
		return nil, err
	}
	revision, err := r.view.Revision(r.Context(), id)
	if err != nil {
		return nil, err
	}
	e, err := r.view.Entry(r.Context(), revision.Entry)
	if err != nil {
		return nil, err
	}
	shown := &revisionPage{e, r.view.changes([]annotator.Revision{revision})[0], claimOf(&revision)}
	return &page{template: "revision", Title: fmt.Sprintf("Revision %d", id), Section: "entries", Data: shown}, r.view.at.Err
}

// turnPage is what the model was shown and answered for a scene, or between two.
type turnPage struct {
	Turn  int64
	Scene int // 0: between two
	Rows  []annotator.Trace
}

func showTurn(r *request) (*page, error) {
	turn, err := r.number("turn")
	if err != nil {
		return nil, err
	}
	rows, err := r.view.Turn(r.Context(), turn)
	if err == nil && len(rows) == 0 {
		err = notFound()
	}
	if err != nil {
		return nil, err
	}
	shown := &turnPage{Turn: turn, Scene: rows[0].Scene, Rows: rows}
	return &page{template: "turn", Title: fmt.Sprintf("Turn %d", turn), Section: "audit", Data: shown}, nil
}

// showRow leads to a row of the journal in its turn, or shows it with the question that it answers if it belongs to none.
func showRow(r *request) (*page, error) {
	id, err := r.number("row")
	if err != nil {
		return nil, err
	}
	rows, err := r.view.Exchange(r.Context(), id)
	if err == nil && len(rows) == 0 {
		err = notFound()
	}
	if err != nil {
		return nil, err
	}
	if turn := rows[0].Turn; turn != 0 {
		http.Redirect(r.w, r.Request, r.Link("turn", turn, "#", fmt.Sprintf("row-%d", id)), http.StatusSeeOther)
		return nil, nil
	}
	return &page{template: "turn", Title: fmt.Sprintf("Row %d", id), Section: "audit", Data: &turnPage{Rows: rows}}, nil
}
