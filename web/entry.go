package web

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"annotator"
	"annotator/codex"
)

// entryPage is an entry as one reads it.
type entryPage struct {
	*annotator.Entry
	AsOf     annotator.Position // of the present statement
	Now      []span             // the present statement
	Facts    []*fact
	Names    []name
	Begins   annotator.Position
	Merged   *annotator.Entry // that took its place; nil if it was not merged
	LinksTo  []*annotator.Entry
	LinkedBy []*annotator.Entry
	Mentions *mentionLine
}

// fact is a claim as a page shows it.
type fact struct {
	annotator.Claim
	Text   []span
	From   annotator.Position
	Ended  annotator.Position // Scene is 0 while it holds
	Quotes []annotator.Evidence
}

// name is a name of an entry, and from where it is known.
type name struct {
	Name string
	From annotator.Position
}

func showEntry(r *request) (*page, error) {
	id, err := r.number("id")
	if err != nil {
		return nil, err
	}
	ctx := r.Context()
	e, err := r.view.Entry(ctx, id)
	if err != nil {
		return nil, err
	}
	if r.URL.Query().Get("format") == "json" {
		return nil, r.sendJSON(r.exported([]annotator.Entry{*e})[0])
	}
	shown := &entryPage{Entry: e, Begins: r.view.place(e.First), AsOf: r.view.place(e.PresentAt)}
	if now := codex.Present(e); now != "" {
		if shown.Now, err = r.linkTerms(ctx, now, id); err != nil {
			return nil, err
		}
	}
	if e.MergedInto != 0 {
		if shown.Merged, err = r.view.Entry(ctx, e.MergedInto); err != nil && !isNotFound(err) {
			return nil, err
		}
	}
	for _, a := range e.Aliases {
		shown.Names = append(shown.Names, name{a.Name, r.view.place(a.From)})
	}
	slices.SortStableFunc(shown.Names, func(a, b name) int { return cmp.Compare(a.From.Scene, b.From.Scene) })
	if shown.Facts, err = r.facts(ctx, e); err != nil {
		return nil, err
	}
	if shown.LinksTo, shown.LinkedBy, err = r.links(ctx, shown); err != nil {
		return nil, err
	}
	if shown.Mentions, err = r.view.mentionLine(ctx, id); err != nil {
		return nil, err
	}
	return &page{
		template: "entry", Title: e.Name(), Section: "entries", Data: shown,
		JSON: r.link("entry", r.PathValue("id"), "?", "format", "json"),
	}, r.view.at.Err
}

// facts returns the claims of an entry in the order of the story.
func (r *request) facts(ctx context.Context, e *annotator.Entry) ([]*fact, error) {
	claims := slices.Clone(e.Claims)
	slices.SortStableFunc(claims, func(a, b annotator.Claim) int { return cmp.Or(cmp.Compare(a.From, b.From), cmp.Compare(a.Ord, b.Ord)) })
	facts := make([]*fact, len(claims))
	for i := range claims {
		text, err := r.linkTerms(ctx, claims[i].Text, e.ID)
		if err != nil {
			return nil, err
		}
		facts[i] = &fact{Claim: claims[i], Text: text, From: r.view.place(claims[i].From), Quotes: claims[i].Evidence}
		if claims[i].Until != 0 {
			facts[i].Ended = r.view.place(claims[i].Until)
		}
	}
	return facts, nil
}

// linkTerms splits the text of an entry at the [[Terms]] and the names of other entries in it, which are links. The
// brackets are left out.
func (r *request) linkTerms(ctx context.Context, text string, self int64) (spans []span, err error) {
	names, err := r.newLinker(namesAll)
	if err != nil {
		return nil, err
	}
	names.except = self
	for {
		before, rest, open := strings.Cut(text, "[[")
		term, after, closed := strings.Cut(rest, "]]")
		if !open || !closed || term == "" || strings.ContainsAny(term, "[]\n") {
			return append(spans, names.spans(text)...), nil
		}
		e, err := r.view.named(ctx, term)
		if err != nil {
			return nil, err
		}
		linked := span{Text: term}
		if e != nil && e.ID != self {
			linked.Entry = e.ID
		}
		spans, text = append(append(spans, names.spans(before)...), linked), after
	}
}

// links returns the entries that the text of an entry links to, and those that have its name in theirs.
func (r *request) links(ctx context.Context, shown *entryPage) (to, from []*annotator.Entry, err error) {
	texts := slices.Clone(shown.Now)
	for _, f := range shown.Facts {
		texts = append(texts, f.Text...)
	}
	seen := map[int64]bool{0: true, shown.ID: true}
	for _, s := range texts {
		if seen[s.Entry] {
			continue
		}
		seen[s.Entry] = true
		e, err := r.view.Entry(ctx, s.Entry)
		if err != nil {
			return nil, nil, err
		}
		to = append(to, e)
	}
	const most = 40
	found, err := r.view.Find(ctx, annotator.Query{Text: shown.Term, Limit: 4 * most})
	for i := range found.Entries {
		e := &found.Entries[i]
		if e.ID != shown.ID && len(from) < most && strings.Contains(codex.Normalize(e.Definition()), codex.Normalize(shown.Term)) {
			from = append(from, e)
		}
	}
	return to, from, err
}

// Source says who stands behind a fact.
func (f *fact) Source() string {
	switch f.Kind {
	case annotator.Claimed:
		if f.Speaker != "" {
			return f.Speaker + " says so"
		}
		return "a character says so"
	case annotator.Inferred:
		return "inferred"
	}
	return "narrated"
}

// Repeats reports whether a quotation has nothing but the text of the fact, and marks of quotation around it.
func (f *fact) Repeats(e annotator.Evidence) bool {
	words := func(text string) string {
		return strings.Trim(strings.Join(strings.Fields(text), " "), "\"'“”‘’«»")
	}
	return words(e.Quote) == words(f.Claim.Text)
}
