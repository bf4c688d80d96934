package storage

import (
	"annotator"
	"annotator/internal/sqlite"
	"context"
	"database/sql"
	"errors"
)

// LastScene returns the number of a thread's last scene; NotFound where the story has no scene of it.
func (s *Threads) LastScene(ctx context.Context, thread int64) (int, error) {
	var last int
	row := s.db.read.QueryRowContext(ctx, `SELECT coalesce(max(last_scene), 0) FROM thread_state WHERE thread_id = ?`, thread)
	if err := row.Scan(&last); err != nil {
		return 0, sqlite.Wrap(err, "read thread %d in %s", thread, s.db.path)
	}
	if last == 0 {
		return 0, annotator.Errorf(annotator.NotFound, "the story has no thread %d, or thread %[1]d has no scene", thread).
			WithAdvice("`annotator snapshot list --limit 0` names the threads that have been read")
	}
	return last, nil
}

// Order returns a thread's place in story order, from 1; NotFound for a thread without scenes.
func (s *Threads) Order(ctx context.Context, thread int64) (int, error) {
	var order int
	err := s.db.read.QueryRowContext(ctx, `SELECT ord FROM thread_state WHERE thread_id = ?`, thread).Scan(&order)
	if errors.Is(err, sql.ErrNoRows) {
		return 0, annotator.Errorf(annotator.NotFound, "thread %d has no scenes", thread)
	}
	return order, sqlite.Wrap(err, "read thread %d in %s", thread, s.db.path)
}

// Before returns the id of the last thread before a place in story order, from 1; 0 where there is none. Threads without a scene
// have a place, and are passed over.
func (s *Threads) Before(ctx context.Context, order int) (int64, error) {
	var thread int64
	err := s.db.read.QueryRowContext(ctx, `SELECT coalesce((SELECT thread_id FROM thread_state WHERE ord < ? ORDER BY ord DESC LIMIT 1), 0)`,
		order).Scan(&thread)
	return thread, sqlite.Wrap(err, "read the threads in %s", s.db.path)
}
