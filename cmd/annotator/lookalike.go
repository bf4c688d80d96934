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
	"annotator/storage"
)

// lookAlike is an entry that may be a duplicate of another, with its name that looks the same.
type lookAlike struct {
	ID   int64  `json:"id"`
	Name string `json:"name"`
}

// lookAlikes returns the other live entries of a view of which a name looks the same as a name or as one of some
// entries' names.
func lookAlikes(ctx context.Context, v *storage.View, name string, entries []annotator.Entry) (found []lookAlike, err error) {
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

// printLookAlikes prints a line for each look-alike, with the code of each character that cannot be seen.
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
