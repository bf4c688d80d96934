package main

import (
	"bytes"
	"errors"
	"sync/atomic"
	"testing"
	"time"
)

// TestLongMigrationIsReported: a long migration prints its start, its progress and its duration. A short one prints
// nothing.
func TestLongMigrationIsReported(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		after []time.Duration // from the beginning, when something is looked at
		fails bool
		want  string
	}{
		"short": {after: []time.Duration{200 * time.Millisecond}},
		"long": {
			after: []time.Duration{2 * time.Second, 5 * time.Second, 20 * time.Second},
			want: "bringing book.annotator.db up to date with this version, from schema 6 to 18: once, and what is " +
				"interrupted goes on later\nschema 7 of 18, 20s so far\nbook.annotator.db is up to date after 20s\n",
		},
		"interrupted": {
			after: []time.Duration{2 * time.Second}, fails: true,
			want: "bringing book.annotator.db up to date with this version, from schema 6 to 18: once, and what is " +
				"interrupted goes on later\n",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var passed atomic.Int64
			var out bytes.Buffer
			a := &app{
				err: &out, now: func() time.Time { return time.UnixMilli(passed.Load()) },
				lookup: func(string) (string, bool) { return "", false },
			}
			m := newMigrationProgress(a, "folder/book.annotator.db")
			m.step(7, 18)
			for _, at := range c.after {
				passed.Store(at.Milliseconds())
				m.tick()
			}
			var err error
			if c.fails {
				err = errors.New("interrupted")
			}
			m.end(err)
			m.tick()
			if got := out.String(); got != c.want {
				t.Errorf("it says %q, want %q", got, c.want)
			}
		})
	}
}
