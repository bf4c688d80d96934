package storage

import (
	"context"
	"database/sql"
	"fmt"

	"annotator"
)

// SnapshotQuery asks for snapshots.
type SnapshotQuery struct {
	Kind   string // empty: any
	Thread int64  // taken in this thread; 0: in any
	Before int64  // with ids below this one; 0: any
	Limit  int    // the most snapshots; 0: all
}

// SnapshotRows is a query whose rows ScanSnapshot scans.
const SnapshotRows = `SELECT id, type, created_at, scene, thread_id, trace_id, revision_id, context_id, entries, tokens,
	name, before_turn, alone FROM snapshot`

// ScanSnapshot scans a row of SnapshotRows.
func ScanSnapshot(rows *sql.Rows, s *annotator.Snapshot) error {
	return rows.Scan(&s.ID, &s.Kind, &s.Created, &s.Scene, &s.Thread, &s.Trace, &s.Revision, &s.Context, &s.Entries,
		&s.Tokens, &s.Name, &s.Before, &s.Alone)
}

// List returns the snapshots that a query finds, newest first.
func (s *Snapshots) List(ctx context.Context, query SnapshotQuery) ([]annotator.Snapshot, error) {
	return readAll(ctx, s.db, "read the snapshots", ScanSnapshot, SnapshotRows+`
		WHERE (?1 = '' OR type = ?1) AND (?2 = 0 OR thread_id = ?2)
		AND id < ?4 ORDER BY id DESC LIMIT iif(?3 > 0, ?3, -1)`,
		query.Kind, query.Thread, query.Limit, RowOrLast(query.Before))
}

// Get returns the snapshot with an id; NotFound if there is none.
func (s *Snapshots) Get(ctx context.Context, id int64) (annotator.Snapshot, error) {
	missing := annotator.Errorf(annotator.NotFound, "there is no snapshot %d in %s", id, s.db.path).
		WithReason(annotator.ReasonUnknownSnapshot)
	return readFirst(ctx, s.db, fmt.Sprintf("read snapshot %d", id), missing, ScanSnapshot,
		SnapshotRows+` WHERE id = ?`, id)
}

// Create keeps the present position as a snapshot of the type "manual". The error is Misused while a scene is open,
// since its turn is not whole, and before the first scene is read.
func (s *Snapshots) Create(ctx context.Context, name string) (annotator.Snapshot, error) {
	run, err := s.db.Run.Status(ctx)
	if err != nil {
		return annotator.Snapshot{}, err
	}
	if run.OpenScene != 0 {
		return annotator.Snapshot{}, annotator.Errorf(annotator.Misused, "scene %d is not finished", run.OpenScene).
			WithAdvice("run again, and create the snapshot when the run has ended; " +
				"there is one after each scene anyway")
	}
	newest, err := s.List(ctx, SnapshotQuery{Kind: annotator.SnapshotCheckpoint, Limit: 1})
	if err != nil {
		return annotator.Snapshot{}, err
	}
	if len(newest) == 0 {
		return annotator.Snapshot{}, annotator.Errorf(annotator.Misused, "no scene is read yet").
			WithAdvice("create the snapshot when the run has read one")
	}
	taken := newest[0]
	taken.Kind, taken.Name = annotator.SnapshotManual, name
	err = s.db.update(ctx, "create a snapshot", func(tx *tx) { tx.insertSnapshot(&taken) })
	return taken, err
}

// insertSnapshot records a snapshot of the present position, and sets its position and id. Its prompt is the one in
// force.
func (tx *tx) insertSnapshot(s *annotator.Snapshot) {
	s.Trace, s.Revision, s.Created = tx.head.trace, tx.head.revision, tx.now
	tx.scan([]any{&s.ID, &s.Thread, &s.Context, &s.Entries}, `INSERT INTO snapshot
		(type, created_at, scene, thread_id, trace_id, revision_id, context_id, entries, tokens, name, before_turn,
		  alone)
		SELECT ?, ?, ?, (SELECT thread_id FROM scene WHERE n = ?), ?, ?, context_id, entries, ?, ?, ?, ? FROM run_state
		RETURNING id, thread_id, context_id, entries`,
		s.Kind, s.Created, s.Scene, s.Scene, s.Trace, s.Revision, s.Tokens, s.Name, s.Before, s.Alone)
}
