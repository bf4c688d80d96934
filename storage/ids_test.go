package storage_test

import (
	"fmt"
	"maps"
	"testing"

	"annotator"

	"pgregory.net/rapid"
)

// TestIDsAreNotGivenAgain makes entries, merges and hides them, takes that back, and opens the database again. No new
// entry has the id of an earlier one, and none is lost.
func TestIDsAreNotGivenAgain(t *testing.T) {
	t.Parallel()
	checkInside(t, func(t *rapid.T, inside string) {
		s := newStory(t, inside, scenesOf(8))
		firsts := map[int64]string{} // the first name of each entry
		for n := range rapid.IntRange(2, 8).Draw(t, "scenes") {
			name := fmt.Sprintf("Dawn %d", n)
			s.read(creates(name, "One. Two."))
			held := maps.Clone(firsts)
			for id, e := range s.present() {
				if _, known := firsts[id]; !known {
					firsts[id] = e.Term
				}
				delete(held, id)
			}
			if len(held) > 0 || len(firsts) != n+1 || firsts[int64(n+1)] != name {
				t.Fatalf("after %d entries there are %v, without %v", n+1, firsts, held)
			}
			id := rapid.Int64Range(1, int64(n+1))
			for range rapid.IntRange(0, 3).Draw(t, "edits") {
				s.decides(rapid.SampledFrom([]annotator.Operation{
					{Do: annotator.DeedMerge, Entry: id.Draw(t, "entry"), Other: id.Draw(t, "other")},
					{Do: annotator.DeedMerge, Entry: int64(n + 1), Other: 1},
					{Do: annotator.DeedHide, Entry: id.Draw(t, "hidden"), Text: "a word"},
					{Do: annotator.DeedSplit, Entry: id.Draw(t, "split")},
					{Do: annotator.DeedUndo},
				}).Draw(t, "edit"))
			}
			if rapid.Bool().Draw(t, "reopen") {
				s.reopen()
			}
		}
		s.clean()
	})
}
