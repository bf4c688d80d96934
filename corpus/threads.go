package corpus

import (
	"cmp"
	"context"
	"database/sql"
	"slices"

	"annotator"
	"annotator/internal/sqlite"
)

// threadStart is a thread with the values that determine its place in the story.
type threadStart struct {
	annotator.Thread
	posts bool  // it has posts
	start int64 // its place in the story: the time of its opening post, else of its earliest
}

// Threads returns all threads in story order: by the time of the opening post, then by id. The opening post has the id
// of the thread; without it, the earliest post counts. A corpus whose source has changed has an order of its own.
// Threads without posts come last. A thread that occurs only in table post has no title.
func (db *DB) Threads(ctx context.Context) ([]annotator.Thread, error) {
	titles, err := db.titles(ctx)
	if err != nil {
		return nil, sqlite.Wrap(err, "read the threads of %s", db.path)
	}
	found, err := db.threadStarts(ctx)
	if err != nil {
		return nil, sqlite.Wrap(err, "read the threads of %s", db.path)
	}
	for i := range found {
		found[i].Title = titles[found[i].ID]
		delete(titles, found[i].ID)
	}
	for id, title := range titles {
		found = append(found, threadStart{Thread: annotator.Thread{ID: id, Title: title}})
	}
	slices.SortFunc(found, compareStarts)
	threads := make([]annotator.Thread, len(found))
	for i := range found {
		threads[i] = found[i].Thread
		threads[i].Order = annotator.Order(i + 1)
	}
	return threads, nil
}

func compareStarts(a, b threadStart) int {
	if a.posts != b.posts {
		if a.posts {
			return -1
		}
		return 1
	}
	return cmp.Or(cmp.Compare(a.start, b.start), cmp.Compare(a.ID, b.ID))
}

func (db *DB) titles(ctx context.Context) (map[int64]string, error) {
	titles, size := map[int64]string{}, 0
	err := sqlite.Each(ctx, db.pool, func(rows *sql.Rows) error {
		var id int64
		var title string
		err := rows.Scan(&id, &title)
		titles[id] = clean(title)
		if size += len(title); db.pool.limit > 0 && (len(titles) > viewThreads || size > viewTitles) {
			return annotator.Errorf(annotator.Misused,
				"a view of the corpus %s yields more than %d threads, or titles of more than %d MiB",
				db.path, viewThreads, viewTitles>>20).WithAdvice(
				"make tables of its views, with CREATE TABLE ... AS SELECT")
		}
		return err
	}, `SELECT id, `+db.shape.title+` FROM thread WHERE id IS NOT NULL ORDER BY id`)
	return titles, err
}

// With an index, each step of the recursion finds the next thread, so the time depends on the number of threads.
// Without one, the whole table is read once.
const (
	startsByIndex = `WITH RECURSIVE step(id) AS (
			SELECT min(thread_id) FROM post
			UNION ALL
			SELECT (SELECT min(thread_id) FROM post WHERE thread_id > step.id) FROM step WHERE step.id IS NOT NULL)
		SELECT id, coalesce(
			(SELECT CAST(time AS INTEGER) FROM post WHERE thread_id = step.id AND id = step.id),
			(SELECT CAST(min(time) AS INTEGER) FROM post WHERE thread_id = step.id), 0)
		FROM step WHERE id IS NOT NULL`

	startsByOrder = `SELECT id, ord FROM thread WHERE EXISTS (SELECT 1 FROM post WHERE thread_id = thread.id)`

	startsByScan = `SELECT thread_id, coalesce(
			CAST(min(CASE WHEN id = thread_id THEN time END) AS INTEGER), CAST(min(time) AS INTEGER), 0)
		FROM post WHERE thread_id IS NOT NULL GROUP BY thread_id`
)

func (db *DB) threadStarts(ctx context.Context) ([]threadStart, error) {
	query := startsByScan
	switch {
	case db.shape.ordered:
		query = startsByOrder
	case db.shape.indexed:
		query = startsByIndex
	}
	var found []threadStart
	err := sqlite.Each(ctx, db.pool, func(rows *sql.Rows) error {
		start := threadStart{posts: true}
		err := rows.Scan(&start.ID, &start.start)
		found = append(found, start)
		return err
	}, query)
	return found, err
}
