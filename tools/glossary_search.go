package tools

import (
	"context"
	"fmt"
	"slices"

	"annotator"
	"annotator/codex"
)

type searchArguments struct {
	Query             string   `json:"query" jsonschema:"words of a name or a fact"`
	Tags              []string `json:"tags,omitempty" shown:"hidden" jsonschema:"only entries with all of these"`
	Status            string   `json:"status,omitempty" shown:"hidden" enum:"all,tentative,confirmed,retired" default:"all" jsonschema:"all: not the retired ones"`
	Limit             int      `json:"limit,omitempty" shown:"hidden" min:"1" max:"50" default:"10" jsonschema:"entries at most"`
	IncludeReferences bool     `json:"include_references,omitempty" shown:"hidden" default:"false" jsonschema:"also entries whose facts link a found one as [[Term]]"`
}

func search(ctx context.Context, env *Env, a searchArguments) (Result, error) {
	tags, err := codex.Tags(a.Tags)
	if err != nil {
		return Result{}, err
	}
	query := annotator.Query{Text: codex.Clean(a.Query), Tags: tags, Statuses: statuses(a.Status), Limit: a.Limit}
	found, err := env.Glossary.Search(ctx, query)
	if err != nil {
		return Result{}, err
	}
	var referring []annotator.Entry
	if a.IncludeReferences {
		if referring, err = env.referring(ctx, found, a.Limit); err != nil {
			return Result{}, err
		}
	}
	return searchResult(query.Text, found, referring, min(env.maxContent(), maxSearch)), nil
}

func statuses(status string) []annotator.Status {
	switch status {
	case "all":
		return nil // the live ones
	case string(annotator.Retired):
		return []annotator.Status{annotator.Retired, annotator.Merged}
	}
	return []annotator.Status{annotator.Status(status)}
}

// referring returns at most limit other live entries whose definitions refer to a found entry as [[Name]].
func (env *Env) referring(ctx context.Context, found []annotator.Entry, limit int) ([]annotator.Entry, error) {
	var referring []annotator.Entry
	seen := map[int64]bool{}
	for i := range found {
		seen[found[i].ID] = true
	}
	for i := range found {
		candidates, err := env.Glossary.Search(ctx, annotator.Query{Text: found[i].Term, Limit: maxCandidates})
		if err != nil {
			return nil, err
		}
		for j := range candidates {
			c := &candidates[j]
			if len(referring) < limit && !seen[c.ID] && refersTo(c, &found[i]) {
				seen[c.ID] = true
				referring = append(referring, *c)
			}
		}
	}
	return referring, nil
}

// maxCandidates limits the entries that are searched for references to one found entry.
const maxCandidates = 200

func refersTo(from, to *annotator.Entry) bool {
	names := map[string]bool{codex.Normalize(to.Name()): true, codex.Normalize(to.Term): true}
	for _, alias := range to.Aliases {
		names[codex.Normalize(alias.Name)] = true
	}
	return slices.ContainsFunc(codex.Links(from.Definition()), func(name string) bool {
		return names[codex.Normalize(name)]
	})
}

type searchView struct {
	OK         bool        `json:"ok"`
	Count      int         `json:"count"` // of Entries
	Entries    []entryView `json:"entries"`
	References []entryView `json:"references,omitempty"`
	Truncated  string      `json:"truncated,omitempty"`
}

// minView is how many characters one of several entries gets at least.
const minView = 400

// searchResult shows as many entries as fit into a number of characters, at least the first. One that others follow gets
// half of what is left.
func searchResult(query string, found, referring []annotator.Entry, room int) Result {
	var result Result
	left := room
	show := func(entries []annotator.Entry) []entryView {
		views := []entryView{}
		for i := range entries {
			most := room
			if len(found)+len(referring) > 1 {
				most = max(left/2, minView)
			}
			view := viewEntry(&entries[i], most-len(","), query)
			if left -= jsonLength(view) + len(","); left < 0 {
				break
			}
			views = append(views, view)
			result.Shows = append(result.Shows, shownEntries(&entries[i], &view)...)
		}
		return views
	}
	view := searchView{OK: true, Entries: show(found), References: show(referring)}
	view.Count = len(view.Entries)
	if omitted := len(found) + len(referring) - view.Count - len(view.References); omitted > 0 {
		view.Truncated = fmt.Sprintf("%d more entries are left out for length; ask for fewer things at once", omitted)
	}
	result.Content = annotator.EncodeJSON(view)
	return result
}
