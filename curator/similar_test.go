package curator_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"annotator"
	"annotator/codex"
	"annotator/curator"
)

func TestLikeAndClosest(t *testing.T) {
	t.Parallel()
	all := []annotator.Entry{
		entry(1, "Ysolde Marrow"), entry(2, "Ysolde Marow"), entry(3, "Marrow"), entry(4, "YSOLDE  marrow (ghost)"), entry(5, "Gallows Quay"),
		entry(6, "Yseult Marrow"), entry(7, "Ysolde Barrow"), entry(8, "Ysolde Marrows"), entry(9, "曙光"), entry(10, "曙光"),
	}
	index, known, ids := curator.NewIndex(), map[int64][]string{}, []int64{}
	for i := range all {
		id, name := all[i].ID, all[i].Aliases[0].Name
		index.Add(id, name)
		known[id], ids = []string{name}, append(ids, id)
	}
	known[7] = nil // it was retired
	like := index.Like(&all[0])
	if diff := cmp.Diff([]int64{2, 3, 4, 6, 7, 8}, like); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]int64{10}, index.Like(&all[8])); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]int64{4, 3, 8, 2, 6}, curator.Closest(&all[0], append(ids, ids...), known)); diff != "" {
		t.Errorf("closest: %s", diff)
	}
}

// TestLikeFindsWhatIsLike holds the index against a comparison of all names with all.
func TestLikeFindsWhatIsLike(t *testing.T) {
	t.Parallel()
	name := rapid.StringOfN(rapid.SampledFrom([]rune("abAé 曙")), 1, 8, -1)
	rapid.Check(t, func(t *rapid.T) {
		names := rapid.SliceOfN(name, 1, 12).Draw(t, "names")
		index := curator.NewIndex()
		for i, n := range names {
			index.Add(int64(i), n)
		}
		index.Add(0, names[0]) // once more
		var want []int64
		for i := range names[1:] {
			if similar(names[0], names[i+1]) >= curator.Likeness {
				want = append(want, int64(i+1))
			}
		}
		e := annotator.Entry{ID: 0, Term: names[0]}
		if diff := cmp.Diff(want, index.Like(&e)); diff != "" {
			t.Fatalf("like %q of %q: %s", names[0], names, diff)
		}
		if len(want) == 0 {
			return
		}
		index.Remove(want[0])
		if diff := cmp.Diff(want[1:], index.Like(&e), cmpopts.EquateEmpty()); diff != "" {
			t.Fatalf("like %q of %q, without %d: %s", names[0], names, want[0], diff)
		}
	})
}

// TestLikeIsBounded is a glossary in which everything is called alike: the most alike are what is returned.
func TestLikeIsBounded(t *testing.T) {
	t.Parallel()
	index := curator.NewIndex()
	for id := range int64(1_000) {
		index.Add(id, fmt.Sprintf("Vys of the year %d", id))
	}
	like := index.Like(&annotator.Entry{ID: 1_000, Term: "Vys of the year 777"})
	if len(like) != curator.MostLike || !slices.Contains(like, 777) || !slices.IsSorted(like) {
		t.Errorf("%d entries: %v", len(like), like)
	}
}

func TestNamesakes(t *testing.T) {
	t.Parallel()
	index := curator.NewIndex()
	add := func(id int64, names ...string) annotator.Entry {
		e := entry(id, names[0])
		for _, name := range names {
			index.Add(id, name)
			e.Aliases = append(e.Aliases, annotator.Alias{Name: name, From: e.First})
		}
		return e
	}
	const crew = 105 // so many have the words "the", "Mate" and "of"
	for id := range int64(crew) {
		add(id, fmt.Sprintf("The Mate of Vessel%d", id))
	}
	const barge, mate, book, zoe, sister, gone, signs = crew, crew + 1, crew + 2, crew + 3, crew + 4, crew + 5, crew + 6
	entries := map[int64]annotator.Entry{
		8: entry(8, "The Mate of Vessel8"), barge: add(barge, "VESSEL8", "Old Vessel9, the \"Hob\""), mate: add(mate, "Mate"),
		book: add(book, "The of"), zoe: add(zoe, "Zoë Arc-Marrow"), sister: add(sister, "Zoe", "Marrow of Zoe"), gone: add(gone, "Hob Zoe"),
		signs: add(signs, "\"*("),
	}
	index.Remove(gone)
	for id, want := range map[int64][]int64{
		8: {barge}, barge: {8, 9}, mate: nil, book: nil, zoe: {sister}, sister: {zoe}, gone: {zoe, sister, barge}, signs: nil,
	} {
		slices.Sort(want)
		e := entries[id]
		got := index.Namesakes(&e)
		slices.Sort(got)
		if !slices.Equal(got, want) {
			t.Errorf("namesakes of %s: %v, want %v", e.Name(), got, want)
		}
	}
	for id := range int64(curator.MostNamesakes + 2) {
		index.Add(1_000+id, fmt.Sprintf("Vys of the year %d", id))
	}
	got := index.Namesakes(&annotator.Entry{ID: 999, Term: "Vys 21"})
	if len(got) != curator.MostNamesakes || got[0] != 1_021 || got[1] != 1_000 {
		t.Errorf("of many the best come first: %v", got)
	}
}

// similar is the trigram likeness of two names, written as it is defined.
func similar(a, b string) float64 {
	one, other := trigrams(a), trigrams(b)
	shared := 0
	for _, gram := range one {
		if slices.Contains(other, gram) {
			shared++
		}
	}
	return float64(shared) / float64(len(one)+len(other)-shared)
}

func trigrams(name string) []string {
	runes := []rune("  " + codex.Normalize(name) + " ")
	var all []string
	for i := 0; i+3 <= len(runes); i++ {
		all = append(all, string(runes[i:i+3]))
	}
	slices.Sort(all)
	return slices.Compact(all)
}
