package storage_test

import (
	"os"
	"testing"
	"time"

	"annotator"
	"annotator/internal/longtest"
	"annotator/internal/sqlite"
)

// walBound is the most that the write-ahead log may come to, in bytes: what CheckpointWAL lets it be and a scene's
// worth of pages.
const walBound = (4000 + 200) * 4200

// blank ends n scenes that have nothing to ask, with their checkpoints, and returns how many pages CheckpointWAL had to
// leave in the log in the end. CheckpointWAL must never wait for anybody.
func (s *story) blank(n int) (left int) {
	s.Helper()
	for range n {
		s.record(annotator.SceneRecorded)
		_, err := s.db.Scenes.Checkpoint(s.ctx, s.scene, 0, nil)
		s.ok(err)
		s.due = false
		start := time.Now()
		left, err = s.db.Maintenance.CheckpointWAL(s.ctx)
		s.ok(err)
		if took := time.Since(start); took >= 10*time.Second { // as long as SQLite waits for who is in its way
			s.Fatalf("CheckpointWAL took %v", took)
		}
	}
	return left
}

// log is the size of the write-ahead log, in bytes.
func (s *story) log() int64 {
	s.Helper()
	info, err := os.Stat(s.path + "-wal")
	s.ok(err)
	return info.Size()
}

// TestCheckpointWAL keeps the write-ahead log short. A reader that stays on one version of the database has it grow
// meanwhile, but nobody waits for that reader, and after it the log is short again.
func TestCheckpointWAL(t *testing.T) {
	t.Parallel()
	longtest.Only(t, "some thousands of transactions")
	s := newStory(t, t.TempDir(), scenesOf(2900))
	left := s.blank(2000)
	if log := s.log(); log > walBound || left > 0 {
		t.Errorf("after 2000 checkpoints the log has %d bytes, and %d pages had to stay", log, left)
	}
	pool, err := sqlite.Open(s.ctx, s.path, sqlite.ReadOnly, 1)
	s.ok(err)
	defer func() { _ = pool.Close() }()
	reader, err := pool.BeginTx(s.ctx, nil)
	s.ok(err)
	var n int
	s.ok(reader.QueryRowContext(s.ctx, `SELECT count(*) FROM snapshot`).Scan(&n))
	left = s.blank(800)
	if log := s.log(); log < walBound {
		t.Fatalf("a reader that stays keeps no more than %d bytes of the log: it proves nothing", log)
	}
	if left == 0 {
		t.Error("nobody is told of a log that grows")
	}
	s.ok(reader.Rollback())
	left = s.blank(100)
	if log := s.log(); log > walBound || left > 0 {
		t.Errorf("after the reader the log has %d bytes, and %d pages had to stay", log, left)
	}
}
