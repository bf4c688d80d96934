package main

import (
	"fmt"
	"path/filepath"
	"sync"
	"time"
)

// migrationProgress reports on standard error a migration that takes longer than quietMigration. It redraws a line on a
// terminal, and prints a line per lineInterval elsewhere.
type migrationProgress struct {
	app  *app
	file string

	mu sync.Mutex
	// versions: the original, the one of the current step, the last; schema is 0 before and after
	from, schema, last int
	began              time.Time
	printed            time.Time // of the newest line; zero before the first
	stop               func()
}

// quietMigration is the time that a migration takes before it is reported.
const quietMigration = time.Second

func newMigrationProgress(a *app, path string) *migrationProgress {
	return &migrationProgress{app: a, file: filepath.Base(path)}
}

// step is called before each step. See storage.OpenWriter.
func (m *migrationProgress) step(schema, last int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.schema == 0 {
		m.from, m.began = schema-1, m.app.now()
		m.stop = every(redrawInterval, m.tick)
	}
	m.schema, m.last = schema, last
}

func (m *migrationProgress) tick() {
	m.mu.Lock()
	defer m.mu.Unlock()
	now := m.app.now()
	took := now.Sub(m.began)
	if m.schema == 0 || took < quietMigration {
		return
	}
	if m.printed.IsZero() {
		m.app.say(fmt.Sprintf("bringing %s up to date with this version, from schema %d to %d: once, and what is "+
			"interrupted goes on later",
			m.file, m.from, m.last))
		m.printed = now
	}
	line := fmt.Sprintf("schema %d of %d, %s so far", m.schema, m.last, duration(took))
	switch {
	case m.app.isTerminal(m.app.err):
		fmt.Fprint(m.app.err, "\r", line, "\x1b[K")
	case now.Sub(m.printed) >= lineInterval:
		m.app.say(line)
		m.printed = now
	}
}

// end prints the duration, if the migration was reported.
func (m *migrationProgress) end(err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.schema == 0 {
		return
	}
	m.stop()
	m.schema = 0
	if m.printed.IsZero() {
		return
	}
	if m.app.isTerminal(m.app.err) {
		fmt.Fprint(m.app.err, "\r\x1b[K")
	}
	if err == nil {
		m.app.say(fmt.Sprintf("%s is up to date after %s", m.file, duration(m.app.now().Sub(m.began))))
	}
}
