package mention_test

import (
	"fmt"
	"strings"
	"testing"

	"annotator/context/mention"
)

// shortFormsOf returns the short forms of some scenes, each with its count, its first place and its holders.
func shortFormsOf(names map[int64][]string, scenes ...string) string {
	index, usage := mention.New(), mention.NewUsage()
	for id, list := range names {
		index.SetNames(id, list)
	}
	for _, text := range scenes {
		usage.Add(text)
	}
	forms, _ := index.ShortForms(scenes, usage, 10)
	var list []string
	for _, f := range forms {
		list = append(list, fmt.Sprint(f.Text, " ", f.Count, " ", f.Scene, ":", f.Start, " ", f.Holders))
	}
	return strings.Join(list, "; ")
}

func TestShortForms(t *testing.T) {
	t.Parallel()
	people := map[int64][]string{1: {"Orrin Marrow"}, 2: {"Wren"}}
	for _, test := range []struct {
		name, want string
		scenes     []string
	}{
		{"a surname", "Marrow 2 0:8 [1]", []string{"We saw, Marrow and I.", "The oars and Marrow's boat sank."}},
		{"a title with a point", "Mr. Marrow 2 0:3 [1]", []string{
			"So Mr. Marrow left, so Mr.\nMarrow came, Marrow's way, so.",
		}},
		{"a title before a name", "Miss Wren 2 0:6 [2]", []string{"where Miss Wren is, Miss Wren is."}},
		{"a title in dialect", "Mis' Wren 2 0:6 [2]", []string{"where Mis' Wren is, Mis' Wren is, so Wren is."}},
		{"a whole name", "", []string{"There Orrin Marrow sat, and Orrin Marrow ate."}},
		{"a word of the language", "", []string{"The marrow and marrow and marrow, and Marrow, Marrow."}},
		{"once", "", []string{"There Marrow sat."}},
		{"the beginning of a sentence", "Marrow 2 0:20 [1]", []string{
			"It sank but so. But Marrow swam, and Marrow sank.",
		}},
	} {
		if got := shortFormsOf(people, test.scenes...); got != test.want {
			t.Errorf("%s: %q, not %q", test.name, got, test.want)
		}
	}
}
