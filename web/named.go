package web

import (
	"slices"

	"annotator"
)

// namingPage lists facts of other entries that name an entry.
type namingPage struct {
	Entry *annotator.Entry
	Facts []namingFact
	After string // the URL of the next part; empty: there is none
}

// namingFact is a fact of an entry that names another.
type namingFact struct {
	Entry *annotator.Entry
	ID    int64
	Text  []span
	From  annotator.Position

	Kind   annotator.ClaimKind
	Source string // see sourceOf
	of     int64
}

func showNaming(r *request, id int64) (*page, error) {
	e, err := r.view.heading(r.Context(), id)
	if err != nil {
		return nil, err
	}
	shown, err := r.naming(e, r.queryNumber("after"))
	if err != nil {
		return nil, err
	}
	entries, err := r.view.Headings(r.Context(), shown.entries())
	for i := range shown.Facts {
		shown.Facts[i].Entry = entries[shown.Facts[i].of]
	}
	shown.Facts = slices.DeleteFunc(shown.Facts, func(f namingFact) bool { return f.Entry == nil })
	return &page{template: "naming", Title: "Facts that name " + e.Name(), Section: "entries", Data: shown}, err
}

// naming finds the facts that name an entry, after a place in their order. The full-text index selects facts with the
// words of its names. The page shows those that link to the entry.
func (r *request) naming(e *annotator.Entry, after int64) (*namingPage, error) {
	ctx, shown := r.Context(), &namingPage{Entry: e}
	names := e.Names()
	found, err := r.view.ClaimsWith(ctx, names, e.ID, after, pageSize+1)
	if err != nil {
		return nil, err
	}
	if len(found) > pageSize {
		found = found[:pageSize]
		shown.After = r.Link("entry", e.ID, "named", "?", "after", found[pageSize-1].At)
	}
	var texts []string
	var scenes []annotator.Order
	var places []annotator.Place
	for i := range found {
		c := &found[i].Claim
		texts, scenes, places = append(texts, c.Text), append(scenes, c.From.Order()), append(places, c.From)
	}
	linker, err := r.newTermLinker(ctx, 0, texts, scenes)
	if err != nil {
		return nil, err
	}
	linker.names.SetNames(e.ID, names)
	r.view.at.Read(places)
	for i := range found {
		c := &found[i].Claim
		text, err := linker.spans(ctx, c.Text)
		if err != nil {
			return nil, err
		}
		if linker.links(c.Text, text, e.ID) {
			shown.Facts = append(shown.Facts, namingFact{
				ID: c.ID, Text: text, From: r.view.place(c.From),
				Kind: c.Kind, Source: sourceOf(c), of: found[i].Entry,
			})
		}
	}
	return shown, r.view.at.Err
}

// entries returns the ids of the entries with these facts, each once.
func (p *namingPage) entries() (ids []int64) {
	for i := range p.Facts {
		if !slices.Contains(ids, p.Facts[i].of) {
			ids = append(ids, p.Facts[i].of)
		}
	}
	return ids
}
