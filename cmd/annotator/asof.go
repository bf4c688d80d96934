package main

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"annotator"
	"annotator/codex"
	"annotator/storage"

	"github.com/spf13/pflag"
)

func asOfFlag(flags *pflag.FlagSet, point *string) {
	flags.StringVar(point, "as-of", "", "the codex as it stood at a `POINT`: scene:N, post:ID, thread:ID (its end) or snapshot:N; empty: as it stands now")
}

// entriesAt reads every entry, live or not, by id: as they stood at a point, or as they stand now, at no moment, where none is
// named.
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

// momentAt finds a point in the story; nil where none is named.
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

// findEntryAt finds an entry of the past by its id, else by any of the names that it had then.
func findEntryAt(ctx context.Context, db *storage.DB, name, point string) (*annotator.Entry, *storage.Moment, error) {
	entries, moment, err := entriesAt(ctx, db, point)
	if err != nil {
		return nil, nil, err
	}
	if id, err := strconv.ParseInt(strings.TrimPrefix(name, "#"), 10, 64); err == nil {
		if at := slices.IndexFunc(entries, func(e annotator.Entry) bool { return e.ID == id }); at >= 0 {
			return &entries[at], moment, nil
		}
	}
	if e := foremostNamed(entries, name); e != nil {
		return e, moment, nil
	}
	none := annotator.Errorf(annotator.NotFound, "there was no entry %q at %s", name, point)
	if now, err := findEntry(ctx, db.Glossary, name); err == nil {
		none = none.WithAdvice("it is known from scene %d on", knownFrom(now, name).Scene()) // but not as what: that may be what the story keeps back
	}
	return nil, nil, none
}

// knownFrom is where an entry is first called so; where that is none of its names but its id, where it is first seen.
func knownFrom(e *annotator.Entry, name string) annotator.Place {
	key := codex.Normalize(name)
	for _, alias := range e.Aliases {
		if codex.Normalize(alias.Name) == key {
			return alias.From
		}
	}
	return e.First
}

// foremostNamed returns the entry that a name stands for: a live one before others, one that has it as its full name before
// those that have it as an alias.
func foremostNamed(entries []annotator.Entry, name string) *annotator.Entry {
	key := codex.Normalize(name)
	best, rank := (*annotator.Entry)(nil), 0
	for i := range entries {
		e := &entries[i]
		r := nameRank(e, key)
		if r > 0 && e.Status.Live() {
			r += 2
		}
		if r > rank {
			best, rank = e, r
		}
	}
	return best
}

// nameRank tells what a normalised name is to an entry: 2 its full name, 1 an alias, 0 none of its names.
func nameRank(e *annotator.Entry, key string) int {
	if codex.Normalize(e.Name()) == key {
		return 2
	}
	if slices.ContainsFunc(e.Aliases, func(a annotator.Alias) bool { return codex.Normalize(a.Name) == key }) {
		return 1
	}
	return 0
}

// asOf is the position of a moment; nil where there is none.
func (p *places) asOf(m *storage.Moment) *annotator.Position {
	if m == nil {
		return nil
	}
	position := p.at(m.Place)
	return &position
}

// standing tells from when an answer is.
func standing(position *annotator.Position) string { return fmt.Sprintf("as of %s", where(*position)) }
