package storage_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"annotator"
	"annotator/codex"
	"annotator/view"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// odd are names that may be difficult for a search. The entry at index i has the id i+1.
var odd = []string{
	"Dawn (character)", "Dawn (ship)", "Mik's sword", "C++", "don't", "東京大学", "vys:mana pool", "Ångström", "naïve",
	"NEAR", "AND",
}

// library is a story with one entry of each odd name.
func library(t testing.TB) *story {
	t.Helper()
	s := newStory(t, t.TempDir(), scenesOf(1))
	var edits []edit
	for _, name := range odd {
		edits = append(edits, creates(name, "Noted.", "thing"))
	}
	s.read(edits...)
	return s
}

// names returns the names of the entries that a query finds, best first.
func (s *story) names(q annotator.Query) []string {
	s.Helper()
	found, err := view.Glossary{Glossary: s.db.Glossary}.Search(s.ctx, q)
	s.ok(err)
	var names []string
	for i := range found {
		names = append(names, found[i].Name())
	}
	return names
}

func TestSearchFinds(t *testing.T) {
	t.Parallel()
	s := library(t)
	for _, test := range []struct {
		text string
		want []string
	}{
		{"Dawn (character)", []string{"Dawn (character)", "Dawn (ship)"}},
		{"dawn", []string{"Dawn (character)", "Dawn (ship)"}},
		{"Mik's sword", []string{"Mik's sword"}},
		{"SWORD", []string{"Mik's sword"}},
		{"swo\u200brd", []string{"Mik's sword"}},
		{"the sword, which Mik held", []string{"Mik's sword"}}, // not all of the words, so any of them
		{"C++", []string{"C++"}},
		{"don't", []string{"don't"}},
		{"東京大学", []string{"東京大学"}},
		{"東京", []string{"東京大学"}}, // a part of what FTS5 takes for one word
		{"vys:mana pool", []string{"vys:mana pool"}},
		{"angstrom", []string{"Ångström"}},
		{"NAIVE", []string{"naïve"}},
		{"NEAR", []string{"NEAR"}},
		{"AND", []string{"AND"}},
		{"nobody", nil},
		{"sword " + strings.Repeat("word ", 1000), []string{"Mik's sword"}},
	} {
		if diff := cmp.Diff(test.want, s.names(annotator.Query{Text: test.text})); diff != "" {
			t.Errorf("%.40q (-want +got):\n%s", test.text, diff)
		}
	}
}

// TestNamesInAQueryComeFirst: an entry with a name in a question comes before those with facts that have more of its
// words. A longer name comes before a shorter one.
func TestNamesInAQueryComeFirst(t *testing.T) {
	t.Parallel()
	s := newStory(t, t.TempDir(), scenesOf(1))
	s.read(creates("Wren", "Asked who is the Ferryman, and what is mere-glass, by a king.", "person"),
		creates("Ferryman", "Poles a punt.", "person"), creates("mere-glass", "Greenish.", "thing"),
		creates("king", "A rank.", "rank"), creates("King of Bohemia", "Wears a mask.", "person"))
	for text, want := range map[string][]string{
		"who is the ferryman":          {"Ferryman", "Wren"},
		"what is mere-glass?":          {"mere-glass", "Wren"},
		"who is the king of Bohemia?":  {"King of Bohemia", "king", "Wren"},
		"Ferryman, who poles the boat": {"Ferryman", "Wren"},
	} {
		if got := s.names(annotator.Query{Text: text}); !slices.Equal(got[:min(len(want), len(got))], want) {
			t.Errorf("%q finds %q, want %q first", text, got, want)
		}
	}
}

// hostile are searches that are syntax to FTS5, or would be if a word of them were not quoted.
var hostile = []string{
	"Dawn (character)", "Mik's sword", "a AND", "vys:mana pool", `""`, "-", "don't", "C++", "-x", "foo:bar", `"`, "*",
	"NEAR(", "",
	strings.Repeat("(", 500), `a" OR "b`, "term : x", "^x", "x*", "{term} : x", "+", "a + b", "NOT", "OR OR", "a NOT b",
	"\x00", "a\x00b", "\xff",
	"\u0301", "'; DROP TABLE trace; --", strings.Repeat("x", 100_000), strings.Repeat("y ", 10_000), "½", "①",
	"\U0001f600", "\u200b",
	"\U00011f04", "\ufb01", strings.Repeat("é", 100), `\`, "%", "_",
}

func TestSearchIsNeverAnError(t *testing.T) {
	t.Parallel()
	s := library(t)
	for _, text := range hostile {
		s.names(annotator.Query{Text: text})
	}
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.OneOf(rapid.String(), rapid.StringOf(rapid.SampledFrom([]rune(`ab ()"':*^+-{}.,`+"\x00漢")))).Draw(
			t, "text")
		if _, err := (view.Glossary{Glossary: s.db.Glossary}).Search(s.ctx,
			annotator.Query{Text: text, Limit: 3}); err != nil {
			t.Error(err)
		}
	})
}

func FuzzSearch(f *testing.F) {
	s := library(f)
	for _, text := range hostile {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if _, err := (view.Glossary{Glossary: s.db.Glossary}).Search(t.Context(),
			annotator.Query{Text: text, Limit: 3}); err != nil {
			t.Error(err)
		}
	})
}

func TestSearchFilters(t *testing.T) {
	t.Parallel()
	s := newStory(t, t.TempDir(), scenesOf(2))
	confirmed := annotator.Confirmed
	s.read(
		creates("Dawn", "She sails.", "person", "sailor"), creates("Mik", "He sails.", "person"),
		creates("Anchor", "It sails too."),
		creates("Gone", "It sails no more.", "person"), retires(4), revises(2, codex.Edit{Status: &confirmed}))
	for _, test := range []struct {
		name  string
		query annotator.Query
		want  []string
	}{
		{"all, by term", annotator.Query{}, []string{"Anchor", "Dawn", "Mik"}},
		{"only signs", annotator.Query{Text: "( * )"}, []string{"Anchor", "Dawn", "Mik"}},
		{"a tag", annotator.Query{Tags: []string{"Person"}}, []string{"Dawn", "Mik"}},
		{"all tags", annotator.Query{Tags: []string{"person", "sailor"}, Text: "sails"}, []string{"Dawn"}},
		{
			"a status",
			annotator.Query{Statuses: []annotator.Status{annotator.Confirmed}, Text: "sails"},
			[]string{"Mik"},
		},
		{"what is retired", annotator.Query{Statuses: []annotator.Status{annotator.Retired}}, []string{"Gone"}},
		{"no more than", annotator.Query{Limit: 2}, []string{"Anchor", "Dawn"}},
		{"names come before definitions", annotator.Query{Text: "dawn sails", Limit: 1}, []string{"Dawn"}},
	} {
		if diff := cmp.Diff(test.want, s.names(test.query)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", test.name, diff)
		}
	}
	if _, err := (view.Glossary{Glossary: s.db.Glossary}).Search(s.ctx,
		annotator.Query{Tags: []string{"?"}}); err == nil {
		t.Error("a tag without a word is taken for a tag")
	}
}

func TestLookup(t *testing.T) {
	t.Parallel()
	s := newStory(t, t.TempDir(), scenesOf(1))
	s.read(
		creates("Dawn (ship)", "A ship."), creates("Dawn", "A time of day."), creates("Old Tom", "A cat."), retires(3),
		revises(1, codex.Edit{Aliases: []string{"The Lady"}}), revises(2, codex.Edit{Aliases: []string{"the  LADY"}}))
	g := s.db.Glossary
	for name, want := range map[string]int64{
		"dawn (SHIP)": 1, " Dawn ": 2, "the lady": 1, "Old Tom": 0, "The": 0,
		"": 0, "Da\u200bwn": 2,
	} {
		e, err := g.Lookup(s.ctx, name)
		if want == 0 {
			if annotator.KindOf(err) != annotator.NotFound {
				t.Errorf("%q: %v, %v", name, e, err)
			}
			continue
		}
		s.ok(err)
		if e.ID != want {
			t.Errorf("%q is entry %d, want %d", name, e.ID, want)
		}
	}
	if _, err := g.Entry(s.ctx, 99); annotator.KindOf(err) != annotator.NotFound {
		t.Errorf("entry 99: %v", err)
	}
}

func TestReadingByIDs(t *testing.T) {
	t.Parallel()
	s := library(t)
	g := s.db.Glossary
	entries, err := g.Entries(s.ctx, []int64{3, 99, 1})
	s.ok(err)
	if len(entries) != 2 || entries[1].ID != 1 || entries[3].ID != 3 {
		t.Errorf("entries 3, 99 and 1 are %v", entries)
	}
	names, err := g.Names(s.ctx, 3, 99)
	s.ok(err)
	if diff := cmp.Diff(map[int64][]string{3: {"Mik's sword"}}, names); diff != "" {
		t.Errorf("names (-want +got):\n%s", diff)
	}
	if none, err := g.Entries(s.ctx, nil); err != nil || len(none) != 0 {
		t.Errorf("no ids: %v, %v", none, err)
	}
}

// TestAllPages reads more entries than a page has, and stops when its caller does.
func TestAllPages(t *testing.T) {
	t.Parallel()
	const total = 1100
	s := newStory(t, t.TempDir(), scenesOf(1))
	s.seedEntries(total)
	var ids []int64
	for e, err := range s.db.Glossary.All(s.ctx) {
		s.ok(err)
		ids = append(ids, e.ID)
	}
	if len(ids) != total || !slices.IsSorted(ids) || len(slices.Compact(ids)) != total {
		t.Errorf("%d entries are read as %d", total, len(ids))
	}
	for e, err := range s.db.Glossary.All(s.ctx) {
		s.ok(err)
		if e.ID == 7 {
			break
		}
		if e.ID > 7 {
			t.Fatal("goes on when told to stop")
		}
	}
}

func TestEntryIsReadWhole(t *testing.T) {
	t.Parallel()
	s := newStory(t, t.TempDir(), scenesOf(1))
	s.read(creates("Dawn (ship)", "Dawn is a ship. She sails.", "Ship", "ship", "grand  old"))
	e, err := s.db.Glossary.Entry(s.ctx, 1)
	s.ok(err)
	at := annotator.PlaceAt(orderOf(1), 0)
	want := &annotator.Entry{
		ID: 1, Term: "Dawn", Disambiguator: "ship", Status: annotator.Tentative, Tags: []string{"grand old", "ship"},
		Aliases: []annotator.Alias{{Name: "Dawn", From: at}},
		Claims: []annotator.Claim{
			{ID: 1, Ord: 0, Text: "Dawn is a ship.", Kind: annotator.Narrated, From: at, Evidence: []annotator.Evidence{
				{Claim: 1, Post: 10, Start: 0, End: 15, Quote: "Dawn – the ship"},
			}, Revision: 5},
			{ID: 2, Ord: 1, Text: "She sails.", Kind: annotator.Narrated, From: at, Revision: 7},
		},
		First: at, Last: at, Claimed: 2, Revisions: 7, Revision: 7,
	}
	if diff := cmp.Diff(want, e); diff != "" {
		t.Errorf("entry (-want +got):\n%s", diff)
	}
	revisions, err := s.db.Glossary.Revisions(s.ctx, 1)
	s.ok(err)
	replayed := &annotator.Entry{ID: 1, Status: annotator.Tentative}
	for i := range revisions {
		s.ok(codex.Apply(replayed, &revisions[i]))
	}
	if diff := cmp.Diff(e, replayed); diff != "" {
		t.Errorf("the replay of its revisions (-entry +replay):\n%s", diff)
	}
	if got := fmt.Sprint(revisions[0].Field, revisions[0].New, revisions[0].Turn,
		revisions[0].Trace); got != "termDawn (ship)1 5" {
		t.Errorf("the first revision is %q", got)
	}
}

// TestWordsAreThoseOfTheIndex finds entries by words of their facts in several scripts. The fact has the words that the
// page names. None of these is a common word.
func TestWordsAreThoseOfTheIndex(t *testing.T) {
	t.Parallel()
	s := newStory(t, t.TempDir(), scenesOf(1))
	facts := []string{
		"The Égrets of Zoë’s half-moon isle.", "ÅNGSTRÖM lived at No. 42b.", "Ἀχιλλεύς fears Ἕκτωρ.",
		"Война и мир ёлка.", "東京 の 塔.", "한국어 이름.", "Cafe\u0301 au lait.",
	}
	var edits []edit
	for i, text := range facts {
		edits = append(edits, creates(fmt.Sprintf("Vessel%d", i), text))
	}
	s.read(edits...)
	for query, want := range map[string]int64{
		"egrets": 1, "ZOE'S": 1, "zoe": 1, "Half-Moon": 1, "half moon isle": 1, "angstrom": 2, "42B": 2, "ἀχιλλεύς": 3,
		"ἕκτωρ": 3, "ВОЙНА": 4, "塔": 5, "한국어": 6, "café": 7, "CAFE au": 7,
	} {
		page, err := view.At(s.db, view.Moment{}).Find(s.ctx, annotator.Query{Text: query})
		s.ok(err)
		if len(page.Entries) != 1 || page.Entries[0].ID != want {
			t.Errorf("%q finds %d entries", query, len(page.Entries))
		} else if c := codex.NewWords(page.Words).Best(page.Entries[0].Claims); c == nil || c.Text != facts[want-1] {
			t.Errorf("%q: no fact has the words %q", query, page.Words)
		}
	}
	for query, words := range map[string]int{"vessel1": 1, "essel1": 0, "": 0} {
		page, err := view.At(s.db, view.Moment{}).Find(s.ctx, annotator.Query{Text: query})
		if s.ok(err); len(page.Entries) == 0 || len(page.Words) != words {
			t.Errorf("%q finds %d entries by the words %q", query, len(page.Entries), page.Words)
		}
	}
}
