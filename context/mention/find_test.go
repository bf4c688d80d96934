package mention_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"annotator/codex"
	"annotator/context/mention"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/text/unicode/norm"
	"pgregory.net/rapid"
)

// indexOf returns an index of names, whose ids count from 1.
func indexOf(names ...string) *mention.Index {
	index := mention.New()
	for i, name := range names {
		index.SetNames(int64(i+1), []string{name})
	}
	return index
}

func ExampleIndex() {
	index := mention.New()
	index.SetNames(1, []string{"Holmes", "Sherlock Holmes"})
	index.SetNames(2, []string{"Baker Street"})
	for _, match := range index.Find("Holmes was at home in Baker Street, and Sherlock Holmes's pipe was lit.") {
		fmt.Printf("entry %d, %d times, first at %d\n", match.ID, match.Count, match.First)
	}
	// Output:
	// entry 1, 2 times, first at 0
	// entry 2, 1 times, first at 22
}

func TestFind(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name  string
		names []string
		text  string
		want  []mention.Match
	}{
		{"a word", []string{"Dawn"}, "So Dawn left. Dawn!", []mention.Match{{ID: 1, Words: 1, Count: 2, First: 3}}},
		{"a capitalised word is a name", []string{"Dawn"}, "at dawn", nil},
		{
			"other words are found in any case",
			[]string{"aether"},
			"Aether, AETHER",
			[]mention.Match{{ID: 1, Words: 1, Count: 2}},
		},
		{
			"the last capital decides",
			[]string{"The Long Night"},
			"the long\nNIGHT, The Long night",
			[]mention.Match{{ID: 1, Words: 3, Count: 1}},
		},
		{
			"a word of the language is no name",
			[]string{"The Rest", "the Watch"},
			"The rest of it. They watch the watch.", nil,
		},
		{
			"a name without capitals",
			[]string{"archive cards"},
			"Archive Cards",
			[]mention.Match{{ID: 1, Words: 2, Count: 1}},
		},
		{"no name runs over a blank line", []string{"Long Night"}, "so long\n\nNight fell", nil},
		{"a word inside another", []string{"Mar"}, "Marrow and Mar-Tan", nil},
		{"possessives", []string{"Mik", "Captain Marrow"}, "Mik's and Captain Marrow’s", []mention.Match{
			{ID: 2, Words: 2, Count: 1, First: 10}, {ID: 1, Words: 1, Count: 1},
		}},
		{
			"the possessive is the longer name",
			[]string{"Mik", "Mik's"},
			"Mik's",
			[]mention.Match{{ID: 2, Words: 1, Count: 1}},
		},
		{
			"a possessive goes on",
			[]string{"Mik", "Mik's sword"},
			"Mik’s sword",
			[]mention.Match{{ID: 2, Words: 2, Count: 1}},
		},
		{
			"inside a longer name",
			[]string{"Holmes", "Sherlock Holmes"},
			"Sherlock Holmes",
			[]mention.Match{{ID: 2, Words: 2, Count: 1}},
		},
		{"inside and outside", []string{"Holmes", "Sherlock Holmes"}, "Holmes? Sherlock Holmes!", []mention.Match{
			{ID: 2, Words: 2, Count: 1, First: 8}, {ID: 1, Words: 1, Count: 1},
		}},
		{"names that overlap", []string{"Old Tom", "Tom Marrow"}, "Old Tom Marrow", []mention.Match{
			{ID: 1, Words: 2, Count: 1}, {ID: 2, Words: 2, Count: 1, First: 4},
		}},
		{"one name of two", []string{"Dawn", "dawn"}, "Dawn, dawn", []mention.Match{
			{ID: 2, Words: 1, Count: 2}, {ID: 1, Words: 1, Count: 1},
		}},
		{
			"marks",
			[]string{"Zoë", "Ærith"},
			"ZOE\u0308 and ærith and Zoe",
			[]mention.Match{{ID: 1, Words: 1, Count: 1}},
		},
		{
			"an emoji's selector is no part of a word",
			[]string{"Dawn"},
			"\u2764\ufe0fDawn",
			[]mention.Match{{ID: 1, Words: 1, Count: 1, First: 6}},
		},
		{"Han", []string{"東京", "東"}, "私は東京へ。東、京", []mention.Match{
			{ID: 1, Words: 1, Count: 1, First: 6}, {ID: 2, Words: 1, Count: 1, First: 18},
		}},
		{"a mark belongs to its kana", []string{"カ"}, "ガール", nil},
		{"Thai", []string{"น้ำ"}, "แม่น้ำโขง", []mention.Match{{ID: 1, Words: 1, Count: 1, First: 9}}},
		{"a particle", []string{"민수"}, "민수는, 민수가. 민수!", []mention.Match{{ID: 1, Words: 1, Count: 3}}},
		{"of several words", []string{"김 민수"}, "김 민수에게", []mention.Match{{ID: 1, Words: 2, Count: 1}}},
		{"several particles", []string{"민준"}, "민준이에게서는", []mention.Match{{ID: 1, Words: 1, Count: 1}}},
		{"a particle that does not go with the name's last sound", []string{"민수", "민준", "서울"}, "민수은 민준가 서울가", nil},
		{"one that does", []string{"민수", "민준", "서울"}, "민수로 민준으로 서울로", []mention.Match{
			{ID: 1, Words: 1, Count: 1}, {ID: 2, Words: 1, Count: 1, First: 10}, {ID: 3, Words: 1, Count: 1, First: 23},
		}},
		{"another name, and no particle", []string{"민수"}, "민수진은 김민수는 민순은", nil},
		{
			"a particle is part of the longer name",
			[]string{"고양", "고양이"},
			"고양이는",
			[]mention.Match{{ID: 2, Words: 1, Count: 1}},
		},
		{"a particle behind another script", []string{"Dawn", "東京"}, "Dawn은 東京에서", []mention.Match{
			{ID: 1, Words: 1, Count: 1}, {ID: 2, Words: 1, Count: 1, First: 8},
		}},
		{"too many particles", []string{"민수"}, "민수" + strings.Repeat("도", 9), nil},
		{
			"a decomposed particle",
			[]string{"민수"},
			norm.NFD.String("민수에서"),
			[]mention.Match{{ID: 1, Words: 1, Count: 1}},
		},
		{
			"mixed scripts",
			[]string{"Dawn号", "Dawn"},
			"飛行船Dawn号",
			[]mention.Match{{ID: 1, Words: 1, Count: 1, First: 9}},
		},
		{"no words at all", []string{"", "?!"}, "?! ", nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(test.want, indexOf(test.names...).Find(test.text)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestInvisibleCharactersPartNoWord: a text that hides them inside a name names the entry all the same.
func TestInvisibleCharactersPartNoWord(t *testing.T) {
	t.Parallel()
	index := indexOf("Sherlock Holmes", "東京")
	for _, text := range []string{"Sher\u00adlock Hol\u200bmes", "Sherlock \u202eHolmes\u202c", "東\u2060京"} {
		if found := index.Find(text); len(found) != 1 {
			t.Errorf("%+q: %v", text, found)
		}
	}
}

func TestRenamed(t *testing.T) {
	t.Parallel()
	index := indexOf("Dawn", "Dawn", "Dusk")
	index.SetNames(1, []string{"DAWN Treader"})
	index.SetNames(3, nil)
	index.SetNames(4, nil)
	if diff := cmp.Diff([]mention.Match{{ID: 2, Words: 1, Count: 1}}, index.Find("Dawn, dusk, Dusk")); diff != "" {
		t.Error(diff)
	}
}

func TestTheLastSpellingDecidesTheCase(t *testing.T) {
	t.Parallel()
	index := mention.New()
	index.SetNames(1, []string{"Dawn", "dawn"})
	if diff := cmp.Diff([]mention.Match{{ID: 1, Words: 1, Count: 1, First: 3}}, index.Find("at dawn")); diff != "" {
		t.Error(diff)
	}
	index.SetNames(1, []string{"dawn", "Dawn"})
	if diff := cmp.Diff([]mention.Match(nil), index.Find("at dawn")); diff != "" {
		t.Error(diff)
	}
}

// Names and texts of few parts, so that they meet, overlap and nest often.
var (
	parts = []string{
		"Holmes", "holmes", "Sherlock", "HOLMES's", "sherlock’s", "o'holmes", "Sherlock-Holmes", "Zoë", "zoe\u0308",
		"東", "京", "ガ", "カ", "น้ำ", "é", "3",
	}
	korean = []string{"민수", "민준", "서울", "Dawn", "은", "는", "이", "가", "에서", "로", "으로", "만", "랑", "民"}
	gaps   = []string{" ", " ", " ", "", "\n", "\n\n", ", ", "-", "'", "’s ", "\u0301", "\ufe0f", "\u200b", "\u00ad"}
)

func phrase(most int, parts []string) *rapid.Generator[string] {
	return rapid.Custom(func(t *rapid.T) string {
		text := ""
		for range rapid.IntRange(1, most).Draw(t, "parts") {
			text += rapid.SampledFrom(parts).Draw(t, "part") + rapid.SampledFrom(gaps).Draw(t, "gap")
		}
		return text
	})
}

func TestFindsWhatTheNaiveMatcherFinds(t *testing.T) {
	t.Parallel()
	for language, parts := range map[string][]string{"of many": parts, "Korean": korean} {
		t.Run(language, func(t *testing.T) {
			t.Parallel()
			holdAgainstNaive(t, parts)
		})
	}
}

func holdAgainstNaive(t *testing.T, parts []string) {
	t.Helper()
	rapid.Check(t, func(t *rapid.T) {
		index, naive, names := mention.New(), naive{}, map[int64][]string{}
		spoken := slices.Clone(parts)
		for range rapid.IntRange(1, 12).Draw(t, "names") {
			name, id := phrase(3, parts).Draw(t, "name"), rapid.Int64Range(1, 5).Draw(t, "id")
			spoken = append(spoken, name, strings.ToLower(name))
			if rapid.IntRange(0, 3).Draw(t, "remove") == 0 {
				naive.remove(name, id)
				names[id] = slices.DeleteFunc(slices.Clone(names[id]), func(other string) bool {
					return sameName(name, other)
				})
			} else {
				naive.add(name, id)
				names[id] = append(slices.Clone(names[id]), name)
			}
			index.SetNames(id, names[id])
		}
		text := phrase(15, spoken).Draw(t, "text")
		if diff := cmp.Diff(naive.find(text), index.Find(text)); diff != "" {
			t.Fatal(diff)
		}
	})
}

// A name and the form in which the codex compares it are one name here too. The dotted capital I is left out: the codex
// lowers it before it decomposes it, which loses the dot.
func TestComparesNamesAsTheCodexDoes(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		name := rapid.StringMatching(`[\p{L}\p{Nd}][\p{L}\p{M}\p{Nd} '-]*`).Draw(t, "name")
		if strings.Contains(norm.NFC.String(name), "İ") {
			t.Skip("dotted capital I")
		}
		normalized := codex.Normalize(name)
		if !slices.Contains(ids(indexOf(normalized).Find(name)), 1) {
			t.Fatalf("%q is not found as %q", name, normalized)
		}
	})
}

func FuzzFind(f *testing.F) {
	f.Add("Sherlock Holmes", "Mr. Sherlock Holmes's friend")
	f.Add("Zoë", "ZOE\u0308, zoë")
	f.Add("東京タワー", "私は東京タワーへ")
	f.Add("Mik's sword", "Mik’s\r\nsword \xff\xfe \u2764\ufe0f")
	f.Add("-'’", "''--’’")
	f.Add("민수", "민수에게서는 김민수가")
	f.Fuzz(func(t *testing.T, name, text string) {
		index := indexOf(name, "dawn")
		found := index.Find(text)
		for _, m := range found {
			if m.Count < 1 || m.Words < 1 || m.First < 0 || m.First >= len(text) {
				t.Errorf("a match out of bounds: %+v", m)
			}
		}
		if composed, decomposed := ids(index.Find(norm.NFC.String(text))),
			ids(index.Find(norm.NFD.String(text))); !slices.Equal(composed, decomposed) {
			t.Errorf("composed: %v, decomposed: %v", composed, decomposed)
		}
		index.SetNames(1, nil)
		if left := ids(index.Find(text)); slices.Contains(left, 1) {
			t.Errorf("found after it was removed: %q", name)
		}
	})
}

func ids(matches []mention.Match) []int64 {
	var ids []int64
	for _, m := range matches {
		ids = append(ids, m.ID)
	}
	slices.Sort(ids)
	return ids
}

// TestOccurrencesAreThoseOfFind tests that there are as many of each entry, the first where Find has it, and each with
// the text of a name.
func TestOccurrencesAreThoseOfFind(t *testing.T) {
	t.Parallel()
	x := mention.New()
	x.SetNames(1, []string{"Sherlock Holmes", "Holmes"})
	x.SetNames(2, []string{"Holmes", "東雲"})
	const text = "Sherlock Holmes met Mr. Holmes; Holmes's pipe, 東雲丸. sherlock\nHolmes"
	var got []string
	counts, first := map[int64]int{}, map[int64]int{}
	for _, o := range x.Occurrences(text) {
		got = append(got, fmt.Sprintf("%d %s", o.ID, text[o.Start:o.End]))
		if counts[o.ID]++; counts[o.ID] == 1 {
			first[o.ID] = o.Start
		}
	}
	want := []string{
		"1 Sherlock Holmes", "1 Holmes", "2 Holmes", "1 Holmes's", "2 Holmes's", "2 東雲",
		"1 sherlock\nHolmes",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	for _, m := range x.Find(text) {
		if counts[m.ID] != m.Count || first[m.ID] != m.First {
			t.Errorf("entry %d: %d from %d, not %d from %d", m.ID, counts[m.ID], first[m.ID], m.Count, m.First)
		}
	}
}
