package main

import (
	"path/filepath"
	"testing"

	"annotator/context/compaction"
	"annotator/internal/longstory"
)

// TestSmallWindowIsCompacted: a story in a window that small is read whole, with summaries.
func TestSmallWindowIsCompacted(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "story.corpus.db")
	if err := longstory.Write(t.Context(), path, 20); err != nil {
		t.Fatal(err)
	}
	c, err := policyRun{
		name: "auto", corpus: path, scenes: 20, budget: 8192,
		policy: compaction.Auto(),
	}.run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if c.refused > 0 || c.calls < 20 || c.summaries == 0 || c.uncached < c.floor {
		t.Errorf("%+v", c)
	}
}

// TestThreadSummariesCostNoMore: with summaries of threads a story costs no more, and stays within the aim of a novel.
func TestThreadSummariesCostNoMore(t *testing.T) {
	t.Parallel()
	const scenes = 2*longstory.Chapter + 10
	path := filepath.Join(t.TempDir(), "story.corpus.db")
	if err := longstory.Write(t.Context(), path, scenes); err != nil {
		t.Fatal(err)
	}
	costs := map[bool]float64{}
	for _, recaps := range []bool{true, false} {
		r, err := novelRun{corpus: path, budget: 32_768, recaps: recaps}.run(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if costs[recaps] = r.cost(); r.refused > 0 || r.scenes != scenes || r.compactions == 0 ||
			costs[recaps] > novelAims[r.budget] {
			t.Errorf("summaries of threads %v: %.2f times the scenes, %+v", recaps, costs[recaps], r)
		}
	}
	if costs[true] > 1.05*costs[false] {
		t.Errorf("%.2f times the scenes with summaries of threads, %.2f without", costs[true], costs[false])
	}
}
