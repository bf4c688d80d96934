package web

import (
	"context"
	"net/url"
	"slices"
	"strings"
	"sync"
	"unicode"

	"annotator"
	"annotator/codex"
	"annotator/exporters"
	"annotator/storage"
	"annotator/view"
)

// entryList is a page of a list of entries, or of a search.
type entryList struct {
	Text, Tag, Status, Sort, Letter string
	Statuses                        []annotator.Status
	Sorts, Kinds, Letters           []setting
	Cards                           []card
	part
}

// setting is a choice of what a list shows.
type setting struct {
	Label   string
	Count   int // of entries; 0: not counted
	URL     string
	Current bool
}

// The orders of a list. Without a choice it is by weight, and with a tag or a letter by name.
const (
	byWeight = "weight"
	byName   = "name"
	byFirst  = "first"
)

// maxWeighed is the number of entries in a list by weight: those that the story mentions most.
const maxWeighed = 200

func showEntries(r *request) (*page, error) {
	q := r.URL.Query()
	if begin := q.Get("begins"); begin != "" {
		return nil, r.suggest(begin)
	}
	list := newEntryList(q)
	asJSON := q.Get("format") == "json"
	if !slices.Contains([]string{byWeight, byName, byFirst}, list.Sort) {
		list.Sort = byName
		if list.Letter == "" && list.Status == "" && !asJSON {
			list.Sort = byWeight
		}
	}
	search := r.view.FindOutlines
	if asJSON {
		search = r.view.Find
	}
	found, err := list.find(r, search, r.view.Outlines)
	if err != nil {
		return nil, err
	}
	list.part = r.part(found.Total, pageSize)
	if asJSON {
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
	}, list.fillSettings(r)
}

// newEntryList returns the list that a query asks for, without its entries.
func newEntryList(q url.Values) *entryList {
	return &entryList{
		Text: strings.TrimSpace(q.Get("q")), Tag: strings.TrimSpace(q.Get("tag")), Status: q.Get("status"),
		Sort: q.Get("sort"), Letter: q.Get("letter"),
		Statuses: []annotator.Status{annotator.Tentative, annotator.Confirmed, annotator.Retired, annotator.Merged},
	}
}

// HasTag reports whether the tag of the list is one of its kinds.
func (list *entryList) HasTag() bool {
	return slices.ContainsFunc(list.Kinds, func(s setting) bool { return s.Label == list.Tag })
}

// suggest answers with the names of which a word begins with a text.
func (r *request) suggest(begin string) error {
	const most = 12
	names, err := r.view.NamesBeginning(r.Context(), shorten(begin, 80), most)
	if err != nil {
		return err
	}
	return r.sendJSON(struct {
		Names []string `json:"names"`
	}{append([]string{}, names...)})
}

// find returns the part of the list that the page shows, read by the functions.
func (list *entryList) find(r *request, search func(context.Context, annotator.Query) (view.Page, error),
	read func(context.Context, []int64) (map[int64]*annotator.Entry, error),
) (view.Page, error) {
	query := annotator.Query{
		Text: list.Text, Letter: list.Letter, ByAge: list.Sort == byFirst,
		Offset: (r.pageNumber() - 1) * pageSize, Limit: pageSize,
	}
	if list.Tag != "" {
		if _, err := codex.Tags([]string{list.Tag}); err != nil {
			return view.Page{}, annotator.Errorf(annotator.Misused, "%w", err)
		}
		query.Tags = []string{list.Tag}
	}
	if status := annotator.Status(list.Status); slices.Contains(list.Statuses, status) {
		query.Statuses = []annotator.Status{status}
	}
	if list.Sort == byWeight && list.Text == "" {
		return list.weighed(r, read)
	}
	return search(r.Context(), query)
}

// weighed returns the entries that the story mentions most, those that have the tag.
func (list *entryList) weighed(r *request, read func(context.Context, []int64) (map[int64]*annotator.Entry, error),
) (view.Page, error) {
	all, err := r.view.cast(r.Context(), maxWeighed)
	if err != nil {
		return view.Page{}, err
	}
	all = slices.DeleteFunc(all, func(e *annotator.Entry) bool {
		return !e.Status.Live() || list.Tag != "" && !slices.Contains(e.Tags, list.Tag)
	})
	at := r.part(len(all), pageSize)
	ids := idsOf(all[at.From:at.To], func(e **annotator.Entry) int64 { return (*e).ID })
	entries, err := read(r.Context(), ids)
	found := view.Page{Total: len(all)}
	for _, e := range present(ids, entries) {
		found.Entries = append(found.Entries, *e)
	}
	return found, err
}

// fillSettings sets the choices of the list, each with the others as they are.
func (list *entryList) fillSettings(r *request) error {
	link := func(tag, sort, letter string) string {
		return r.Link("entries", "?", "q", list.Text, "tag", tag, "sort", sort, "letter", letter)
	}
	var letters []string
	var err error
	list.Kinds, letters, err = list.kindLinks(r, "entries")
	if err != nil || list.Text != "" {
		return err
	}
	for _, s := range []setting{
		{Label: "how often they appear", URL: byWeight},
		{Label: "name", URL: byName},
		{Label: "where they appear first", URL: byFirst},
	} {
		s.Current, s.URL = s.URL == list.Sort, link(list.Tag, s.URL, list.Letter)
		if list.Letter != "" && strings.Contains(s.URL, "sort="+byWeight) {
			s.URL = link(list.Tag, byWeight, "")
		}
		list.Sorts = append(list.Sorts, s)
	}
	for _, l := range letters {
		list.Letters = append(list.Letters, setting{strings.ToUpper(l), 0, link(list.Tag, byName, l), l == list.Letter})
	}
	return nil
}

// kindLinks returns links to a list with the most frequent tags, and the letters with which terms begin.
func (list *entryList) kindLinks(r *request, section string) ([]setting, []string, error) {
	link := func(tag string) string {
		return r.Link(section, "?", "q", list.Text, "tag", tag, "sort", list.Sort, "letter", list.Letter)
	}
	tags, letters, err := r.db.kindsAt(r.Context(), r.view)
	all := []setting{{Label: "all", URL: link(""), Current: list.Tag == ""}}
	for _, t := range tags {
		all = append(all, setting{t.Tag, t.Count, link(t.Tag), t.Tag == list.Tag})
	}
	return all, letters, err
}

// kinds are the most frequent tags, and the letters with which terms begin, for the lists of entries. They are counted
// once for all lists with the same limit, until the run writes.
type kinds struct {
	mu    sync.Mutex
	pulse storage.Pulse
	found map[view.Moment]foundKinds
}

type foundKinds struct {
	tags    []view.TagCount
	letters []string
}

// kindsAt returns the kinds under the limit of a view.
func (d *servedDatabase) kindsAt(ctx context.Context, v *codexView) ([]view.TagCount, []string, error) {
	const most, limits = 10, 256 // tags, and limits that are remembered
	pulse, err := d.DB.Run.Pulse(ctx)
	if err != nil {
		return nil, nil, err
	}
	k := &d.kinds
	k.mu.Lock()
	defer k.mu.Unlock()
	if pulse != k.pulse || len(k.found) >= limits {
		k.pulse, k.found = pulse, map[view.Moment]foundKinds{}
	}
	f, ok := k.found[v.Moment()]
	if ok {
		return f.tags, f.letters, nil
	}
	if f.tags, err = v.Tags(ctx, most); err != nil {
		return nil, nil, err
	}
	if f.letters, err = v.letters(ctx); err == nil {
		k.found[v.Moment()] = f
	}
	return f.tags, f.letters, err
}

// letters returns the letters and digits with which terms begin; none if they are too many to be of use.
func (v *codexView) letters(ctx context.Context) ([]string, error) {
	const most = 60
	all, err := v.Letters(ctx)
	all = slices.DeleteFunc(all, func(l string) bool {
		return !strings.ContainsFunc(l, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) })
	})
	if len(all) > most {
		all = nil
	}
	return all, err
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
