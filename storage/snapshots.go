package storage

import (
	"context"
	"database/sql"

	"annotator"
	"annotator/internal/sqlite"
)

// SnapshotQuery asks for snapshots.
type SnapshotQuery struct {
	Kind   string // checkpoint, manual or curator_fork; empty: any
	Thread int64  // taken in this thread; 0: in any
	Limit  int    // at most so many; 0: all
}

const snapshotQuery = `SELECT id, type, created_at, scene, thread_id, trace_id, revision_id, context_id, entries, tokens FROM snapshot`

func scanSnapshot(rows *sql.Rows, s *annotator.Snapshot) error {
	return rows.Scan(&s.ID, &s.Kind, &s.Created, &s.Scene, &s.Thread, &s.Trace, &s.Revision, &s.Context, &s.Entries, &s.Tokens)
}

// List returns the snapshots that a query finds, newest first.
func (s *Snapshots) List(ctx context.Context, query SnapshotQuery) ([]annotator.Snapshot, error) {
	found, err := collect(ctx, s.db.read, scanSnapshot, snapshotQuery+` WHERE (?1 = '' OR type = ?1) AND (?2 = 0 OR thread_id = ?2)
		ORDER BY id DESC LIMIT iif(?3 > 0, ?3, -1)`, query.Kind, query.Thread, query.Limit)
	return found, sqlite.Wrap(err, "read the snapshots in %s", s.db.path)
}

// Get returns the snapshot with an id; NotFound if there is none.
func (s *Snapshots) Get(ctx context.Context, id int64) (annotator.Snapshot, error) {
	found, err := collect(ctx, s.db.read, scanSnapshot, snapshotQuery+` WHERE id = ?`, id)
	switch {
	case err != nil:
		return annotator.Snapshot{}, sqlite.Wrap(err, "read snapshot %d in %s", id, s.db.path)
	case len(found) == 0:
		return annotator.Snapshot{}, annotator.Errorf(annotator.NotFound, "there is no snapshot %d in %s", id, s.db.path).
			WithAdvice("`annotator snapshot list` names those there are")
	}
	return found[0], nil
}

// LastCheckpoint returns the id of the journal's newest row at the newest checkpoint; 0 before the first.
func (s *Snapshots) LastCheckpoint(ctx context.Context) (int64, error) {
	var row int64
	err := s.db.read.QueryRowContext(ctx, `SELECT coalesce((SELECT trace_id FROM snapshot WHERE type = 'checkpoint' ORDER BY id DESC LIMIT 1), 0)`).Scan(&row)
	return row, sqlite.Wrap(err, "read the newest checkpoint in %s", s.db.path)
}
