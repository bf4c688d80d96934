package web

import (
	"cmp"
	"context"
	"slices"
	"strconv"
	"strings"

	"annotator"
	"annotator/codex"
	"annotator/exporters"
)

// entryPage is the page of an entry.
type entryPage struct {
	*annotator.Entry
	AsOf      annotator.Position // of the present statement
	Now       []span             // the present statement
	Facts     []*fact
	Listed    claimRange // of Facts
	Names     []name
	Begins    annotator.Position
	Merged    *annotator.Entry // that it was merged into; nil if it was not
	LinksTo   []*annotator.Entry
	LinkedBy  []*annotator.Entry
	NamedMore bool // there are more facts that name the entry
	Mentions  *mentionLine
}

// fact is a claim as a page shows it.
type fact struct {
	annotator.Claim
	Text   []span
	From   annotator.Position
	Ended  annotator.Position // Scene is 0 while it holds
	Quotes []annotator.Evidence
}

// name is a name of an entry, and the position from which it is known.
type name struct {
	Name string
	From annotator.Position
}

func showEntry(r *request, id int64) (*page, error) {
	ctx := r.Context()
	if r.URL.Query().Get("format") == "json" {
		e, err := r.view.Entry(ctx, id)
		if err != nil {
			return nil, err
		}
		return nil, r.sendJSON(exporters.NewEntry(e, r.view.at.At))
	}
	claims, err := r.view.ClaimIDs(ctx, id)
	if err != nil {
		return nil, err
	}
	listed := r.claimRange(claims)
	e, err := r.view.WithClaims(ctx, id, listed.ids)
	if err != nil {
		return nil, err
	}
	shown := &entryPage{Entry: e, Begins: r.view.place(e.First), AsOf: r.view.place(e.PresentAt), Listed: listed}
	if e.MergedInto != 0 {
		if shown.Merged, err = r.view.heading(ctx, e.MergedInto); err != nil && !isNotFound(err) {
			return nil, err
		}
	}
	slices.SortStableFunc(e.Aliases, func(a, b annotator.Alias) int {
		return cmp.Compare(a.From.Order(), b.From.Order())
	})
	for _, a := range e.Aliases {
		shown.Names = append(shown.Names, name{a.Name, r.view.place(a.From)})
	}
	if err := shown.fillTexts(r); err != nil {
		return nil, err
	}
	if err := shown.fillLinks(r); err != nil {
		return nil, err
	}
	if shown.Mentions, err = r.view.mentionLine(ctx, id); err != nil {
		return nil, err
	}
	return &page{
		template: "entry", Title: e.Name(), Section: "entries", Data: shown,
		JSON: r.Link("entry", id, "?", "format", "json"),
	}, r.view.at.Err
}

// claimRange is a part of the claims of an entry.
type claimRange struct {
	ids           []int64
	From, To, All int
	Before, After string // URLs of the neighbouring parts; empty: there is none
}

// claimRange returns the claims for the page: those after the claim "after" in the URL, or the part with the claim
// "fact".
func (r *request) claimRange(claims []int64) claimRange {
	from := slices.Index(claims, r.queryNumber("after")) + 1
	if at := slices.Index(claims, r.queryNumber("fact")); at >= 0 {
		from = at - at%pageSize
	}
	to := min(from+pageSize, len(claims))
	l := claimRange{ids: claims[from:to], From: min(from+1, to), To: to, All: len(claims)}
	link := func(at int) string {
		after := ""
		if at > 0 {
			after = strconv.FormatInt(claims[at-1], 10)
		}
		return r.Link("entry", r.PathValue("id"), "?", "after", after)
	}
	if from > 0 {
		l.Before = link(max(0, from-pageSize))
	}
	if to < len(claims) {
		l.After = link(to)
	}
	return l
}

// heading returns an entry without its claims.
func (v *codexView) heading(ctx context.Context, id int64) (*annotator.Entry, error) {
	found, err := v.Headings(ctx, []int64{id})
	if err == nil && found[id] == nil {
		err = notFound()
	}
	return found[id], err
}

// present returns the present statement of an entry, which the page may have read without all its claims.
func (v *codexView) present(ctx context.Context, e *annotator.Entry) (string, error) {
	if e.Present == "" {
		return "", nil
	}
	states, err := v.States(ctx, e.ID)
	return codex.Present(&annotator.Entry{Present: e.Present, PresentRevision: e.PresentRevision, Claims: states}), err
}

// fillTexts sets the facts in story order, and the present statement, with links.
func (shown *entryPage) fillTexts(r *request) error {
	ctx, e := r.Context(), shown.Entry
	slices.SortFunc(e.Claims, func(a, b annotator.Claim) int {
		return cmp.Or(cmp.Compare(a.From, b.From), cmp.Compare(a.Ord, b.Ord), cmp.Compare(a.ID, b.ID))
	})
	texts, scenes := []string{e.Present}, []annotator.Order{e.PresentAt.Order()}
	places := make([]annotator.Place, 0, 2*len(e.Claims))
	for i := range e.Claims {
		c := &e.Claims[i]
		texts, scenes, places = append(texts, c.Text), append(scenes, c.From.Order()), append(places, c.From, c.Until)
	}
	r.view.at.Read(places)
	linker, err := r.newTermLinker(ctx, e.ID, texts, scenes)
	if err != nil {
		return err
	}
	now, err := r.view.present(ctx, e)
	if err != nil {
		return err
	}
	if now != "" {
		if shown.Now, err = linker.spans(ctx, now); err != nil {
			return err
		}
	}
	for i := range e.Claims {
		c := &e.Claims[i]
		text, err := linker.spans(ctx, c.Text)
		if err != nil {
			return err
		}
		f := &fact{Claim: *c, Text: text, From: r.view.place(c.From), Quotes: c.Evidence}
		if c.Until != 0 {
			f.Ended = r.view.place(c.Until)
		}
		shown.Facts = append(shown.Facts, f)
	}
	return nil
}

// fillLinks sets the entries that the texts link to, and the first entries whose facts name this one.
func (shown *entryPage) fillLinks(r *request) error {
	texts := slices.Clone(shown.Now)
	for _, f := range shown.Facts {
		texts = append(texts, f.Text...)
	}
	var to []int64
	for _, s := range texts {
		if s.Entry != 0 && !slices.Contains(to, s.Entry) {
			to = append(to, s.Entry)
		}
	}
	naming, err := r.naming(shown.Entry, 0)
	if err != nil {
		return err
	}
	from := naming.entries()
	shown.NamedMore = naming.After != "" || len(naming.Facts) > len(from)
	entries, err := r.view.Headings(r.Context(), append(slices.Clone(to), from...))
	shown.LinksTo, shown.LinkedBy = present(to, entries), present(from, entries)
	return err
}

// present returns the existing entries with some ids, in their order.
func present(ids []int64, entries map[int64]*annotator.Entry) (list []*annotator.Entry) {
	for _, id := range ids {
		if entries[id] != nil {
			list = append(list, entries[id])
		}
	}
	return list
}

// Source describes the origin of a fact.
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

// Repeats reports whether a quotation is equal to the text of the fact, without quotation marks.
func (f *fact) Repeats(e annotator.Evidence) bool {
	words := func(text string) string {
		return strings.Trim(strings.Join(strings.Fields(text), " "), "\"'“”‘’«»")
	}
	return words(e.Quote) == words(f.Claim.Text)
}
