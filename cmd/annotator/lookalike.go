package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"annotator"
	"annotator/codex"
	"annotator/view"
)

// lookAlike is an entry that may be a duplicate of another, with the name that looks the same.
type lookAlike struct {
	ID   int64  `json:"id"`
	Name string `json:"name"`
}

// lookAlikes returns the live entries of a view with a name that looks like a given name, or like a name of the given
// entries. It omits these entries.
func lookAlikes(ctx context.Context, v *view.View, name string,
	entries []annotator.Entry,
) (found []lookAlike, err error) {
	all, err := v.Names(ctx)
	if err != nil {
		return nil, err
	}
	names := []string{name}
	for i := range entries {
		delete(all, entries[i].ID)
		names = append(names, entries[i].Names()...)
	}
	alike := codex.LookAlikes(names)
	for id, names := range all {
		if at := slices.IndexFunc(names, alike); at >= 0 {
			found = append(found, lookAlike{id, names[at]})
		}
	}
	slices.SortFunc(found, func(a, b lookAlike) int { return cmp.Compare(a.ID, b.ID) })
	return found, nil
}

// printLookAlikes prints a line for each look-alike, with the codes of invisible characters.
func printLookAlikes(w io.Writer, list []lookAlike) {
	for _, l := range list {
		var name strings.Builder
		for _, r := range l.Name {
			if codex.Invisible(r) {
				fmt.Fprintf(&name, "<U+%04X>", r)
			} else {
				name.WriteRune(r)
			}
		}
		fmt.Fprintf(w, "looks the same, perhaps a duplicate: #%d %s\n", l.ID, oneLine(name.String()))
	}
}
