// Package storage keeps annotator.db: the journal, the glossary with its revisions, the calls, the scenes and the state
// of the run. Each noun has its service in DB. The package stores and finds; its callers decide what to store.
//
// There is one writer: a lock file in the database's folder excludes a second one, and a DB has one connection that
// writes. A public method that writes is one transaction; the lower-case methods of tx work inside one. A transaction
// is on disk when the method returns without an error. After an error, only reading shows whether it took place,
// because a disk may fail after the commit.
package storage

import (
	"database/sql"
	"path/filepath"
	"time"

	"github.com/gofrs/flock"

	"annotator"
	"annotator/internal/sqlite"
)

// DB is an open annotator.db, with a service for each noun.
type DB struct {
	Journal       *Journal
	Glossary      *Glossary
	Curation      *Curation
	OpenStates    *OpenStates
	NewEntries    *NewEntries
	Edits         *Edits
	Decisions     *Decisions
	Calls         *Calls
	Scenes        *Scenes
	Threads       *Threads
	Snapshots     *Snapshots
	Conversations *Conversations
	Episodes      *Episodes
	Mentions      *Mentions
	Joins         *Joins
	Run           *Run
	Maintenance   *Maintenance

	// State is the state of the machine that transactions record.
	State annotator.State
	// OnWait is called when a transaction has waited for readers for some seconds. It gets the size of the log in
	// bytes. It may be nil.
	OnWait func(log int64)

	schema   schema
	path     string
	absolute string // the same path, as it was when the database was opened
	read     pool
	write    *writer // nil when opened for reading
	lock     *flock.Flock
	claim    *sqlite.Claim
	holder   string
	now      func() time.Time
	head     head
	files    fileIdentity
	lost     error // not nil once one of the files was deleted, moved or replaced

	log         string        // the path of the write-ahead log, of a writer
	logPatience time.Duration // how long a transaction waits for the readers of a long log
	impatient   bool          // it has waited so long, and the log has not been started over since

	writtenBack time.Time // when all of the log was last copied into the file
}

// service is what the services have in common: the database.
type service struct{ db *DB }

type (
	// Journal stores the rows of turns, the prompts, and the tool calls with their results.
	Journal service
	// Curation stores the decisions of the curator.
	Curation service
	// OpenStates reads the open states of entries: claims that describe a state, and hold.
	OpenStates service
	// NewEntries compares new entries with others, for questions about those that may be redundant.
	NewEntries service
	// Edits stores what people ask to change of the codex, and applies it.
	Edits service
	// Decisions stores what people have answered to suggestions.
	Decisions service
	// Calls stores the attempts to call the model.
	Calls service
	// Scenes stores the scenes and their outcomes.
	Scenes service
	// Threads reads the threads of the story.
	Threads service
	// Snapshots reads the positions in the journal that are kept.
	Snapshots service
	// Conversations stores what the model asks snapshots.
	Conversations service
	// Episodes stores the summaries, and the state of the window.
	Episodes service
	// Mentions stores where names occur in the posts.
	Mentions service
	// Joins makes the codex of a story from those of its parts.
	Joins service
	// Run stores identity, progress and health of the run.
	Run service
	// Maintenance verifies and copies the database, and keeps its files in order.
	Maintenance service
)

func newDB(path string, now func() time.Time, known schema) *DB {
	db := &DB{schema: known, path: path, absolute: path, now: now, State: annotator.StateInit, logPatience: logPatience}
	if absolute, err := filepath.Abs(path); err == nil {
		db.absolute = absolute
	}
	s := &service{db}
	db.Journal, db.Curation, db.OpenStates = (*Journal)(s), (*Curation)(s), (*OpenStates)(s)
	db.NewEntries = (*NewEntries)(s)
	db.Edits, db.Decisions = (*Edits)(s), (*Decisions)(s)
	db.Calls, db.Scenes, db.Threads = (*Calls)(s), (*Scenes)(s), (*Threads)(s)
	db.Snapshots, db.Conversations, db.Episodes = (*Snapshots)(s), (*Conversations)(s), (*Episodes)(s)
	db.Mentions = (*Mentions)(s)
	db.Joins = (*Joins)(s)
	db.Run, db.Maintenance = (*Run)(s), (*Maintenance)(s)
	return db
}

// readFrom sets the connections that the services read through.
func (db *DB) readFrom(connections *sql.DB) {
	db.read = pool{connections, db.write != nil}
	db.Glossary = &Glossary{q: db.read, path: db.path}
}
