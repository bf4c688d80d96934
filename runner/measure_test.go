package runner_test

import (
	"fmt"
	"os"
	"testing"

	"annotator/internal/scripted"
)

func (s *stage) fileSize(name string) int64 {
	s.t.Helper()
	info, err := os.Stat(s.db(name))
	if err != nil {
		s.t.Fatal(err)
	}
	return info.Size()
}

// TestSceneCostsTheSameAnywhere reads a story in three stretches. What a scene leaves behind must not grow with what came
// before it: in rows, in bytes, and in what is kept beside the messages themselves.
func TestSceneCostsTheSameAnywhere(t *testing.T) {
	t.Parallel()
	const stretch, cycle = 35, 7                                                           // the scripted model varies by the scene's number modulo the cycle
	s := newStage(t, story{threads: 4, scenes: stretch, words: 1_000}, scripted.Options{}) // the last thread is curated otherwise
	s.config.Limit = stretch
	s.config.Curator.Batch = 8 // fewer entries wait for the next thread
	var sizes []int64
	for range 3 {
		if err := s.run("flat"); err != nil {
			t.Fatal(err)
		}
		sizes = append(sizes, s.fileSize("flat"))
	}
	if second, third := sizes[1]-sizes[0], sizes[2]-sizes[1]; float64(third) > 1.1*float64(second) {
		t.Errorf("the database grows by %d bytes for the second %d scenes, by %d for the third", second, stretch, third)
	}
	messages := s.count("flat", `SELECT sum(length(CAST(content AS BLOB)) + length(CAST(reasoning AS BLOB)) + length(CAST(arguments AS BLOB))) FROM trace`)
	if size := sizes[2]; size > 2*int64(messages) {
		t.Errorf("%d bytes of database for %d bytes of messages", size, messages)
	}
	for what, table := range map[string]string{
		"journal": `trace WHERE turn > 0`, "calls": `call WHERE purpose = 'annotate'`, "snapshots": `snapshot WHERE type = 'checkpoint'`,
	} {
		query := fmt.Sprintf(`SELECT count(*) FROM (SELECT DISTINCT scene %% %d, n FROM (SELECT scene, count(*) AS n FROM %s GROUP BY scene))`, cycle, table)
		if kinds := s.count("flat", query); kinds != cycle {
			t.Errorf("%s: %d numbers of rows a scene, of which the script knows %d", what, kinds, cycle)
		}
	}
}
