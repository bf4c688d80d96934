package storage_test

import (
	"math/rand/v2"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"annotator"
	"annotator/internal/longtest"
	"annotator/internal/sqlite"
)

// walBound is the most that the write-ahead log may come to, in bytes: what CheckpointWAL lets it be and a scene's
// worth of pages.
const walBound = (4000 + 200) * 4200

// blank ends n scenes without a call to the model, with their checkpoints. It returns how many pages CheckpointWAL left
// in the log at the end. CheckpointWAL must never wait for readers.
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
		if took := time.Since(start); took >= 10*time.Second { // SQLite waits for a lock that long
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

// TestCheckpointWAL keeps the write-ahead log short. While a reader uses one state of the database, the log grows, but
// nothing waits for the reader. Afterwards the log is short again.
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

// logBound is the most that the log comes to with readers, in bytes.
const logBound = 64 << 20

// write commits n transactions of a megabyte each, and returns the most that the log came to, in bytes, and how long
// the slowest took.
func (s *story) write(n int) (most int64, slowest time.Duration) {
	s.Helper()
	text := strings.Repeat("A long reply. ", 1<<20/14)
	for range n {
		start := time.Now()
		s.reply(text)
		slowest = max(slowest, time.Since(start))
		most = max(most, s.log())
	}
	return most, slowest
}

// reads begins transactions that read one state for some time each, until it is stopped, and returns how many there
// were.
func (s *story) reads(lengths func() time.Duration) (stop func() int) {
	s.Helper()
	pool, err := sqlite.Open(s.ctx, s.path, sqlite.ReadOnly, 1)
	s.ok(err)
	over, ended := make(chan bool), make(chan int)
	go func() {
		n := 0
		for ; ; n++ {
			t, err := pool.BeginTx(s.ctx, nil)
			var before, after int
			if err == nil {
				err = t.QueryRowContext(s.ctx, `SELECT count(*) FROM trace`).Scan(&before)
			}
			length := time.NewTimer(lengths())
			stopped := false
			select {
			case <-length.C:
			case <-over:
				stopped = true
			}
			if err == nil {
				err = t.QueryRowContext(s.ctx, `SELECT count(*) FROM trace`).Scan(&after)
			}
			if err == nil {
				err = t.Rollback()
			}
			if err != nil || before != after {
				s.Errorf("a reader is disturbed: %d rows, then %d, %v", before, after, err)
			}
			if stopped || err != nil {
				_ = pool.Close()
				ended <- n
				return
			}
		}
	}()
	return func() int { close(over); return <-ended }
}

// TestLogBesideReaders writes while fifty readers overlap, with transactions from a millisecond to seconds. The log
// stays short, and no reader fails.
func TestLogBesideReaders(t *testing.T) {
	t.Parallel()
	s := newStory(t, t.TempDir(), scenesOf(1))
	s.begin("scene 1")
	for _, longest := range longtest.Pick([]time.Duration{time.Second},
		[]time.Duration{50 * time.Millisecond, time.Second, 10 * time.Second}) {
		random := rand.New(rand.NewPCG(1, 2))
		var mu sync.Mutex
		length := func() time.Duration {
			mu.Lock()
			defer mu.Unlock()
			return time.Millisecond + time.Duration(random.Int64N(int64(longest)))
		}
		var stops []func() int
		for range 50 {
			stops = append(stops, s.reads(length))
		}
		start := time.Now()
		most, slowest := s.write(longtest.Pick(100, 200))
		took, reads := time.Since(start), 0
		for _, stop := range stops {
			reads += stop()
		}
		t.Logf("readers of up to %v: %d reads, log of at most %d MiB, %v in all, the slowest transaction %v", longest,
			reads, most>>20, took, slowest)
		if most > logBound || reads == 0 {
			t.Errorf("readers of up to %v: the log came to %d bytes, beside %d reads", longest, most, reads)
		}
	}
}

// TestReaderThatNeverEnds: after some time a run no longer waits for a reader, and reports this once. When the reader
// has ended, the log is short again.
func TestReaderThatNeverEnds(t *testing.T) {
	t.Parallel()
	s := newStory(t, t.TempDir(), scenesOf(1))
	s.db.SetLogPatience(6 * time.Second)
	told := 0
	s.db.OnWait = func(int64) { told++ }
	s.begin("scene 1")
	stop := s.reads(func() time.Duration { return time.Hour })
	time.Sleep(100 * time.Millisecond) // it has begun
	most, slowest := s.write(100)
	stop()
	if most < logBound || slowest < 6*time.Second || told != 1 {
		t.Errorf("the log came to %d bytes, the slowest transaction took %v, and %d times it was told", most, slowest,
			told)
	}
	if s.write(2); s.log() > walBound {
		t.Errorf("after the reader the log has %d bytes", s.log())
	}
}
