package web

import (
	"slices"
	"strings"

	"annotator"
	"annotator/codex"
	"annotator/exporters"
)

// entryList is a page of a search.
type entryList struct {
	Text, Tag, Status string
	Statuses          []annotator.Status
	Entries           []*annotator.Entry
	part
}

func showEntries(r *request) (*page, error) {
	q := r.URL.Query()
	list := &entryList{
		Text: q.Get("q"), Tag: q.Get("tag"), Status: q.Get("status"),
		Statuses: []annotator.Status{annotator.Tentative, annotator.Confirmed, annotator.Retired, annotator.Merged},
	}
	query := annotator.Query{Text: list.Text, Offset: (r.pageNumber() - 1) * pageSize, Limit: pageSize}
	if tag := strings.TrimSpace(list.Tag); tag != "" {
		if _, err := codex.Tags([]string{tag}); err != nil {
			return nil, annotator.Errorf(annotator.Misused, "%w", err)
		}
		query.Tags = []string{tag}
	}
	if status := annotator.Status(list.Status); slices.Contains(list.Statuses, status) {
		query.Statuses = []annotator.Status{status}
	}
	found, err := r.view.Find(r.Context(), query)
	if err != nil {
		return nil, err
	}
	list.Entries, list.part = pointers(found.Entries), r.part(found.Total, pageSize)
	if q.Get("format") == "json" {
		return nil, r.sendJSON(struct {
			Total   int               `json:"total"`
			Page    int               `json:"page"`
			Entries []exporters.Entry `json:"entries"`
		}{list.Total, r.pageNumber(), r.exported(found.Entries)})
	}
	title := "Entries"
	if list.Text != "" {
		title = "Search: " + list.Text
	}
	return &page{
		template: "entries", Title: title, Section: "entries", Data: list,
		JSON: r.link("entries", "?", "q", list.Text, "tag", list.Tag, "status", list.Status, "page", q.Get("page"), "format", "json"),
	}, nil
}

// exported converts entries to the shape of an export, in their order.
func (r *request) exported(entries []annotator.Entry) []exporters.Entry {
	list := make([]exporters.Entry, len(entries))
	for i := range entries {
		list[i] = exporters.Build(exporters.Story{}, entries[i:i+1], r.view.at.At).Entries[0]
	}
	return list
}

// sendJSON answers with a value as JSON.
func (r *request) sendJSON(value any) error {
	if r.view.at.Err != nil {
		return r.view.at.Err
	}
	text := annotator.EncodeJSON(value) + "\n"
	r.made()
	r.w.Header().Set("Content-Type", "application/json")
	_, err := r.w.Write([]byte(text))
	return err
}
