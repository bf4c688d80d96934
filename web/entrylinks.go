package web

import (
	"slices"

	"annotator"
	"annotator/codex"
	"annotator/context/mention"
	"annotator/view"
)

// linked are entries of a kind.
type linked struct {
	Kind    kind
	Entries []*annotator.Entry
}

// datedEvent is an event in which an entry has a part.
type datedEvent struct {
	*annotator.Entry
	At annotator.Position // of its first fact
}

// fillLinks sets the entries that the facts name, and those whose facts name this one. Facts of other pages name what
// they link to.
func (shown *entryPage) fillLinks(r *request) error {
	const read, most = 100, 8 // entries in all; of a kind, and of those that name it
	to, told, err := shown.linkedByFacts(r)
	if err != nil {
		return err
	}
	naming, err := r.naming(shown.Entry, 0)
	if err != nil {
		return err
	}
	from := naming.entries()
	shown.NamedAll = len(naming.Facts) > 0
	weights, err := r.view.Weights(r.Context(), slices.Concat(to, from))
	if err != nil {
		return err
	}
	heavier := func(a, b int64) int { return weights[b] - weights[a] }
	slices.SortStableFunc(to, heavier)
	slices.SortStableFunc(from, heavier)
	to, from = to[:min(read, len(to))], from[:min(most, len(from))]
	entries, err := r.view.Headings(r.Context(), slices.Concat(to, from))
	if err != nil {
		return err
	}
	shown.LinkedBy = present(from, entries)
	for k := people; k <= others; k++ {
		of := slices.DeleteFunc(present(to, entries), func(e *annotator.Entry) bool { return kindOf(e.Tags) != k })
		if len(of) > 0 && k != events {
			shown.Linked = append(shown.Linked, linked{k, of[:min(most, len(of))]})
		}
	}
	return shown.fillEvents(r, told)
}

// linkedByFacts returns the entries that the facts name, by id, and those that narrated facts link to.
func (shown *entryPage) linkedByFacts(r *request) (all, told []int64, err error) {
	texts := slices.Clone(shown.Now)
	for _, f := range shown.all() {
		texts = append(texts, f.Text...)
	}
	for _, s := range texts {
		all = append(all, s.Entry)
	}
	heads := slices.DeleteFunc(slices.Clone(shown.heads), func(c annotator.Claim) bool {
		return !codex.Shown(&c) || c.Ended == annotator.EndRefuted
	})
	linked, err := r.view.LinkedIn(r.Context(), heads)
	for i := range heads {
		all = append(all, linked[i]...)
		if heads[i].Kind == annotator.Narrated {
			told = append(told, linked[i]...)
		}
	}
	slices.Sort(all)
	all = slices.DeleteFunc(slices.Compact(all), func(id int64) bool { return id == 0 || id == shown.ID })
	return all, told, err
}

// eventsNaming returns the events with a narrated fact that links to the entry, is about it, or has its term. The term
// does not count if another entry has the same name.
func (shown *entryPage) eventsNaming(r *request) (ids []int64, err error) {
	ctx, e := r.Context(), shown.Entry
	found, err := r.view.EventsWith(ctx, e.Names(), e.ID)
	if err != nil || len(found) == 0 {
		return nil, err
	}
	claims := make([]annotator.Claim, len(found))
	for i := range found {
		claims[i] = found[i].Claim
	}
	linked, err := r.view.LinkedIn(ctx, claims)
	if err != nil {
		return nil, err
	}
	called, err := r.view.Called(ctx, []string{codex.Normalize(e.Term)})
	term := mention.New()
	if len(called) == 1 {
		term.SetNames(e.ID, []string{e.Term})
	}
	for i := range found {
		c := &claims[i]
		isNamed := slices.Contains(linked[i], e.ID)
		codex.ReplaceLinks(c.Text, func(plain string) { isNamed = isNamed || len(term.Occurrences(plain)) > 0 },
			func(string, string) {})
		if isNamed && codex.Shown(c) && c.Ended != annotator.EndRefuted {
			ids = append(ids, found[i].Entry)
		}
	}
	return ids, err
}

// fillEvents sets the events among the entries that facts link to, and those that link to this one. They are in the
// order of their first facts. It may never name them. A guess and what somebody says make no event: the list has no
// room to say that it may not be so.
func (shown *entryPage) fillEvents(r *request, ids []int64) error {
	const most, unfolded = 60, 12 // the last
	naming, err := shown.eventsNaming(r)
	if err != nil {
		return err
	}
	told, err := r.view.EventsAmong(r.Context(), append(ids, naming...))
	if err != nil {
		return err
	}
	shown.MoreEvents = len(told) > most
	told = told[max(0, len(told)-most):]
	entries, err := r.view.Headings(r.Context(), idsOf(told, func(t *view.ToldEvent) int64 { return t.Entry }))
	if err != nil {
		return err
	}
	var places []annotator.Place
	for _, t := range told {
		places = append(places, t.First)
	}
	r.view.at.Read(places)
	for _, t := range told {
		if e := entries[t.Entry]; e != nil && kindOf(e.Tags) == events {
			shown.Events = append(shown.Events, datedEvent{e, r.view.at.Named(t.First)})
		}
	}
	first := max(0, len(shown.Events)-unfolded)
	shown.Earlier, shown.Events = shown.Events[:first], shown.Events[first:]
	return nil
}
