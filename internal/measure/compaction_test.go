package main

import (
	"path/filepath"
	"testing"

	"annotator/context/compaction"
)

// TestPolicyRun reads a short story as the tables on compaction do. A window that small has to be compacted.
func TestPolicyRun(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "story.corpus.db")
	if err := writeStory(t.Context(), path, 20); err != nil {
		t.Fatal(err)
	}
	c, err := policyRun{name: "auto", corpus: path, scenes: 20, budget: 8192, policy: compaction.Auto()}.run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if c.refused > 0 || c.calls < 20 || c.summaries == 0 || c.uncached < c.floor {
		t.Errorf("%+v", c)
	}
}
