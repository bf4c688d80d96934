package runner_test

import (
	"fmt"
	"strings"
	"testing"

	"annotator/internal/scripted"
)

// TestHugePost tests that a scene with a post that no model could read is refused with its size, before its text is
// rendered. The others are read.
func TestHugePost(t *testing.T) {
	t.Parallel()
	s := newStage(t, story{threads: 1, scenes: 3}, scripted.Options{Strict: true, Script: scripted.Annotate})
	edit(t, s.corpus, fmt.Sprintf(`UPDATE post SET body = %s WHERE id = 1003`, quoted(strings.Repeat("<b>", 5<<20/3))))
	_ = s.run("huge")
	s.verify("huge")
	if n := s.count("huge", `SELECT count(*) FROM scene WHERE state = 'quarantined' AND reason LIKE '%the scene has 5.0 MiB of text, and at most 4 are read%'`); n != 1 {
		t.Errorf("%d scenes are refused for their size", n)
	}
	if n, all := s.count("huge", `SELECT count(*) FROM scene WHERE state = 'recorded'`),
		s.count("huge", `SELECT count(*) FROM scene`); n != all-1 || n < 3 {
		t.Errorf("%d scenes of %d are read", n, all)
	}
	if n := s.count("huge", `SELECT count(*) FROM trace WHERE length(content) > 100000`); n != 0 {
		t.Errorf("%d rows have the text", n)
	}
}
