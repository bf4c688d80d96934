package exporters_test

import (
	"testing"

	"annotator"
	"annotator/exporters"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// position computes the thread and the post of a place.
func position(p annotator.Place) annotator.Position {
	return annotator.Position{
		Thread: int64(100 + p.Order()/10), Scene: int(p.Order()),
		Post: int64(p.Order())*1000 + int64(p.Rank()),
	}
}

// someScenes returns the scenes of a story, in which each has its number as its order.
func someScenes() []annotator.SceneOrder {
	scenes := make([]annotator.SceneOrder, 200)
	for i := range scenes {
		scenes[i] = annotator.SceneOrder{N: i + 1, Order: annotator.Order(i + 1)}
	}
	return scenes
}

func TestEntriesAreSortedByName(t *testing.T) {
	t.Parallel()
	doc := exporters.Build(exporters.Story{}, []annotator.Entry{
		{ID: 5, Term: "Zoë"},
		{ID: 4, Term: "dawn", Disambiguator: "ship"},
		{ID: 3, Term: "Dawn", Disambiguator: "Character"},
		{ID: 2, Term: "DAWN", Disambiguator: "ship"},
		{ID: 1, Term: "Zoe\u0308"},
	}, position)
	var ids []int64
	for _, e := range doc.Entries {
		ids = append(ids, e.ID)
	}
	if diff := cmp.Diff([]int64{3, 2, 4, 1, 5}, ids); diff != "" {
		t.Error(diff)
	}
}

func TestBuildDoesNotDependOnTheOrderGiven(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		given := entries().Draw(t, "entries")
		for i := range given {
			given[i].ID = int64(i + 1)
		}
		shuffled := rapid.Permutation(given).Draw(t, "shuffled")
		if diff := cmp.Diff(exporters.Build(story, given, position),
			exporters.Build(story, shuffled, position)); diff != "" {
			t.Fatal(diff)
		}
	})
}

func TestBuildJoinsTheClaimsThatHold(t *testing.T) {
	t.Parallel()
	doc := exporters.Build(exporters.Story{}, []annotator.Entry{{Claims: []annotator.Claim{
		{Text: "He is a baker.", From: annotator.PlaceAt(1, 0), Until: annotator.PlaceAt(4, 2)},
		{Text: "He is the heir.", From: annotator.PlaceAt(4, 2)},
	}}}, position)
	got := doc.Entries[0]
	if got.Definition != "He is the heir." {
		t.Errorf("definition: %q", got.Definition)
	}
	ends := annotator.Position{Thread: 100, Scene: 4, Post: 4002}
	if diff := cmp.Diff([]*annotator.Position{nil, &ends}, []*annotator.Position{
		got.Claims[0].Until,
		got.Claims[1].Until,
	}); diff != "" {
		t.Error(diff)
	}
}

func TestSelectedEntriesAreExported(t *testing.T) {
	t.Parallel()
	all := []annotator.Entry{
		{ID: 1, Status: annotator.Tentative, Tags: []string{"person", "ship"}},
		{ID: 2, Status: annotator.Confirmed, Tags: []string{"ship"}},
		{ID: 3, Status: annotator.Retired, Tags: []string{"ship"}},
		{ID: 4, Status: annotator.Merged},
	}
	for _, test := range []struct {
		name     string
		statuses []annotator.Status
		tags     []string
		want     []int64
	}{
		{"what is live", nil, nil, []int64{1, 2}},
		{"a status", []annotator.Status{annotator.Merged}, nil, []int64{4}},
		{"any status of several", []annotator.Status{annotator.Retired, annotator.Confirmed}, nil, []int64{2, 3}},
		{"all tags", nil, []string{"ship", "person"}, []int64{1}},
		{"status and tag", []annotator.Status{annotator.Retired}, []string{"person"}, nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			var ids []int64
			for _, e := range exporters.Select(all, test.statuses, test.tags) {
				ids = append(ids, e.ID)
			}
			if diff := cmp.Diff(test.want, ids); diff != "" {
				t.Error(diff)
			}
		})
	}
}
