package web

import (
	"strings"

	"annotator"
	"annotator/codex"
)

// nameTable is a page of the table of names.
type nameTable struct {
	*entryList
	Rows  []nameRow
	Edits bool // the reader may edit
}

// nameRow is an entry in the table.
type nameRow struct {
	*annotator.Entry
	Others   []string // its names but the term
	Mentions int
	First    int // the number of the scene that mentions it first; 0: none does
}

// JoinedTags are the tags as a form has them.
func (n nameRow) JoinedTags() string { return strings.Join(n.Tags, ", ") }

// showNames shows the names of entries in a table, which has the filters and orders of the list of entries.
func showNames(r *request) (*page, error) {
	q := r.URL.Query()
	list := newEntryList(q)
	if list.Sort != byFirst && (list.Sort != byWeight || list.Status != "") || list.Text != "" {
		list.Sort = byName
	}
	found, err := list.find(r, r.view.FindHeadings, r.view.Headings)
	if err != nil {
		return nil, err
	}
	list.part = r.part(found.Total, pageSize)
	if list.Kinds, _, err = list.kindLinks(r, "names"); err != nil {
		return nil, err
	}
	table := &nameTable{entryList: list, Edits: r.MayEdit()}
	if table.Rows, err = r.nameRows(found.Entries); err != nil {
		return nil, err
	}
	return &page{template: "names", Title: "Names", Section: "entries", Data: table}, nil
}

// nameRows returns the rows of entries, in their order.
func (r *request) nameRows(entries []annotator.Entry) ([]nameRow, error) {
	ids := idsOf(entries, func(e *annotator.Entry) int64 { return e.ID })
	mentions, err := r.view.MentionsOf(r.Context(), ids)
	if err != nil {
		return nil, err
	}
	seen, err := r.view.Seen(r.Context(), ids)
	rows := make([]nameRow, len(entries))
	for i := range entries {
		e := &entries[i]
		rows[i] = nameRow{e, codex.OtherNames(e.Names(), e.Term), mentions[e.ID], 0}
		if at, ok := seen[e.ID]; ok {
			rows[i].First = r.view.place(at.First).Scene
		}
	}
	return rows, err
}
