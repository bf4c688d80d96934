package storage

import (
	"annotator"
	"annotator/internal/sqlite"
	"annotator/migrations"
	"context"
	"database/sql"
	"fmt"
)

func schemaVersion(ctx context.Context, q querier, path string) (int, error) {
	var application, version int
	if err := q.QueryRowContext(ctx, `PRAGMA application_id`).Scan(&application); err != nil {
		return 0, sqlite.Wrap(err, "open %s", path)
	}
	if err := q.QueryRowContext(ctx, `PRAGMA user_version`).Scan(&version); err != nil {
		return 0, sqlite.Wrap(err, "open %s", path)
	}
	var tables int
	if err := q.QueryRowContext(ctx, `SELECT count(*) FROM sqlite_schema`).Scan(&tables); err != nil {
		return 0, sqlite.Wrap(err, "open %s", path)
	}
	if application != applicationID && tables > 0 {
		return 0, annotator.Errorf(annotator.Misused, "%s is a database, but not one of annotator's", path).
			WithAdvice("name another file with --db")
	}
	return version, nil
}

func checkReadable(version int, path string) error {
	steps, err := migrations.All()
	if err != nil {
		return err
	}
	switch {
	case version == 0:
		return annotator.Errorf(annotator.NotFound, "%s holds no run yet", path).WithAdvice("fill it with `annotator run SOURCE --db %s`", path)
	case version < len(steps):
		return annotator.Errorf(annotator.Misused, "%s has schema %d, this program reads %d", path, version, len(steps)).
			WithAdvice("`annotator run SOURCE --db %[1]s` brings it up to date, and so does `annotator verify --repair --db %[1]s`", path)
	}
	return checkNotNewer(version, len(steps), path)
}

func checkNotNewer(version, known int, path string) error {
	if version <= known {
		return nil
	}
	return annotator.Errorf(annotator.Misused, "%s has schema %d, this program knows up to %d", path, version, known).
		WithAdvice("use the newer annotator that wrote it")
}

// migrate brings the schema up to date, each step in a transaction of its own, in which the version is read again:
// somebody else may have been faster, and a step that was cut off is as if it had never begun.
func migrate(ctx context.Context, pool *sql.DB, path string) error {
	steps, err := migrations.All()
	if err != nil {
		return err
	}
	for {
		done, err := migrateStep(ctx, pool, path, steps)
		if err != nil || done {
			return err
		}
	}
}

func migrateStep(ctx context.Context, pool *sql.DB, path string, steps []string) (done bool, err error) {
	t, err := pool.BeginTx(ctx, nil)
	if err != nil {
		return false, sqlite.Wrap(err, "migrate %s", path)
	}
	defer func() { _ = t.Rollback() }()
	version, err := schemaVersion(ctx, t, path)
	if err != nil {
		return false, err
	}
	if version >= len(steps) {
		return true, checkNotNewer(version, len(steps), path)
	}
	if _, err := t.ExecContext(ctx, steps[version]); err != nil {
		return false, sqlite.Wrap(err, "migrate %s to schema %d", path, version+1)
	}
	mark := fmt.Sprintf(`PRAGMA user_version = %d; PRAGMA application_id = %d`, version+1, applicationID)
	if _, err := t.ExecContext(ctx, mark); err != nil {
		return false, sqlite.Wrap(err, "migrate %s to schema %d", path, version+1)
	}
	return false, sqlite.Wrap(t.Commit(), "migrate %s to schema %d", path, version+1)
}
