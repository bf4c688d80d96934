package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"annotator"
	"annotator/codex"
	"annotator/exporters"
	"annotator/storage"
	"annotator/view"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// pointForms are the forms of a point of the story, for help.
const pointForms = `chapter:N, scene:N or book:N (to its end), chapter:"TITLE", or snapshot:N`

func asOfFlag(flags *pflag.FlagSet, point *string) {
	flags.StringVar(point, "as-of", "", "the codex at a `POINT` of the story: "+pointForms+"; empty: now")
}

// codexView is the codex at a point of the story.
type codexView struct {
	*view.View
	limited
	db        *storage.DB
	point     string // that --as-of names; empty: now
	positions *view.Positions
}

// limited is the limit of an answer, with the titles of the threads until there.
type limited struct {
	AsOf   *annotator.Position `json:"as_of,omitempty"` // with --as-of
	titles view.Titles
}

// at writes a position for people.
func (l *limited) at(p annotator.Position) string { return oneLine(l.titles.Label(p)) }

// printAsOf prints the limit; nothing without one.
func (l *limited) printAsOf(w io.Writer) {
	if l.AsOf != nil {
		fmt.Fprintf(w, "as of %s\n", l.at(*l.AsOf))
	}
}

// answersAsOf makes a command print the result of find in the codex at the point that --as-of names.
func (a *app) answersAsOf(cmd *cobra.Command,
	find func(context.Context, *codexView, []string) (result, error),
) *cobra.Command {
	var point string
	asOfFlag(cmd.Flags(), &point)
	return a.answers(cmd, func(ctx context.Context, db *storage.DB, args []string) (result, error) {
		v, err := codexAt(ctx, db, point)
		if err != nil {
			return nil, err
		}
		found, err := find(ctx, v, args)
		return found, cmp.Or(err, v.positions.Err)
	})
}

// codexAt returns the codex at a point; an empty point is now.
func codexAt(ctx context.Context, db *storage.DB, point string) (*codexView, error) {
	shown, err := viewAt(ctx, db, point)
	if err != nil {
		return nil, err
	}
	v := &codexView{View: shown, db: db, point: point, positions: view.NewPositions(ctx, db)}
	v.AsOf = positionOf(shown, v.positions)
	v.titles, err = shown.Titles(ctx)
	return v, err
}

// viewAt returns the view up to a point; an empty point is now.
func viewAt(ctx context.Context, db *storage.DB, point string) (*view.View, error) {
	if point == "" {
		return view.At(db, view.Moment{}), nil
	}
	parsed, err := view.ParsePoint(point)
	if err != nil {
		return nil, err
	}
	moment, err := view.MomentAt(ctx, db, parsed)
	return view.At(db, moment), err
}

// positionOf returns the position of a view's limit; nil for now.
func positionOf(v *view.View, p *view.Positions) *annotator.Position {
	moment := v.Moment()
	if moment.IsZero() {
		return nil
	}
	return new(p.At(moment.Place))
}

// allEntries reads every entry of a view, of any status, in the order of their ids.
func allEntries(ctx context.Context, v *view.View) (entries []annotator.Entry, err error) {
	for e, err := range v.All(ctx) {
		if err != nil {
			return nil, err
		}
		entries = append(entries, *e)
	}
	return entries, nil
}

// findEntry returns the entry with an id, 12 or #12, else the one with a name, else the only one with its words. Live
// entries precede others, and terms precede aliases. The error is of kind annotator.NotFound, or annotator.Misused for
// an alias of several entries.
func (v *codexView) findEntry(ctx context.Context, name string) (*annotator.Entry, error) {
	if strings.TrimSpace(name) == "" {
		return nil, annotator.Errorf(annotator.Misused, "the name of an entry is empty").
			WithAdvice("`annotator search ''` lists all entries")
	}
	if id, err := strconv.ParseInt(strings.TrimPrefix(name, "#"), 10, 64); err == nil {
		if e, err := v.Entry(ctx, id); annotator.KindOf(err) != annotator.NotFound {
			return e, err
		}
	}
	found, err := v.Named(ctx, name)
	if err != nil {
		return nil, err
	}
	if len(found) == 0 {
		if only, err := v.onlyEntryWith(ctx, name); only != nil || err != nil {
			return only, err
		}
		return nil, v.entryNotFound(ctx, name)
	}
	// with and without invisible characters
	keys := []string{codex.Normalize(name), codex.Normalize(codex.CleanName(name))}
	if len(found) > 1 && found[0].Status.Live() && !slices.Contains(keys, codex.Normalize(found[0].Name())) {
		return nil, annotator.Errorf(annotator.Misused, "several entries have the name %q: %s", name, listNames(found)).
			WithAdvice("name one by its id")
	}
	return &found[0], nil
}

// onlyEntryWith returns the live entry that alone has all words of a text in one of its names; nil if there is none.
func (v *codexView) onlyEntryWith(ctx context.Context, text string) (*annotator.Entry, error) {
	names, err := v.Names(ctx)
	if err != nil {
		return nil, err
	}
	words := codex.NewWords(strings.Fields(text))
	var only int64
	for id, names := range names {
		if !slices.ContainsFunc(names, words.AllIn) {
			continue
		}
		if only != 0 {
			return nil, nil
		}
		only = id
	}
	if only == 0 {
		return nil, nil
	}
	return v.Entry(ctx, only)
}

// entryNotFound returns the error for a name without an entry. It suggests similar names within the view, so it does
// not reveal whether the name occurs later.
func (v *codexView) entryNotFound(ctx context.Context, name string) error {
	err, list := annotator.Errorf(annotator.NotFound, "there is no entry %q", name), "annotator search"
	if v.point != "" {
		err, list = annotator.Errorf(annotator.NotFound, "there was no entry %q at %s", name, v.point),
			list+" --as-of "+quoted(v.point)
	}
	if alike, _ := lookAlikes(ctx, v.View, name, nil); len(alike) > 0 {
		return err.WithAdvice("the name of #%d looks the same, but has other characters: %s", alike[0].ID,
			alike[0].Name)
	}
	entries, _ := allEntries(ctx, v.View) // without them, the advice is general
	near := similarEntries(exporters.Select(entries, nil, nil), name)
	if len(near) == 0 {
		page, _ := v.Find(ctx, annotator.Query{Text: name, Limit: maxSuggestions + 1})
		near = page.Entries
	}
	switch {
	case len(near) == 0:
		return err.WithAdvice("find entries by words with `%s`", list)
	case len(near) > maxSuggestions:
		return err.WithAdvice("did you mean %s? `%s %s` finds more", listNames(near[:maxSuggestions]), list,
			quoted(name))
	}
	return err.WithAdvice("did you mean %s?", listNames(near))
}

func listNames(entries []annotator.Entry) string {
	names := make([]string, len(entries))
	for i := range entries {
		names[i] = fmt.Sprintf("#%d %s", entries[i].ID, entries[i].Name())
	}
	return strings.Join(names, ", ")
}

// maxSuggestions is the maximum number of suggested entries.
const maxSuggestions = 3

// similarEntries returns the entries with a name, or a word in a name, that is similar to a text. At most a third of
// the letters differ. The result has at most maxSuggestions entries, the most similar first.
func similarEntries(entries []annotator.Entry, text string) []annotator.Entry {
	key := codex.Normalize(text)
	distances := map[int64]int{}
	near := slices.DeleteFunc(slices.Clone(entries), func(e annotator.Entry) bool {
		distances[e.ID] = nameDistance(&e, key)
		return distances[e.ID] > utf8.RuneCountInString(key)/3
	})
	slices.SortStableFunc(near, func(a, b annotator.Entry) int { return distances[a.ID] - distances[b.ID] })
	return near[:min(len(near), maxSuggestions)]
}

// nameDistance is the least edit distance of a normalised text to the names of an entry and their words.
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
	wordsFlag(flags, &f.statuses, "status", names,
		"only entries of this `STATUS`: tentative, confirmed, retired, merged or all (default: the live ones)")
	flags.StringSliceVar(&f.tags, "tag", nil, "only entries with this `TAG`; repeated: with all of them")
	return f
}

// resolve returns the statuses and the normalised tags. No status selects the live entries.
func (f *filter) resolve() (chosen []annotator.Status, tags []string, err error) {
	for flag, values := range map[string][]string{"status": f.statuses, "tag": f.tags} {
		if f.flags.Changed(flag) && len(values) == 0 { // for example from an unset variable of the shell
			return nil, nil, annotator.Errorf(annotator.Misused, "--%s is empty", flag).
				WithAdvice("give a value, or leave it out")
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

// maxTags is how many tags a mistyped one is compared with, those with the most entries.
const maxTags = 1000

// explainNone returns an error if a tag has no entry in the view and looks like one that has. It is called when nothing
// was found.
func (f *filter) explainNone(ctx context.Context, v *view.View, tags []string) error {
	if len(tags) == 0 {
		return nil
	}
	counts, err := v.Tags(ctx, maxTags)
	if err != nil {
		return err
	}
	var known []string
	for _, c := range counts {
		known = append(known, c.Tag)
	}
	for _, tag := range without(tags, known) {
		if near := nearest(tag, known); near != "" {
			return annotator.Errorf(annotator.NotFound, "no entry has the tag %q", tag).
				WithAdvice("did you mean %s?", near)
		}
	}
	return nil
}
