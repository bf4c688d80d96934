package storage

import (
	"context"
	"database/sql"
	"fmt"

	"annotator"
)

// LastScene returns the number of a thread's last scene; NotFound where the story has no scene of it.
func (s *Threads) LastScene(ctx context.Context, thread int64) (int, error) {
	last, err := readValue[int](ctx, s.db, fmt.Sprintf("read thread %d", thread),
		`SELECT coalesce(max(last_scene), 0) FROM thread_state WHERE thread_id = ?`, thread)
	if err == nil && last == 0 {
		err = annotator.Errorf(annotator.NotFound, "the story has no thread %d, or thread %[1]d has no scene", thread).
			WithAdvice("`annotator snapshot list --limit 0` names the threads that have been read")
	}
	return last, err
}

// All returns the threads with scenes, in story order.
func (s *Threads) All(ctx context.Context) ([]annotator.Thread, error) {
	scan := func(rows *sql.Rows, t *annotator.Thread) error { return rows.Scan(&t.ID, &t.Title, &t.Order) }
	return readAll(ctx, s.db, "read the threads", scan, `SELECT thread_id, title, ord FROM thread_state ORDER BY ord`)
}

// Order returns a thread's place in story order, from 1; NotFound for a thread without scenes.
func (s *Threads) Order(ctx context.Context, thread int64) (int, error) {
	missing := annotator.Errorf(annotator.NotFound, "thread %d has no scenes", thread)
	return readFirst(ctx, s.db, fmt.Sprintf("read thread %d", thread), missing, scanValue[int], `SELECT ord FROM thread_state WHERE thread_id = ?`, thread)
}

// Before returns the id of the last thread with a scene before a place in story order, from 1; 0 where there is none.
func (s *Threads) Before(ctx context.Context, order int) (int64, error) {
	return readValue[int64](ctx, s.db, "read the threads",
		`SELECT coalesce((SELECT thread_id FROM thread_state WHERE ord < ? ORDER BY ord DESC LIMIT 1), 0)`, order)
}
