package main

import (
	"bytes"
	"strings"
	"testing"

	"annotator"
	"annotator/exporters"
	"annotator/view"

	"github.com/google/go-cmp/cmp"
)

// TestEntryIsPrintedAsItIsRead: who or what it is, what it is now, and its facts in the order of the story.
func TestEntryIsPrintedAsItIsRead(t *testing.T) {
	t.Parallel()
	at := annotator.PlaceAt
	entry := annotator.Entry{
		ID: 3, Term: "Tirzah", Status: annotator.Confirmed, First: at(1, 0), Last: at(9, 0), Revisions: 8,
		Present: "[[Tirzah|She]] is alive.", PresentAt: at(9, 0),
		Claims: []annotator.Claim{
			{
				ID: 1, Text: "Tirzah drowned.", Kind: annotator.Inferred, From: at(1, 0), Until: at(9, 0),
				Ended: annotator.EndRefuted,
			},
			{ID: 2, Text: "Sorrel seems to be Tirzah.", From: at(7, 0), Until: at(9, 0), Ended: annotator.EndConfirmed},
			{
				ID: 3, Text: "Sorrel lodges at [[The Quay|the quay]].", Kind: annotator.Claimed, Speaker: "Pym",
				Document: "the notice", From: at(6, 0), Until: at(9, 0), Ended: annotator.EndOver, State: true,
				As: "Sorrel",
			},
			{ID: 4, Text: "Sorrel is Tirzah.", Kind: annotator.Narrated, From: at(9, 0), Identity: true},
			{ID: 5, Text: "She weighed salt.", Kind: annotator.Narrated, From: at(6, 1), Earlier: true, As: "Sorrel"},
		},
	}
	exported := exporters.NewEntry(&entry, func(p annotator.Place) annotator.Position {
		return annotator.Position{Thread: 1 + int64(p/at(5, 0)), Scene: int(p.Order()), Post: int64(p.Rank())}
	})
	var out bytes.Buffer
	printEntry(&out, &exported, view.Titles{1: "The Weir", 2: "III: The Quay"}, nil)
	const want = `Tirzah  #3, confirmed, 8 revisions
first: The Weir, scene 1
last: Chapter III, scene 9

Sorrel is Tirzah.
  3:4, narrated, from scene 9

She is alive.
  as of scene 9

-- The Weir

Thought until scene 9: Tirzah drowned.
  3:1, inferred, from scene 1, refuted in Chapter III, scene 9

-- III: The Quay

-- as Sorrel, scene 6

Sorrel lodges at the quay.
  3:3, claimed by Pym in the notice, a state, from scene 6, until scene 9

She weighed salt.
  3:5, narrated, of an earlier time, from scene 6
`
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Error(diff)
	}
	if strings.Contains(out.String(), "seems") {
		t.Error("a settled claim is printed")
	}
}
