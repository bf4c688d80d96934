package storage

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/gofrs/flock"

	"annotator"
	"annotator/internal/sqlite"
	"annotator/migrations"
)

// applicationID marks annotator.db in the header of the file: "Anno".
const applicationID = 0x416e6e6f

// readers is how many queries may run beside the writer.
const readers = 4

// lockPatience is how long a run waits for the lock.
const lockWait = 300 * time.Millisecond

// head is where the journal and the revisions end.
type head struct {
	trace    int64
	hash     []byte
	revision int64
}

// Open opens the database at path for reading. Nothing in it changes.
func Open(ctx context.Context, path string) (*DB, error) {
	pool, err := sqlite.Open(ctx, path, sqlite.Visit, readers)
	if err != nil {
		return nil, err
	}
	db := newDB(path, time.Now)
	db.readFrom(pool)
	version, err := schemaVersion(ctx, pool, path)
	if err == nil {
		err = checkReadable(version, path)
	}
	if err != nil {
		_ = db.Close()
		return nil, err
	}
	return db, nil
}

// OpenWriter opens the database at path to write, makes it if it is not there, and brings its schema up to date. The
// error is of kind Held where another process has it open so. The holder is a name for this process, shown to others.
func OpenWriter(ctx context.Context, path, holder string, now func() time.Time) (*DB, error) {
	if err := checkPath(ctx, path); err != nil {
		return nil, err
	}
	db := newDB(path, now)
	db.holder = holder
	if err := db.lockFile(ctx); err != nil {
		return nil, err
	}
	if err := db.openWriter(ctx); err != nil {
		_ = db.Close()
		return nil, err
	}
	return db, nil
}

func (db *DB) openWriter(ctx context.Context) error {
	if err := createPrivate(db.path); err != nil {
		return err
	}
	if err := checkFile(ctx, db.path); err != nil {
		return err
	}
	var err error
	if db.write, err = sqlite.Open(ctx, db.path, sqlite.Create, 1); err != nil {
		return err
	}
	if err := migrate(ctx, db.write, db.path); err != nil {
		return err
	}
	pool, err := sqlite.Open(ctx, db.path, sqlite.ReadOnly, readers)
	if err != nil {
		return err
	}
	db.readFrom(pool)
	if err := db.readHead(ctx); err != nil {
		return err
	}
	if err := db.takeOver(ctx); err != nil {
		return err
	}
	if db.files, err = identify(db.path); err != nil {
		return annotator.Errorf(annotator.Storage, "open %s: %w", db.path, err)
	}
	return nil
}

// refuseForeign refuses what is evidently no database of annotator's, such as a folder or the story itself, and a place on another
// machine, before a lock is left there. Whatever else is wrong with the file shows when it is opened to write.
func checkPath(ctx context.Context, path string) error {
	if err := sqlite.RefuseNetwork(path); err != nil {
		return err
	}
	pool, err := sqlite.Open(ctx, path, sqlite.Visit, 1)
	if err == nil {
		_, err = schemaVersion(ctx, pool, path)
		_ = pool.Close()
	}
	if annotator.KindOf(err) == annotator.Misused {
		return err
	}
	return nil
}

// restrict makes a new file that only its owner may read: it will hold the whole story.
func createPrivate(path string) error {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR|os.O_EXCL, 0o600)
	if errors.Is(err, os.ErrExist) {
		return nil
	}
	if err != nil {
		return annotator.Errorf(annotator.Misused, "make %s: %w", path, err).WithAdvice("choose another place with --db")
	}
	return file.Close()
}

// recognize refuses a file of somebody else's, and one that somebody has tampered with, before opening it to write would
// change a byte of it.
func checkFile(ctx context.Context, path string) error {
	pool, err := sqlite.Open(ctx, path, sqlite.Visit, 1)
	if sqlite.IsHalfDone(err) {
		if err := sqlite.Recover(ctx, path); err != nil {
			return err
		}
		pool, err = sqlite.Open(ctx, path, sqlite.Visit, 1)
	}
	if err != nil {
		return err
	}
	defer func() { _ = pool.Close() }()
	version, err := schemaVersion(ctx, pool, path)
	if err != nil {
		return err
	}
	steps, err := migrations.All()
	if err != nil {
		return err
	}
	if err := checkNotNewer(version, len(steps), path); err != nil {
		return err
	}
	return checkSchema(ctx, pool, path)
}

// lockOf names the lock beside a database: beside the file itself, so that a symbolic link is no way around it.
func lockOf(path string) string {
	if target, err := filepath.EvalSymlinks(path); err == nil {
		path = target
	}
	return path + ".lock"
}

// lockFile takes the lock. The system lets go of it when the process ends, however that happens.
func (db *DB) lockFile(ctx context.Context) error {
	db.lock = flock.New(lockOf(db.path), flock.SetPermissions(0o600))
	// Whoever asks whether a run is on holds the lock for an instant.
	patience, cancel := context.WithTimeout(ctx, lockWait)
	defer cancel()
	held, err := db.lock.TryLockContext(patience, lockWait/10)
	if errors.Is(err, context.DeadlineExceeded) {
		err = nil
	}
	if err != nil {
		return annotator.Errorf(annotator.Misused, "lock %s: %w", db.path, err).WithAdvice("check that its folder can be written")
	}
	if !held {
		return annotator.Errorf(annotator.InUse, "%s is in use by %s", db.path, holderName(ctx, db.path)).
			WithAdvice("wait for it to end, or choose another database with --db")
	}
	return nil
}

func holderName(ctx context.Context, path string) string {
	other := "another annotator"
	db, err := Open(ctx, path)
	if err != nil {
		return other
	}
	defer func() { _ = db.Close() }()
	run, err := db.Run.Status(ctx)
	if err != nil || run.Holder == "" {
		return other
	}
	return run.Holder
}

// takeOver names the holder, and writes off the calls that a killed process left open.
func (db *DB) takeOver(ctx context.Context) error {
	return db.update(ctx, "take over the database", func(tx *tx) error {
		if _, err := tx.exec(`UPDATE run_state SET holder = ?`, db.holder); err != nil {
			return err
		}
		_, err := tx.exec(`UPDATE call SET outcome = 'lost', reason = ? WHERE outcome = 'open'`, reasonLost)
		return err
	})
}

// Close ends the use of the database and gives up the lock.
func (db *DB) Close() error {
	var errs []error
	for _, pool := range []*sql.DB{db.read, db.write} {
		if pool != nil {
			errs = append(errs, pool.Close())
		}
	}
	if db.lock != nil {
		errs = append(errs, db.lock.Close())
	}
	return errors.Join(errs...)
}

// Path returns where the file is.
func (db *DB) Path() string { return db.path }

func (db *DB) readHead(ctx context.Context) error {
	row := db.read.QueryRowContext(ctx, `SELECT id, hash FROM trace ORDER BY id DESC LIMIT 1`)
	if err := row.Scan(&db.head.trace, &db.head.hash); err != nil && !errors.Is(err, sql.ErrNoRows) {
		return sqlite.Wrap(err, "read the end of the journal in %s", db.path)
	}
	row = db.read.QueryRowContext(ctx, `SELECT coalesce(max(id), 0) FROM revision`)
	return sqlite.Wrap(row.Scan(&db.head.revision), "read the newest revision in %s", db.path)
}

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
