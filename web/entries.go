package web

import (
	"slices"
	"strings"

	"annotator"
	"annotator/codex"
	"annotator/exporters"
	"annotator/view"
)

// entryList is a page of a search.
type entryList struct {
	Text, Tag, Status string
	Statuses          []annotator.Status
	Cards             []card
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
	list.part = r.part(found.Total, pageSize)
	if q.Get("format") == "json" {
		return nil, r.sendJSON(struct {
			Total   int               `json:"total"`
			Page    int               `json:"page"`
			Entries []exporters.Found `json:"entries"`
		}{list.Total, r.pageNumber(), exporters.NewFound(found.Entries, found.Words, r.view.at.At)})
	}
	list.Cards = cards(found)
	title := "Entries"
	if list.Text != "" {
		title = "Search: " + list.Text
	}
	return &page{
		template: "entries", Title: title, Section: "entries", Data: list,
		JSON: r.Link("entries", "?", "q", list.Text, "tag", list.Tag, "status", list.Status, "page", q.Get("page"),
			"format", "json"),
	}, nil
}

// card is an entry that a search found.
type card struct {
	*annotator.Entry
	Fact *fact // the first with the most words of the search, marked; nil if none has any
}

func cards(found view.Page) []card {
	words, list := codex.NewWords(found.Words), make([]card, len(found.Entries))
	for i := range found.Entries {
		list[i].Entry = &found.Entries[i]
		if c := words.Best(list[i].Claims); c != nil {
			text := codex.WithoutLinks(c.Text)
			in, _ := words.In(text)
			list[i].Fact = &fact{Claim: *c, Text: excerpt([]rune(text), in)}
		}
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
