package storage_test

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"annotator"
	"annotator/storage"
	"annotator/view"
)

// TestCommonWords searches a glossary in which every name has the same words. A search uses the other words.
func TestCommonWords(t *testing.T) {
	t.Parallel()
	const crew = 2_050 // more than a search reads of a common word
	s := newStory(t, t.TempDir(), scenesOf(1))
	s.read(func(ctx context.Context, g *storage.Glossary) error {
		for i := range crew {
			if err := creates(fmt.Sprintf("The Mate of Vessel%d", i), "Sails.")(ctx, g); err != nil {
				return err
			}
		}
		return nil
	}, creates("Vessel7", "A barge, where Hob is cook."), creates("Mate", "Whoever is second on board."),
		creates("The of", "A book."))
	barge, mate, book := int64(crew+1), int64(crew+2), int64(crew+3)
	for _, test := range []struct {
		text string
		want []int64
	}{
		{"the mate of vessel7", []int64{8, barge}}, // exactly that name first, then the entry with the rare word
		{"vessel7 the", []int64{barge, 8}},         // exactly that name is not there
		{"The cook of the barge", []int64{barge}},  // no entry has all of the words
		{"mate hob flibbert", []int64{barge}},      // nor all that are not common
		{"the mate flibbert", []int64{1}},          // no word that is not common finds anything
		{"the of", []int64{book}},                  // all words are common
		{"mate", []int64{mate}},                    // so is this one
		{"vessel8 vessel9", []int64{9, 10}},        // none is
	} {
		found, err := view.Glossary{Glossary: s.db.Glossary}.Search(s.ctx,
			annotator.Query{Text: test.text, Limit: len(test.want)})
		s.ok(err)
		var got []int64
		for i := range found {
			got = append(got, found[i].ID)
		}
		if !slices.Equal(got, test.want) {
			t.Errorf("%q finds %v, want %v", test.text, got, test.want)
		}
	}
}
