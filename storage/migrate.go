package storage

import (
	"context"
	"database/sql"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"annotator"
	"annotator/internal/sqlite"
	"annotator/migrations"
)

// applicationID marks annotator.db in the header of the file: "Anno".
const applicationID = 0x416e6e6f

// schemaVersion reads the version of the schema, 0 for an empty file. A database of another program is Misused.
func schemaVersion(ctx context.Context, q querier, path string) (int, error) {
	var application, version, tables int
	err := q.QueryRowContext(ctx, `SELECT application_id, user_version, (SELECT count(*) FROM sqlite_schema)
		FROM pragma_application_id, pragma_user_version`).Scan(&application, &version, &tables)
	if err != nil {
		return 0, sqlite.Wrap(err, "open %s", path)
	}
	if application != applicationID && tables > 0 {
		return 0, annotator.Errorf(annotator.Misused, "%s is a database, but not one of annotator's", path).
			WithAdvice("name another file with --db")
	}
	return version, nil
}

// checkReadable refuses a schema that this program does not read.
func checkReadable(version int, path string) error {
	known := len(migrations.All())
	switch {
	case version == 0:
		return annotator.Errorf(annotator.NotFound, "%s holds no run yet", path).WithAdvice("fill it with `annotator run SOURCE --db %s`", path)
	case version < known && !canMigrate(path):
		return annotator.Errorf(annotator.Misused, "%s has schema %d, this program reads %d, and the file cannot be written", path, version, known).
			WithAdvice("copy it to a folder that can be written, and bring the copy up to date with `annotator verify --repair --db COPY`")
	case version < known:
		return annotator.Errorf(annotator.Misused, "%s has schema %d, this program reads %d", path, version, known).
			WithAdvice("`annotator run SOURCE --db %[1]s` brings it up to date, and so does `annotator verify --repair --db %[1]s`", path)
	}
	return checkNotNewer(version, path)
}

// canMigrate reports whether a file can be written, and its log beside it.
func canMigrate(path string) bool {
	file, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return false
	}
	_ = file.Close()
	log, err := os.CreateTemp(filepath.Dir(path), ".annotator-*")
	if err != nil {
		return false
	}
	_, _ = log.Close(), os.Remove(log.Name())
	return true
}

// checkNotNewer refuses a schema of a later version of the program.
func checkNotNewer(version int, path string) error {
	known := len(migrations.All())
	if version <= known {
		return nil
	}
	return annotator.Errorf(annotator.Misused, "%s has schema %d, this program knows up to %d", path, version, known).
		WithAdvice("use the newer annotator that wrote it")
}

// migrate brings the schema up to date, in a transaction for each step: another process may have begun meanwhile.
func migrate(ctx context.Context, pool *sql.DB, path string) error {
	for {
		done, err := migrateStep(ctx, pool, path, migrations.All())
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
		return true, checkNotNewer(version, path)
	}
	damaged, err := damagedTables(ctx, t, version)
	if err != nil {
		return false, sqlite.Wrap(err, "read %s", path)
	}
	mark := fmt.Sprintf(`PRAGMA user_version = %d; PRAGMA application_id = %d`, version+1, applicationID)
	for _, statement := range []string{steps[version], mark} {
		if _, err := t.ExecContext(ctx, statement); err != nil {
			return false, sqlite.Wrap(err, "migrate %s to schema %d", path, version+1)
		}
	}
	if version+1 == firstValidity {
		if err := fillValidity(ctx, t); err != nil {
			return false, sqlite.Wrap(err, "migrate %s to schema %d", path, version+1)
		}
	}
	if err := digestTables(ctx, t, version+1, damaged); err != nil {
		return false, sqlite.Wrap(err, "migrate %s to schema %d", path, version+1)
	}
	return false, sqlite.Wrap(t.Commit(), "migrate %s to schema %d", path, version+1)
}

// firstDigests is the first schema with the table of digests.
const firstDigests = 9

// firstValidity is the first schema with the validity of values.
const firstValidity = 16

// fillValidity computes from when to when each value was in force.
func fillValidity(ctx context.Context, t *sql.Tx) error {
	tx := &tx{Tx: t, ctx: ctx}
	tx.eachRevision(func(former, now listed, r *annotator.Revision) {
		tx.setValidity(r)
		tx.setVersion(former, now, r)
	})
	return tx.err
}

// damagedTables returns the tables that are not what their digests say.
func damagedTables(ctx context.Context, q querier, version int) ([]string, error) {
	if version < firstDigests {
		return nil, nil
	}
	tables, _, err := differing(ctx, q)
	return tables, err
}

// digestTables stores the digests of the tables after a migration. Damaged tables keep theirs, so that Verify still
// notices the damage.
func digestTables(ctx context.Context, t *sql.Tx, version int, damaged []string) error {
	if version < firstDigests {
		return nil
	}
	changed, computed, err := differing(ctx, t)
	if err != nil {
		return err
	}
	maps.DeleteFunc(computed, func(table string, _ digest) bool {
		return !slices.Contains(changed, table) || slices.Contains(damaged, table)
	})
	return writeDigests(ctx, t, computed)
}
