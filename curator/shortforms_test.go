package curator

import (
	"testing"

	"annotator"
	"annotator/context/mention"
)

// TestOwnerOfShortForm tests which entry a short form is a name of; 0 for none.
func TestOwnerOfShortForm(t *testing.T) {
	t.Parallel()
	entry := func(id int64, tag string, names ...string) *annotator.Entry {
		e := &annotator.Entry{ID: id, Term: names[0], Tags: []string{tag}}
		for _, name := range names {
			e.Aliases = append(e.Aliases, annotator.Alias{Name: name})
		}
		return e
	}
	entries := map[int64]*annotator.Entry{
		1: entry(1, "person", "Orrin Marrow"), 2: entry(2, "person", "Jane Marrow", "Jane"),
		3: entry(3, "place", "Tallow House"), 4: entry(4, "person", "John Tallow"),
		5: entry(5, "person", "Giles Vane"), 6: entry(6, "person", "Hugh Vane"),
		7: entry(7, "event", "meeting of Orrin and Marrow"), 8: entry(8, "person", "Orrin's wife"),
		9: entry(9, "thing", "Silver Fork"), 10: entry(10, "person", "Anselm Caul"),
		11: entry(11, "person", "Katrine", "Katrine Dulany", "Miss Dulany", "The Singing Woman"),
	}
	named := map[int64]int{1: 3, 2: 2, 3: 4, 4: 1, 5: 1, 6: 1, 7: 1, 8: 1, 9: 3, 11: 2}
	for _, test := range []struct {
		form    string
		holders []int64
		want    int64
	}{
		{"Mr. Marrow", []int64{1, 2, 7}, 1},
		{"Mrs. Marrow", []int64{1, 2, 7}, 0}, // she may be his wife
		{"Orrin", []int64{1, 7, 8}, 1},       // the others are no names of his
		{"Miss Jane", []int64{2}, 2},
		{"Tallow", []int64{3, 4}, 0}, // the house may be meant
		{"Mr. Tallow", []int64{3, 4}, 4},
		{"Vane", []int64{5, 6}, 0},
		{"Fork", []int64{9}, 0},
		{"Miss Katrine", []int64{11}, 11},
		{"Mr. Dulany", []int64{11}, 0}, // she is Miss Dulany
		{"Caul", []int64{10}, 0},       // these scenes do not name him
	} {
		form := &shortForm{ShortForm: mention.ShortForm{Phrase: mention.Phrase{Text: test.form}, Holders: test.holders}}
		var got int64
		if e := owner(form, entries, named); e != nil {
			got = e.ID
		}
		if got != test.want {
			t.Errorf("%s is a name of %d, not of %d", test.form, got, test.want)
		}
	}
}
