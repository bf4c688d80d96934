package mention_test

import (
	"context"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"annotator/context/mention"
)

// glossary is a source of names that records which it was asked for.
type glossary struct {
	names map[int64][]string
	asked [][]int64
	err   error
}

func (g *glossary) Names(_ context.Context, ids ...int64) (map[int64][]string, error) {
	g.asked = append(g.asked, ids)
	found := map[int64][]string{}
	for id, names := range g.names {
		found[id] = names
	}
	return found, g.err
}

func TestCacheReadsWhatWasInvalidated(t *testing.T) {
	t.Parallel()
	source := &glossary{names: map[int64][]string{1: {"Dawn"}, 2: {"Dusk"}}}
	cache := mention.NewCache(source)
	find := func() []int64 {
		index, err := cache.Index(t.Context())
		if err != nil {
			return nil
		}
		return ids(index.Find("Dawn, Dusk, Noon"))
	}
	cache.Invalidate(1) // before anything was read
	if diff := cmp.Diff([]int64{1, 2}, find()); diff != "" {
		t.Error(diff)
	}
	source.names = map[int64][]string{1: {"Noon"}}
	cache.Invalidate(2)
	cache.Invalidate(1, 3)
	source.err = errors.New("no disk")
	if got := find(); got != nil {
		t.Errorf("found %v without names", got)
	}
	source.err = nil
	if diff := cmp.Diff([]int64{1}, find()); diff != "" {
		t.Error(diff)
	}
	find()
	if diff := cmp.Diff([][]int64{nil, {2, 1, 3}, {2, 1, 3}}, source.asked); diff != "" {
		t.Error(diff)
	}
}
