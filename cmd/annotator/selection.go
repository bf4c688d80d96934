package main

import (
	"context"
	"slices"

	"annotator"
	"annotator/codex"
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
	notFound := annotator.Errorf(annotator.NotFound, "there was no entry %q at %s", name, point)
	if now, err := findEntry(ctx, db.Glossary, name); err == nil {
		notFound = notFound.WithAdvice("it is known from scene %d on", knownFrom(now, name).Scene()) // its present term may be a spoiler
	}
	return nil, nil, notFound
}

// knownFrom returns where an entry first has a name; if it never has, where the entry first occurs.
func knownFrom(e *annotator.Entry, name string) annotator.Place {
	if at := aliasIndex(e, codex.Normalize(name)); at >= 0 {
		return e.Aliases[at].From
	}
	return e.First
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
