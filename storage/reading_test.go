package storage_test

import (
	"fmt"
	"strings"
	"testing"

	"annotator"
	"annotator/codex"
	"annotator/exporters"
	"annotator/view"

	"github.com/google/go-cmp/cmp"
)

// TestReadingUnderALimit: a guess is shown until the scene that confirms it. A merged entry's facts have the name of
// their time, and a link by that name leads to the entry that has it.
func TestReadingUnderALimit(t *testing.T) {
	t.Parallel()
	s := newStory(t, t.TempDir(), scenesOf(2, 3))
	guess := codex.Fact{Text: "Sorrel seems to be Tirzah.", Kind: annotator.Inferred}
	s.read(creates("Tirzah", "Tirzah drowned."), creates("Sorrel", "Sorrel weighs salt."))
	s.read(revises(2, codex.Edit{Facts: []codex.Fact{guess, {Text: "Sorrel lodges with [[Tirzah]].", State: true}}}))
	s.read(revises(1, codex.Edit{Facts: []codex.Fact{{Text: "The bell rings for [[Sorrel]]."}}}))
	s.read(merges(2, 1), revises(1, codex.Edit{Facts: []codex.Fact{{Text: "Sorrel is Tirzah.", Identity: true}}}))
	s.read(revises(1, codex.Edit{Close: []codex.Closing{
		{Fact: 4, By: 6, Ended: annotator.EndConfirmed},
		{Fact: 5, Ended: annotator.EndOver},
		{Fact: 1, Ended: annotator.EndRefuted},
	}}))
	s.clean()
	for n, want := range []string{
		"1: Tirzah drowned. || 2: Sorrel weighs salt.",
		"1: Tirzah drowned. || 2: Sorrel weighs salt. | Sorrel seems to be Tirzah. | Sorrel lodges with [[Tirzah]].",
		"1: Tirzah drowned. | The bell rings for [[Sorrel]]. || 2: Sorrel weighs salt. | " +
			"Sorrel seems to be Tirzah. | Sorrel lodges with [[Tirzah]].",
		"1: Sorrel is Tirzah. | [Thread 1000] Tirzah drowned. | [as Sorrel, scenes 1 to 2] Sorrel weighs salt. | " +
			"Sorrel seems to be Tirzah. | Sorrel lodges with [[Tirzah]]. | [Thread 999] The bell rings for [[Sorrel]].",
		"1: Sorrel is Tirzah. | [Thread 1000] Thought until scene 5: Tirzah drowned. | [as Sorrel, scenes 1 to 2] " +
			"Sorrel weighs salt. | Sorrel lodges with [[Tirzah]]. (until scene 5) | [Thread 999] " +
			"The bell rings for [[Sorrel]].",
	} {
		m, err := view.MomentAt(s.ctx, s.db, view.Point{Kind: view.PointScene, ID: int64(n + 1)})
		s.ok(err)
		shown := view.At(s.db, m)
		if diff := cmp.Diff(want, strings.Join(readings(s, shown), " || ")); diff != "" {
			t.Errorf("scene %d: %s", n+1, diff)
		}
		named, err := shown.Named(s.ctx, "Sorrel")
		s.ok(err)
		if id := map[bool]int64{true: 2, false: 1}[n < 3]; len(named) != 1 || named[0].ID != id {
			t.Errorf("scene %d: Sorrel is %+v, not entry %d", n+1, named, id)
		}
	}
	history, err := view.At(s.db, view.Moment{}).Revisions(s.ctx, 1)
	s.ok(err)
	positions := view.NewPositions(s.ctx, s.db)
	var told []string
	for i := range history {
		told = append(told, codex.ValueText(history[i].Field, history[i].New, positions.At))
	}
	text := strings.Join(told, "\n")
	for _, want := range []string{
		"Sorrel seems to be Tirzah.\n", "Sorrel seems to be Tirzah. (confirmed in scene 5)",
		"Tirzah drowned. (refuted in scene 5)",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the history has no %q:\n%s", want, text)
		}
	}
}

// readings returns the live entries of a view as they are read.
func readings(s *story, shown *view.View) (texts []string) {
	titles, err := shown.Titles(s.ctx)
	s.ok(err)
	for id := range titles {
		titles[id] = fmt.Sprintf("Thread %d", id)
	}
	at := view.NewPositions(s.ctx, s.db)
	for e, err := range shown.All(s.ctx) {
		s.ok(err)
		if !e.Status.Live() {
			continue
		}
		exported := exporters.NewEntry(e, at.At)
		reading := exported.Reading(titles)
		var parts []string
		tell := func(heading string, claims []exporters.Claim) {
			for i, c := range claims {
				part := c.Thought() + c.Text
				if i == 0 && heading != "" {
					part = "[" + heading + "] " + part
				}
				if c.End() != "" {
					part += " (" + c.End() + ")"
				}
				parts = append(parts, part)
			}
		}
		tell("", reading.Opening)
		for _, p := range reading.Passages {
			tell(p.Chapter+p.As, p.Claims)
		}
		texts = append(texts, fmt.Sprintf("%d: %s", e.ID, strings.Join(parts, " | ")))
	}
	return texts
}
