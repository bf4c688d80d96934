package web

import (
	"encoding/json"
	"fmt"
	"net/http"

	"annotator"
	"annotator/codex"
)

// change is a revision as a page shows it.
type change struct {
	annotator.Revision
	From, To string // the values as text
	Place    annotator.Position
}

// changes converts revisions for pages.
func (v *codexView) changes(revisions []annotator.Revision) []change {
	places := make([]annotator.Place, len(revisions))
	for i := range revisions {
		places[i] = revisions[i].At
	}
	v.at.Read(places)
	list := make([]change, len(revisions))
	for i := range revisions {
		r := &revisions[i]
		from, to := codex.ValueText(r.Field, r.Old, v.place), codex.ValueText(r.Field, r.New, v.place)
		list[i] = change{*r, from, to, v.place(r.At)}
	}
	return list
}

// claimOf returns the claim that a revision changes, 0 if it changes none.
func claimOf(r *annotator.Revision) int64 {
	var before, after struct{ ID, Claim int64 }
	_ = json.Unmarshal([]byte(r.Old), &before) // a value that is not JSON changes no claim
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
	Total   int    // of the changes; 0: not counted
	Start   string // the URL of the first part; empty if this is the first
	After   string // the URL of the next part; empty: there is none
}

func showHistory(r *request, id int64) (*page, error) {
	e, err := r.view.WithClaims(r.Context(), id, nil)
	if err != nil {
		return nil, err
	}
	h := &historyPage{Entry: e, Total: e.Revisions}
	if err := h.fill(r, 0, "entry", id, "history"); err != nil {
		return nil, err
	}
	return &page{template: "history", Title: "History of " + e.Name(), Section: "entries", Data: h}, r.view.at.Err
}

func showClaim(r *request, id int64) (*page, error) {
	claim, err := r.number("claim")
	if err != nil {
		return nil, err
	}
	e, err := r.view.WithClaims(r.Context(), id, []int64{claim})
	if err != nil {
		return nil, err
	}
	h := &historyPage{Entry: e}
	if err := h.fill(r, claim, "entry", id, "claim", claim); err != nil {
		return nil, err
	}
	if len(e.Claims) == 0 && len(h.Changes) == 0 {
		return nil, notFound()
	}
	if h.Start == "" && h.After == "" {
		h.Total = len(h.Changes)
	}
	if len(e.Claims) > 0 {
		facts, err := (&entryPage{Entry: e}).facts(r)
		if err != nil {
			return nil, err
		}
		h.Fact = facts[claim]
	}
	return &page{
		template: "history", Title: fmt.Sprintf("Fact %d of %s", claim, e.Name()), Section: "entries",
		Data: h,
	}, r.view.at.Err
}

// fill reads a part of the changes of a claim, or of all changes if it is 0. The path is that of the page.
func (h *historyPage) fill(r *request, claim int64, path ...any) error {
	const changes = 100
	after := r.queryNumber("after")
	revisions, err := r.view.RevisionsAfter(r.Context(), h.Entry.ID, claim, after, changes+1)
	if after > 0 {
		h.Start = r.Link(path...)
	}
	if len(revisions) > changes {
		revisions = revisions[:changes]
		h.After = r.Link(append(path, "?", "after", revisions[changes-1].ID)...)
	}
	h.Changes = r.view.changes(revisions)
	return err
}

// revisionPage is one revision.
type revisionPage struct {
	Entry  *annotator.Entry
	Change change
	Claim  int64 // that it changes; 0: none
}

func showRevision(r *request, id int64) (*page, error) {
	revision, err := r.view.Revision(r.Context(), id)
	if err != nil {
		return nil, err
	}
	e, err := r.view.heading(r.Context(), revision.Entry)
	if err != nil {
		return nil, err
	}
	shown := &revisionPage{e, r.view.changes([]annotator.Revision{revision})[0], claimOf(&revision)}
	return &page{template: "revision", Title: fmt.Sprintf("Revision %d", id), Section: "entries", Data: shown},
		r.view.at.Err
}

// turnPage shows the messages of a turn.
type turnPage struct {
	Turn  int64
	Scene int // 0: the turn is between two scenes
	Rows  []annotator.Trace
}

func showTurn(r *request, turn int64) (*page, error) {
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

// showRow redirects to a row of the journal in its turn. It shows a row without a turn with its question or answer.
func showRow(r *request, id int64) (*page, error) {
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
