package faults_test

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
	"unsafe"

	"annotator/internal/longtest"
	"annotator/storage"

	gocmp "github.com/google/go-cmp/cmp"
)

// set returns a reading of a clock that was set: its wall time has changed, its monotonic time has not. Package time
// cannot create one, since Add changes both.
func set(reading time.Time, by time.Duration) time.Time {
	told, since := reading.Add(by), time.Date(1885, 1, 1, 0, 0, 0, 0, time.UTC)
	var moved time.Time
	inside := (*struct {
		tells    uint64 // from the top: that it measures, 33 bits of seconds, 30 of nanoseconds
		measures int64
		_        *time.Location
	})(unsafe.Pointer(&moved))
	inside.tells = 1<<63 | uint64(told.Unix()-since.Unix())<<30 | uint64(told.Nanosecond())
	inside.measures = int64(reading.Sub(beginning))
	return moved
}

// TestClockCanBeSet tests the function set.
func TestClockCanBeSet(t *testing.T) {
	t.Parallel()
	began := time.Date(2026, 1, 2, 3, 4, 5, 6, time.UTC)
	end := began.Add(7 * time.Minute)
	for _, by := range []time.Duration{-day, year, -3 * time.Second, 0} {
		moved := set(end, by)
		if want := end.Add(by); !moved.Round(0).Equal(want) {
			t.Errorf("set by %s, the clock tells %s, want %s", by, moved, want)
		}
		if took := moved.Sub(set(began, -by)); took != 7*time.Minute {
			t.Errorf("set by %s, the clock measures %s", by, took)
		}
	}
}

const (
	day  = 24 * time.Hour
	year = 365 * day
)

// TestClockIsSet sets the clock during a run while it waits for a server: back, forward, or alternately at every
// reading. The run ends as without that, after the same time. Nothing of it is lost or reordered.
func TestClockIsSet(t *testing.T) {
	t.Parallel()
	b := newBench(t, plain())
	shifts := map[string]func(looks int64) time.Duration{
		"back by a day":     func(looks int64) time.Duration { return -day * time.Duration(min(looks/steady, 1)) },
		"forward by a year": func(looks int64) time.Duration { return year * time.Duration(min(looks/steady, 1)) },
		"to and fro":        func(looks int64) time.Duration { return time.Duration(looks%5-2) * 31 * time.Hour },
	}
	troubles := map[string]form{
		"a date to wait for":             slowDown("Sat, 01 Jan 2000 00:00:30 GMT"),
		"a date, and none to compare to": answers(429, "{}", "Retry-After: Sat, 01 Jan 2000 00:00:30 GMT", "Date: "),
		"a model that loads":             answers(503, loading),
		"a connection that breaks":       takes(reset),
	}
	for name, form := range troubles {
		for _, times := range longtest.Pick([]int{3}, []int{3, mostRequests}) {
			t.Run(fmt.Sprintf("%s, %d times", name, times), func(t *testing.T) {
				t.Parallel()
				want, sound := b.clocked(t, form, times, func(int64) time.Duration { return 0 })
				for shifted, shift := range shifts {
					ended, took := b.clocked(t, form, times, shift)
					if ended != want {
						t.Errorf("set %s: ended %c, and %c by a sound clock", shifted, ended, want)
					}
					if took < sound-slack || took > sound+slack {
						t.Errorf("set %s: it took %s, and %s by a sound clock", shifted, took, sound)
					}
				}
			})
		}
	}
}

// steady is the number of readings before the clock is set.
const steady = 80

// slack is the tolerance for dates that can only be compared to the clock that was set. It is the longest wait of the
// run, or none.
const slack = 3 * time.Minute

// clocked runs the story with a clock, and returns the result and the duration.
func (b *bench) clocked(t *testing.T, f form, times int,
	shift func(looks int64) time.Duration,
) (ended byte, took time.Duration) {
	db := filepath.Join(t.TempDir(), "story.db")
	synctest.Test(t, func(t *testing.T) {
		var looks atomic.Int64
		s := b.session(t, db, wires()[0], streamed)
		s.clock = func() time.Time { return set(time.Now(), shift(looks.Add(1))) }
		began := time.Now()
		err := s.run(&trouble{form: f, aim: showsScene, place: b.calls / 2, times: times})
		took = time.Since(began)
		ended = s.check(err)
		if looks.Load() < 2*steady && ended == 'R' {
			t.Errorf("the run has looked at the clock %d times", looks.Load())
		}
		for _, call := range s.lines(`SELECT concat_ws(' ', id, first_byte_ms, total_ms) FROM call
			WHERE NOT 0 <= first_byte_ms OR NOT first_byte_ms <= total_ms
			OR total_ms > 3600000`) {
			t.Errorf("measured are %s", call)
		}
		s.finishSound(ended)
		if diff := gocmp.Diff(slices.Concat(b.rows, b.codex), slices.Concat(s.journal(), s.codex())); diff != "" {
			t.Errorf("not what the undisturbed run leaves (-calm +this):\n%s", diff)
		}
		s.looksBack()
	})
	return ended, took
}

// looksBack checks reports on the run, which must not depend on the clock. A branch at its end equals the run,
// including times. No duration is negative.
func (s *session) looksBack() {
	s.t.Helper()
	ctx := context.Background()
	db, err := storage.Open(ctx, s.db)
	if err != nil {
		s.t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	report, err := db.Run.Report(ctx)
	if err != nil {
		s.t.Fatal(err)
	}
	if report.SceneTime < 0 || report.CallTime < 0 {
		s.t.Errorf("a scene takes %s, the calls took %s", report.SceneTime, report.CallTime)
	}
	snapshots, err := db.Snapshots.List(ctx, storage.SnapshotQuery{})
	if err != nil {
		s.t.Fatal(err)
	}
	branch := session{t: s.t, program: s.program}
	branch.db = s.db + ".branch"
	if err := storage.Branch(ctx, s.db, branch.db, snapshots[0].ID); err != nil {
		s.t.Fatal(err)
	}
	branch.verifyAll()
	const times = `SELECT concat_ws(' | ', term, created_at, updated_at) FROM glossary_entry ORDER BY id`
	if diff := gocmp.Diff(s.lines(times), branch.lines(times)); diff != "" {
		s.t.Errorf("a branch has entries of other times (-run +branch):\n%s", diff)
	}
}
