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

// applicationID is the mark of annotator.db in the header of the file: "ANNO".
const applicationID = 0x414e4e4f

// isUnreleased reports whether a mark is one of former versions, of which schemas with the same numbers were others.
func isUnreleased(application int) bool {
	return application == 0x416e6e6f || application == 0x416e4e4f
}

// schema is the list of the migrations: the one at index i leads from version i to i+1.
type schema []string

// released is the schema of this version of the program.
var released = schema(migrations.All())

// schemaVersion reads the version of the schema, 0 for an empty file. A database of another program is Misused.
func schemaVersion(ctx context.Context, q querier, path string) (int, error) {
	var application, version, tables int
	err := q.QueryRowContext(ctx, `SELECT application_id, user_version, (SELECT count(*) FROM sqlite_schema)
		FROM pragma_application_id, pragma_user_version`).Scan(&application, &version, &tables)
	if err != nil {
		return 0, sqlite.Wrap(err, "open %s", path)
	}
	if isUnreleased(application) {
		return 0, annotator.Errorf(annotator.Misused,
			"%s was made by a version before 1.0.0, which this one does not read", path).
			WithReason(annotator.ReasonUnreleased)
	}
	if application != applicationID && tables > 0 {
		return 0, annotator.Errorf(annotator.Misused, "%s is a database, but not one of annotator's", path).
			WithReason(annotator.ReasonForeignDatabase)
	}
	return markOf(version).schema, nil
}

// emptyDatabase refuses a file without a schema. A database that is being made has another name until it has one.
func emptyDatabase(path string) error {
	return annotator.Errorf(annotator.NotFound, "%s is empty: it holds no run, or has lost it", path).
		WithReason(annotator.ReasonEmptyDatabase, path)
}

// checkReadable refuses a schema that this program does not read.
func (s schema) checkReadable(version int, path string) error {
	known := len(s)
	switch {
	case version == 0:
		return emptyDatabase(path)
	case version < known && !canMigrate(path):
		return annotator.Errorf(annotator.Misused,
			"%s has schema %d, this program reads %d, and the file cannot be written", path, version, known).
			WithReason(annotator.ReasonFormerReadOnly)
	case version < known:
		return annotator.Errorf(annotator.Misused, "%s has schema %d, this program reads %d", path, version, known).
			WithReason(annotator.ReasonFormerSchema, path)
	}
	return s.checkNotNewer(version, path)
}

// canMigrate reports whether a file and its log can be written.
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
func (s schema) checkNotNewer(version int, path string) error {
	known := len(s)
	if version <= known {
		return nil
	}
	return annotator.Errorf(annotator.Misused, "%s has schema %d, this program knows up to %d", path, version, known).
		WithAdvice("use the newer annotator that wrote it")
}

// migration brings the schema of a database up to date.
type migration struct {
	pool    *sql.DB
	path    string
	steps   schema
	tell    []func(schema, last int)
	damaged []string // the tables that are not what their digests say
	checked bool     // damaged is known
}

// migrate makes the steps that a database lacks, each in a transaction. After an interruption, the next call continues
// with the same step. A new database is made in one transaction. The functions are called before each step.
func (s schema) migrate(ctx context.Context, pool *sql.DB, path string, tell []func(schema, last int)) error {
	m := &migration{pool: pool, path: path, steps: s, tell: tell}
	for {
		done, err := m.step(ctx)
		if err != nil || done {
			return err
		}
	}
}

func (m *migration) step(ctx context.Context) (done bool, err error) {
	t, err := m.pool.BeginTx(ctx, nil)
	if err != nil {
		return false, sqlite.Wrap(err, "migrate %s", m.path)
	}
	defer func() { _ = t.Rollback() }()
	version, err := schemaVersion(ctx, t, m.path)
	if err != nil {
		return false, err
	}
	if version >= len(m.steps) {
		return true, m.steps.checkNotNewer(version, m.path)
	}
	last := version + 1
	if version == 0 {
		last = len(m.steps)
	}
	for ; version < last; version++ {
		for _, tell := range m.tell {
			tell(version+1, len(m.steps))
		}
		if err := m.apply(ctx, t, version); err != nil {
			return false, sqlite.Wrap(err, "migrate %s to schema %d", m.path, version+1)
		}
	}
	return false, sqlite.Wrap(t.Commit(), "migrate %s to schema %d", m.path, version)
}

// apply makes the step that leads from a version to the next.
func (m *migration) apply(ctx context.Context, t *sql.Tx, version int) error {
	if err := m.check(ctx, t, version); err != nil {
		return err
	}
	marked, err := readMark(ctx, t, m.path)
	if err != nil {
		return err
	}
	marked.schema = version + 1
	head := fmt.Sprintf(`PRAGMA user_version = %d; PRAGMA application_id = %d`, marked.version(), applicationID)
	for _, statement := range []string{m.steps[version], head} {
		if _, err := t.ExecContext(ctx, statement); err != nil {
			return err
		}
	}
	return m.digest(ctx, t)
}

// check finds the tables that are not what their digests say, before the first step.
func (m *migration) check(ctx context.Context, q querier, version int) (err error) {
	if version == 0 || m.checked {
		return nil
	}
	m.checked = true
	m.damaged, _, err = differing(ctx, q)
	return err
}

// digest stores the digests of the tables after a step. Damaged tables keep theirs, so that Verify still notices the
// damage.
func (m *migration) digest(ctx context.Context, t *sql.Tx) error {
	changed, computed, err := differing(ctx, t)
	if err != nil {
		return err
	}
	maps.DeleteFunc(computed, func(table string, _ digest) bool {
		return !slices.Contains(changed, table) || slices.Contains(m.damaged, table)
	})
	m.damaged = slices.DeleteFunc(m.damaged, func(table string) bool { return !slices.Contains(changed, table) })
	m.checked = true
	return writeDigests(ctx, t, computed)
}
