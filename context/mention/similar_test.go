package mention_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"annotator/codex"
	"annotator/context/mention"
)

func sorted(entries []int64) []int64 {
	slices.Sort(entries)
	return entries
}

func TestSimilar(t *testing.T) {
	t.Parallel()
	names := []string{
		"Ysolde Marrow", "Ysolde Marow", "Marrow", "YSOLDE  marrow", "Gallows Quay", "Yseult Marrow", "Ysolde Barrow",
		"Ysolde Marrows",
		"曙光", "曙光",
	}
	index := indexOf(names...)
	if diff := cmp.Diff([]int64{2, 3, 4, 6, 7, 8}, sorted(index.SharingTrigrams(1, names[0]))); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]int64{10}, index.SharingTrigrams(9, names[8])); diff != "" {
		t.Error(diff)
	}
	index.SetNames(7, nil)
	if diff := cmp.Diff([]int64{4, 3, 8, 2}, index.Similar(1, names[:1], 5)); diff != "" {
		t.Errorf("most similar: %s", diff)
	}
	if diff := cmp.Diff([]int64{4, 3}, index.Similar(1, names[:1], 2)); diff != "" {
		t.Errorf("the two most similar: %s", diff)
	}
}

// TestSimilarKnowsNames: an entry whose name has a veto is not similar, and a nickname is.
func TestSimilarKnowsNames(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name, other string
		want        bool
	}{
		{"Mr. Bennet", "Mrs. Bennet", false},
		{"Room 101", "Room 102", false},
		{"Jane Bennet", "Elizabeth Bennet", false},
		{"Lizzy", "Elizabeth Bennet", true},
		{"the blind man", "the hooded man", true},
	} {
		got := indexOf(test.name, test.other).Similar(1, []string{test.name}, 5)
		if slices.Contains(got, 2) != test.want {
			t.Errorf("%s and %s: %v", test.name, test.other, got)
		}
	}
}

// TestSharingTrigramsFindsAllOfThem compares all names with all, by another function. The spellings may be kept before
// the names change or made after.
func TestSharingTrigramsFindsAllOfThem(t *testing.T) {
	t.Parallel()
	name := rapid.StringOfN(rapid.SampledFrom([]rune("abAé 曙")), 1, 8, -1)
	rapid.Check(t, func(t *rapid.T) {
		names := rapid.SliceOfN(name, 1, 12).Draw(t, "names")
		index, late := mention.New(), mention.New()
		for i, n := range names {
			index.SetNames(int64(i), []string{n})
			index.SharingTrigrams(0, n)
			late.SetNames(int64(i), []string{n})
		}
		for _, x := range []*mention.Index{index, late} {
			x.SetNames(0, []string{names[0], names[0]})
		}
		var want []int64
		for i := range names[1:] {
			if similar(names[0], names[i+1]) >= mention.MinSimilarity {
				want = append(want, int64(i+1))
			}
		}
		if diff := cmp.Diff(want, sorted(index.SharingTrigrams(0, names[0]))); diff != "" {
			t.Fatalf("similar to %q of %q: %s", names[0], names, diff)
		}
		if diff := cmp.Diff(late.Similar(0, names[:1], 12), index.Similar(0, names[:1], 12)); diff != "" {
			t.Fatalf("similar to %q of %q, filled late: %s", names[0], names, diff)
		}
		if len(want) == 0 {
			return
		}
		index.SetNames(want[0], nil)
		if diff := cmp.Diff(want[1:], sorted(index.SharingTrigrams(0, names[0])), cmpopts.EquateEmpty()); diff != "" {
			t.Fatalf("similar to %q of %q, without %d: %s", names[0], names, want[0], diff)
		}
	})
}

// TestSharingTrigramsIsBounded is a glossary in which all names are similar: the most similar are what is returned.
func TestSharingTrigramsIsBounded(t *testing.T) {
	t.Parallel()
	index := mention.New()
	for id := range int64(1_000) {
		index.SetNames(id, []string{fmt.Sprintf("Vys of the year %d", id)})
	}
	found := index.SharingTrigrams(1_000, "Vys of the year 777")
	if len(found) != mention.MaxByTrigrams || found[0] != 777 {
		t.Errorf("%d entries: %v", len(found), found)
	}
}

// TestSimilarByRareWords tests that names are similar that share a rare word. The words of most names have no effect,
// in any language.
func TestSimilarByRareWords(t *testing.T) {
	t.Parallel()
	for _, article := range []string{"the", "die"} {
		names := []string{
			article + " Mere", article + " Watch", article + " Moths", "Mere Watch", article + " Hush",
			"Ledger of " + article + " Quay",
		}
		for _, c := range "bcdfgklmnpqrstvwz" {
			names = append(names, article+" "+strings.Repeat(string(c)+"o", 3))
		}
		index := indexOf(names...)
		for id, want := range map[int64][]int64{1: {4}, 2: {4}, 3: {}, 5: {}, 6: {}} {
			if got := index.Similar(id, names[id-1:id], 5); !slices.Equal(got, want) {
				t.Errorf("similar to %s: %v, want %v", names[id-1], got, want)
			}
		}
	}
}

func TestSharingWords(t *testing.T) {
	t.Parallel()
	const crew = 105 // this many have the words "the", "Mate" and "of"
	const barge, mate, book, zoe, sister, gone, signs = crew, crew + 1, crew + 2, crew + 3, crew + 4, crew + 5, crew + 6
	names := map[int64][]string{
		barge: {"VESSEL8", "Old Vessel9, the \"Hob\""}, mate: {"Mate"}, book: {"The of"}, zoe: {"Zoë Arc-Marrow"},
		sister: {"Zoe", "Marrow of Zoe"}, gone: {"Hob Zoe"}, signs: {"\"*("},
	}
	for id := range int64(crew) {
		names[id] = []string{fmt.Sprintf("The Mate of Vessel%d", id)}
	}
	index := mention.New()
	for id := range names {
		index.SetNames(id, names[id])
	}
	index.SetNames(gone, nil)
	for id, want := range map[int64][]int64{
		8: {barge}, barge: {8, 9}, mate: nil, book: nil, zoe: {sister}, sister: {zoe}, gone: {zoe, sister, barge},
		signs: nil,
	} {
		got := index.SharingWords(id, names[id]...)
		if !slices.Equal(sorted(got), sorted(want)) {
			t.Errorf("entries that share words with %q: %v, want %v", names[id], got, want)
		}
	}
	for id := range int64(mention.MaxByWords + 2) {
		index.SetNames(1_000+id, []string{fmt.Sprintf("Vys of the year %d", id)})
	}
	got := index.SharingWords(999, "Vys 21")
	if len(got) != mention.MaxByWords || got[0] != 1_021 || got[1] != 1_000 {
		t.Errorf("of many the best come first: %v", got)
	}
}

// similar is the trigram similarity of two names, written as it is defined.
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

// TestNamesThatLookTheSame: they are the most similar ones, though they share no trigram and no word.
func TestNamesThatLookTheSame(t *testing.T) {
	t.Parallel()
	index := mention.New()
	for id, name := range []string{"Cope", "Соре", "ＣＯＰＥ", "Copper", "Соня", "Cope\u200b", ""} {
		index.SetNames(int64(id+1), []string{name})
	}
	if got := index.Similar(1, []string{"Cope"}, 3); !slices.Equal(got, []int64{2, 3, 6}) {
		t.Errorf("similar: %v", got)
	}
	index.SetNames(3, nil)
	if got := index.Similar(0, []string{"Other", "COPE"}, 3); !slices.Equal(got, []int64{1, 2, 6}) {
		t.Errorf("similar: %v", got)
	}
}
