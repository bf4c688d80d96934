package main

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"annotator"
	"annotator/codex"
	"annotator/storage"

	"github.com/spf13/pflag"
)

func asOfFlag(flags *pflag.FlagSet, point *string) {
	flags.StringVar(point, "as-of", "", "the codex at a `POINT` of the story: scene:N, post:ID, thread:ID (its end) or snapshot:N; empty: now")
}

// viewAt returns the view as of a point; an empty point is now.
func viewAt(ctx context.Context, db *storage.DB, point string) (*storage.View, error) {
	moment, err := momentAt(ctx, db, point)
	if err != nil {
		return nil, err
	}
	if moment == nil {
		moment = &storage.Moment{}
	}
	return db.View(*moment), nil
}

// allEntries reads every entry of a view, of any status, in the order of their ids.
func allEntries(ctx context.Context, v *storage.View) (entries []annotator.Entry, err error) {
	for e, err := range v.All(ctx) {
		if err != nil {
			return nil, err
		}
		entries = append(entries, *e)
	}
	return entries, nil
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

// findEntry returns the entry with an id, 12 or #12, else the one that a name stands for: a live entry before others, a
// full name before an alias. It returns nil if there is none, and an error of kind annotator.Misused where the name is an
// alias of several.
func findEntry(ctx context.Context, v *storage.View, name string) (*annotator.Entry, error) {
	if id, err := strconv.ParseInt(strings.TrimPrefix(name, "#"), 10, 64); err == nil {
		if e, err := v.Entry(ctx, id); annotator.KindOf(err) != annotator.NotFound {
			return e, err
		}
	}
	found, err := v.Named(ctx, name)
	if err != nil || len(found) == 0 {
		return nil, err
	}
	keys := []string{codex.Normalize(name), codex.Normalize(codex.CleanName(name))} // as it is, and without invisible characters
	if len(found) > 1 && found[0].Status.Live() && !slices.Contains(keys, codex.Normalize(found[0].Name())) {
		return nil, annotator.Errorf(annotator.Misused, "several entries have the name %q: %s", name, listNames(found)).WithAdvice("name one by its id")
	}
	return &found[0], nil
}

// maxOffered is how many entries are offered in the place of one that does not exist.
const maxOffered = 3

// closeSpellings returns the entries with a name, or a word in a name, that differs from a text in no more than a third
// of its letters: the closest first, at most maxOffered.
func closeSpellings(entries []annotator.Entry, text string) []annotator.Entry {
	key := codex.Normalize(text)
	distances := map[int64]int{}
	near := slices.DeleteFunc(slices.Clone(entries), func(e annotator.Entry) bool {
		distances[e.ID] = nameDistance(&e, key)
		return distances[e.ID] > utf8.RuneCountInString(key)/3
	})
	slices.SortStableFunc(near, func(a, b annotator.Entry) int { return distances[a.ID] - distances[b.ID] })
	return near[:min(len(near), maxOffered)]
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
