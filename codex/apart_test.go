package codex_test

import (
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"annotator"
	"annotator/codex"
)

// TestToldApartIsNeverOne merges entries and says that some are not the same, in any order. A merge is refused exactly
// if it would bring two together that a person has told apart, also through third entries.
func TestToldApartIsNeverOne(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		const count = 4
		all, parts, apart := map[int64]*annotator.Entry{}, map[int64][]int64{}, map[[2]int64]bool{}
		for id := int64(1); id <= count; id++ {
			name := fmt.Sprintf("Dusk %d", id)
			all[id] = entryOf(t, id, codex.Edit{Name: &name, Facts: factsOf("It was seen by " + name + ".")})
			parts[id] = []int64{id}
		}
		id := rapid.Int64Range(1, count)
		for range rapid.IntRange(8, 24).Draw(t, "steps") {
			a, b := id.Draw(t, "a"), id.Draw(t, "b")
			if a == b || !all[a].Status.Live() || !all[b].Status.Live() {
				continue
			}
			isApart := false
			for _, x := range parts[a] {
				for _, y := range parts[b] {
					isApart = isApart || apart[[2]int64{min(x, y), max(x, y)}]
				}
			}
			var revisions []annotator.Revision
			var err error
			if rapid.Bool().Draw(t, "merge") {
				actor := rapid.SampledFrom([]annotator.Actor{
					annotator.ActorModel, annotator.ActorCurator, annotator.ActorPerson,
				}).Draw(t, "actor")
				revisions, err = codex.Merge(all[a], all[b], actor, annotator.PlaceAt(9, 0))
				if (err != nil) != isApart {
					t.Fatalf("%v into %v: told apart is %v, and the error %v", parts[a], parts[b], isApart, err)
				}
				if err == nil {
					parts[b] = slices.Concat(parts[b], parts[a])
				}
			} else {
				op := &annotator.Operation{Do: annotator.DeedNever, Entry: a, Other: b}
				revisions, err = codex.Perform(op, &codex.Subject{Entries: all})
				apart[[2]int64{min(a, b), max(a, b)}] = true
			}
			if err == nil {
				applyAll(t, revisions, all[a], all[b])
			}
		}
	})
}
