package main

import (
	"fmt"
	"path/filepath"
	"sync"
	"time"
)

// migrating says on standard error that a database of an earlier version is brought up to date, if that takes longer than
// a moment: on a terminal by a line that is redrawn, elsewhere by a line now and then.
type migrating struct {
	app  *app
	file string

	mu                 sync.Mutex
	from, schema, last int // the schema that was there, that of the step at hand, and the last; 0 before and after
	began              time.Time
	printed            time.Time // when the newest line was; zero before the first
	stop               func()
}

// shortMigration is the time that a migration may take without a word.
const shortMigration = time.Second

func newMigrating(a *app, path string) *migrating {
	return &migrating{app: a, file: filepath.Base(path)}
}

// step is told of each step. See storage.OpenWriter.
func (m *migrating) step(schema, last int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.schema == 0 {
		m.from, m.began = schema-1, m.app.now()
		m.stop = every(redrawInterval, m.tick)
	}
	m.schema, m.last = schema, last
}

func (m *migrating) tick() {
	m.mu.Lock()
	defer m.mu.Unlock()
	now := m.app.now()
	took := now.Sub(m.began)
	if m.schema == 0 || took < shortMigration {
		return
	}
	if m.printed.IsZero() {
		m.app.say(fmt.Sprintf("bringing %s up to date with this version, from schema %d to %d: once, and what is interrupted goes on later",
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

// end says how long it took, if anything was said.
func (m *migrating) end(err error) {
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
