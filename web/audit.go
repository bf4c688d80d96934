package web

import (
	"fmt"
	"slices"

	"annotator/storage"
	"annotator/view"
)

// auditPage is a page of the tool calls, newest first.
type auditPage struct {
	Scene  int
	Tool   string
	Denied bool
	Calls  []audited
	Older  int64 // the next page begins below this id; 0: there is none
	Model  []view.CallRow
}

// audited is a tool call as a page shows it.
type audited struct {
	storage.Audited
	Changes []change
}

func showAudit(r *request) (*page, error) {
	ctx := r.Context()
	shown := &auditPage{
		Scene: int(min(r.queryNumber("scene"), maxNumber)), Tool: r.URL.Query().Get("tool"),
		Denied: r.URL.Query().Get("denied") != "",
	}
	filter := storage.AuditFilter{Scene: shown.Scene, Tool: shown.Tool, Denied: shown.Denied}
	calls, err := r.view.ToolCalls(ctx, filter, r.queryNumber("before"), pageSize+1)
	if err != nil {
		return nil, err
	}
	if len(calls) > pageSize {
		calls, shown.Older = calls[:pageSize], calls[pageSize-1].Trace
	}
	for i := range calls {
		shown.Calls = append(shown.Calls, audited{calls[i], r.view.changes(calls[i].Revisions)})
	}
	title := "Audit"
	if shown.Scene > 0 {
		title = fmt.Sprintf("Audit of scene %d", shown.Scene)
		if shown.Model, err = r.view.Calls(ctx, shown.Scene, 0, pageSize); err != nil {
			return nil, err
		}
	}
	return &page{template: "audit", Title: title, Section: "audit", Data: shown}, r.view.at.Err
}

// verify checks the invariants of the database. Its findings may quote any part of the story, so it requires no limit.
func verify(r *request) (*page, error) {
	if r.limit.Limited() {
		return nil, notFound()
	}
	if err := r.extendTimeout(AnswerTimeout); err != nil {
		return nil, err
	}
	r.db.verify.Lock() // one at a time: it reads the whole database
	defer r.db.verify.Unlock()
	var source *storage.Source
	if r.db.Source != nil {
		var err error
		if source, err = r.db.Source(r.Context()); err != nil {
			return nil, err
		}
	}
	v := new(verification)
	var err error
	v.Findings, err = r.db.DB.Maintenance.Verify(r.Context(), source)
	slices.SortStableFunc(v.Findings, func(a, b storage.Finding) int { return len(b.Violations) - len(a.Violations) })
	for i := range v.Findings {
		switch f := &v.Findings[i]; {
		case len(f.Violations) > 0:
			v.Broken++
		case f.Unchecked != "":
			v.Unchecked++
		}
	}
	return &page{template: "verify", Title: "Verification", Section: "audit", Data: v}, err
}

// verification is the result of the checks, violations first.
type verification struct {
	Findings          []storage.Finding
	Broken, Unchecked int // numbers of checks with violations, and of checks that were not possible
}
