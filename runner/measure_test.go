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

const (
	// of rows and index entries; a short table's pages are filled too unevenly to compare
	storedBytes  = `SELECT sum(payload) FROM dbstat`
	messageBytes = `SELECT sum(length(CAST(content AS BLOB)) + length(CAST(attached AS BLOB)) + length(CAST(reasoning AS BLOB)) + length(CAST(arguments AS BLOB))) FROM trace`
)

// TestSceneCostsTheSameAnywhere reads a story in three stretches. The rows and bytes of a scene, and what is kept apart
// from the messages themselves, must not grow with the scenes before it.
func TestSceneCostsTheSameAnywhere(t *testing.T) {
	t.Parallel()
	// the scripted model varies by the scene's number modulo the cycle
	const stretch, cycle = 35, 7
	// the last thread is curated otherwise
	s := newStage(t, story{threads: 4, scenes: stretch, words: 1_000}, scripted.Options{})
	s.config.Limit = stretch
	s.config.Curator.Batch = 8 // fewer entries wait for the next thread
	var files, stored, messages []int
	for range 3 {
		if err := s.run("flat"); err != nil {
			t.Fatal(err)
		}
		files = append(files, int(s.fileSize("flat")))
		stored = append(stored, s.count("flat", storedBytes))
		messages = append(messages, s.count("flat", messageBytes))
	}
	if second, third := stored[1]-stored[0], stored[2]-stored[1]; float64(third) > 1.1*float64(second) {
		t.Errorf("%d bytes are stored for the second %d scenes, %d for the third", second, stretch, third)
	}
	// the first stretch includes a page for each table
	if file, sent := files[2]-files[0], messages[2]-messages[0]; file > 2*sent {
		t.Errorf("the file grows by %d bytes for %d bytes of messages", file, sent)
	}
	for what, table := range map[string]string{
		"journal": `trace WHERE turn > 0`, "calls": `call WHERE purpose = 'annotate'`,
		"snapshots": `snapshot WHERE type = 'checkpoint'`,
	} {
		query := fmt.Sprintf(`SELECT count(*) FROM (SELECT DISTINCT scene %% %d, n FROM (SELECT scene, count(*) AS n FROM %s GROUP BY scene))`, cycle, table)
		if kinds := s.count("flat", query); kinds != cycle {
			t.Errorf("%s: %d numbers of rows a scene, of which the script knows %d", what, kinds, cycle)
		}
	}
}
