package storage

import (
	"database/sql"
	"time"

	"github.com/gofrs/flock"

	"annotator"
)

// DB is an open annotator.db, with a service for each noun.
type DB struct {
	Journal       *Journal
	Glossary      *Glossary
	History       *History
	Curation      *Curation
	Calls         *Calls
	Scenes        *Scenes
	Threads       *Threads
	Snapshots     *Snapshots
	Conversations *Conversations
	Episodes      *Episodes
	Run           *Run
	Maintenance   *Maintenance

	path   string
	read   *sql.DB
	write  *sql.DB // nil when opened for reading
	lock   *flock.Flock
	holder string
	now    func() time.Time
	state  annotator.State
	head   head
	files  fileIdentity
	lost   error // since one of the files is not where it was
}

// service is what the services have in common: the database.
type service struct{ db *DB }

// The services. Glossary, which also works inside a transaction, is declared with its methods.
type (
	Journal       service // the rows of turns, the prompts, the tool calls
	History       service // the glossary as it stood at an earlier point
	Curation      service // what the curator decides
	Calls         service // the attempts to call the model
	Scenes        service // the scenes and their outcomes
	Threads       service // the threads of the story
	Snapshots     service // positions in the journal
	Conversations service // what was asked of snapshots
	Episodes      service // summaries, and the state of the window
	Run           service // identity, progress and health of the run
	Maintenance   service // verification, backups, the write-ahead log
)

func newDB(path string, now func() time.Time) *DB {
	db := &DB{path: path, now: now, state: annotator.StateInit}
	s := &service{db}
	db.Journal, db.History, db.Curation = (*Journal)(s), (*History)(s), (*Curation)(s)
	db.Calls, db.Scenes, db.Threads = (*Calls)(s), (*Scenes)(s), (*Threads)(s)
	db.Snapshots, db.Conversations, db.Episodes = (*Snapshots)(s), (*Conversations)(s), (*Episodes)(s)
	db.Run, db.Maintenance = (*Run)(s), (*Maintenance)(s)
	return db
}

// readFrom sets the connections that the services read through.
func (db *DB) readFrom(pool *sql.DB) {
	db.read = pool
	db.Glossary = &Glossary{q: pool, path: db.path}
}
