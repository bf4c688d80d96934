package main

import (
	"context"
	"slices"
	"strings"

	"annotator"
	"annotator/codex"
	"annotator/exporters"
	"annotator/storage"

	"github.com/spf13/pflag"
)

func asOfFlag(flags *pflag.FlagSet, point *string) {
	flags.StringVar(point, "as-of", "", "the codex at a `POINT` of the story: scene:N, post:ID, thread:ID (its end) or snapshot:N; empty: now")
}

// entriesAt reads every entry, of any status, in the order of their ids: as of a point, or the current ones and no
// moment if the point is empty.
func entriesAt(ctx context.Context, db *storage.DB, point string) ([]annotator.Entry, *storage.Moment, error) {
	if point == "" {
		var entries []annotator.Entry
		for e, err := range db.Glossary.All(ctx) {
			if err != nil {
				return nil, nil, err
			}
			entries = append(entries, *e)
		}
		return entries, nil, nil
	}
	moment, err := momentAt(ctx, db, point)
	if err != nil {
		return nil, nil, err
	}
	entries, err := db.History.AsOf(ctx, *moment)
	return entries, moment, err
}

// momentAt returns the moment of a point; nil for an empty one.
func momentAt(ctx context.Context, db *storage.DB, point string) (*storage.Moment, error) {
	if point == "" {
		return nil, nil
	}
	parsed, err := storage.ParsePoint(point)
	if err != nil {
		return nil, err
	}
	moment, err := db.History.Moment(ctx, parsed)
	return &moment, err
}

// findEntryAt finds an entry as of a point, by its id or by any name that it had then.
func findEntryAt(ctx context.Context, db *storage.DB, name, point string) (*annotator.Entry, *storage.Moment, error) {
	entries, moment, err := entriesAt(ctx, db, point)
	if err != nil {
		return nil, nil, err
	}
	if id, ok := entryID(name); ok {
		if at := slices.IndexFunc(entries, func(e annotator.Entry) bool { return e.ID == id }); at >= 0 {
			return &entries[at], moment, nil
		}
	}
	if e := bestNamed(entries, name); e != nil {
		return e, moment, nil
	}
	return nil, nil, noEntry(ctx, db, name, point)
}

// noEntry returns the error of a name that no entry has, or had at a point. It offers similar names of that point, and
// does not tell whether the name occurs later.
func noEntry(ctx context.Context, db *storage.DB, name, point string) error {
	err, list := annotator.Errorf(annotator.NotFound, "there is no entry %q", name), "annotator search"
	if point != "" {
		err, list = annotator.Errorf(annotator.NotFound, "there was no entry %q at %s", name, point), list+" --as-of "+point
	}
	if alike := alikeAt(ctx, db, name, point); len(alike) > 0 {
		return err.WithAdvice("the name of #%d looks the same, but has other characters: %s", alike[0].ID, alike[0].Name)
	}
	near, nearErr := closeSpellings(ctx, db, name, point, exporters.Filter{})
	if nearErr == nil && len(near) == 0 {
		near, nearErr = searchAt(ctx, db, annotator.Query{Text: name, Limit: maxOffered + 1}, point)
	}
	switch {
	case nearErr != nil || len(near) == 0:
		return err.WithAdvice("find entries by words with `%s`", list)
	case len(near) > maxOffered:
		return err.WithAdvice("did you mean %s? `%s %s` finds more", listNames(near[:maxOffered]), list, quoted(name))
	}
	return err.WithAdvice("did you mean %s?", listNames(near))
}

// maxOffered is how many entries are offered in the place of one that does not exist.
const maxOffered = 3

// searchAt searches the codex as of a point; an empty point is now.
func searchAt(ctx context.Context, db *storage.DB, query annotator.Query, point string) ([]annotator.Entry, error) {
	moment, err := momentAt(ctx, db, point)
	switch {
	case err != nil:
		return nil, err
	case moment == nil:
		return db.Glossary.Search(ctx, query)
	}
	return db.History.Search(ctx, *moment, query)
}

// closeSpellings returns those of the selected entries that have a name, or a word in a name, that differs from a text in no more than a
// third of its letters: the closest first, at most as many as are offered.
func closeSpellings(ctx context.Context, db *storage.DB, text, point string, filter exporters.Filter) ([]annotator.Entry, error) {
	entries, _, err := entriesAt(ctx, db, point)
	key := codex.Normalize(text)
	distances := map[int64]int{}
	entries = slices.DeleteFunc(filter.Select(entries), func(e annotator.Entry) bool {
		distances[e.ID] = nameDistance(&e, key)
		return distances[e.ID] > len(key)/3
	})
	slices.SortStableFunc(entries, func(a, b annotator.Entry) int { return distances[a.ID] - distances[b.ID] })
	return entries[:min(len(entries), maxOffered)], err
}

// nameDistance is the edit distance of a normalised text to the closest name of an entry, or word in one.
func nameDistance(e *annotator.Entry, key string) int {
	least := editDistance(key, codex.Normalize(e.Name()))
	for _, alias := range e.Aliases {
		name := codex.Normalize(alias.Name)
		for _, part := range append(strings.Fields(name), name) {
			least = min(least, editDistance(key, part))
		}
	}
	return least
}

// bestNamed returns the entry that a name stands for. A live entry comes before others, a full name before an alias.
func bestNamed(entries []annotator.Entry, name string) *annotator.Entry {
	key := codex.Normalize(name)
	var best *annotator.Entry
	bestRank := 0
	for i := range entries {
		e := &entries[i]
		rank := 0
		if codex.Normalize(e.Name()) == key {
			rank = 2
		} else if aliasIndex(e, key) >= 0 {
			rank = 1
		}
		if rank > 0 && e.Status.Live() {
			rank += 2
		}
		if rank > bestRank {
			best, bestRank = e, rank
		}
	}
	return best
}

// aliasIndex finds the alias with a normalised name; -1 if there is none.
func aliasIndex(e *annotator.Entry, key string) int {
	return slices.IndexFunc(e.Aliases, func(a annotator.Alias) bool { return codex.Normalize(a.Name) == key })
}

// filter selects entries by status and tags.
type filter struct {
	flags    *pflag.FlagSet
	statuses []string
	tags     []string
}

// statuses are all statuses of an entry.
var statuses = [...]annotator.Status{annotator.Tentative, annotator.Confirmed, annotator.Retired, annotator.Merged}

// allStatuses selects every status.
const allStatuses = "all"

func filterFlags(flags *pflag.FlagSet) *filter {
	f := &filter{flags: flags}
	names := append([]string{allStatuses}, texts(statuses[:])...)
	wordsFlag(flags, &f.statuses, "status", names, "only entries of this `STATUS`: tentative, confirmed, retired, merged or all (default: the live ones)")
	flags.StringSliceVar(&f.tags, "tag", nil, "only entries with this `TAG`; repeated: with all of them")
	return f
}

// resolve returns the statuses and the normalised tags. No status stands for the live ones.
func (f *filter) resolve() (chosen []annotator.Status, tags []string, err error) {
	for flag, values := range map[string][]string{"status": f.statuses, "tag": f.tags} {
		if f.flags.Changed(flag) && len(values) == 0 { // for example from an unset variable of the shell
			return nil, nil, annotator.Errorf(annotator.Misused, "--%s is empty", flag).WithAdvice("give a value, or leave it out")
		}
	}
	for _, name := range f.statuses {
		if name == allStatuses {
			chosen = append(chosen, statuses[:]...)
		} else {
			chosen = append(chosen, annotator.Status(name))
		}
	}
	tags, err = codex.Tags(f.tags)
	if err != nil {
		return nil, nil, annotator.Errorf(annotator.Misused, "--tag: %w", err)
	}
	return chosen, tags, nil
}
