package storage

import (
	"context"
	"database/sql"
	"fmt"

	"annotator"
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
	return readAll(ctx, s.db, "read the snapshots", scanSnapshot, snapshotQuery+` WHERE (?1 = '' OR type = ?1) AND (?2 = 0 OR thread_id = ?2)
		ORDER BY id DESC LIMIT iif(?3 > 0, ?3, -1)`, query.Kind, query.Thread, query.Limit)
}

// Get returns the snapshot with an id; NotFound if there is none.
func (s *Snapshots) Get(ctx context.Context, id int64) (annotator.Snapshot, error) {
	missing := annotator.Errorf(annotator.NotFound, "there is no snapshot %d in %s", id, s.db.path).
		WithAdvice("`annotator snapshot list` names those there are")
	return readFirst(ctx, s.db, fmt.Sprintf("read snapshot %d", id), missing, scanSnapshot, snapshotQuery+` WHERE id = ?`, id)
}

// LastCheckpoint returns the id of the journal's newest row at the newest checkpoint; 0 before the first.
func (s *Snapshots) LastCheckpoint(ctx context.Context) (int64, error) {
	return readValue[int64](ctx, s.db, "read the newest checkpoint", `SELECT coalesce((SELECT trace_id FROM snapshot WHERE type = 'checkpoint' ORDER BY id DESC LIMIT 1), 0)`)
}
