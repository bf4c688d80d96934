package storage

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/gofrs/flock"

	"annotator"
	"annotator/internal/atomicfile"
	"annotator/internal/sqlite"
)

// readers is the number of queries that may run at the same time as the writer.
const readers = 4

// lockWait is how long OpenWriter waits for the lock: Running takes it for a moment.
const lockWait = 300 * time.Millisecond

// head is the end of the journal and of the revisions.
type head struct {
	trace    int64
	hash     []byte
	revision int64
	seen     annotator.Order // of the furthest scene that a turn has begun with, or that has an outcome
}

// Open opens the database at path for reading. It changes nothing. The error is NotFound where there is no run, and
// Misused for a file that is no database of this program or has another schema.
func Open(ctx context.Context, path string) (*DB, error) { return open(ctx, path, released) }

func open(ctx context.Context, path string, known schema) (*DB, error) {
	file, _ := os.Stat(path) // opening it says why that fails
	pool, err := sqlite.Open(ctx, path, sqlite.ReadOnlyClean, readers)
	if err != nil {
		return nil, err
	}
	db := newDB(path, time.Now, known)
	db.readFrom(pool)
	db.files = fileIdentity{path: file} // a log may come and go
	version, err := schemaVersion(ctx, pool, path)
	if err == nil {
		err = known.checkReadable(version, path)
	}
	if err == nil {
		err = checkLog(ctx, pool, path)
	}
	if err != nil {
		_ = db.Close()
		return nil, err
	}
	return db, nil
}

// OpenWriter opens the database at path for writing, creates it if it is not there, and brings its schema up to date.
// InUse where another process has it open for writing, by this path or another. The holder is a name for this process,
// shown to others. The functions are called before each step of a migration, with the schema that it leads to and the
// last schema.
func OpenWriter(ctx context.Context, path, holder string, now func() time.Time,
	migrating ...func(schema, last int),
) (*DB, error) {
	return openWriterOf(ctx, path, holder, now, released, migrating)
}

func openWriterOf(
	ctx context.Context, path, holder string, now func() time.Time, known schema, migrating []func(schema, last int),
) (*DB, error) {
	if err := sqlite.CheckPath(path, sqlite.Create); err != nil {
		return nil, err
	}
	db := newDB(path, now, known)
	db.holder = holder
	_, err := os.Lstat(lockOf(path))
	lockIsNew := errors.Is(err, os.ErrNotExist)
	if err := db.lockFile(ctx); err != nil {
		return nil, err
	}
	created, err := known.create(ctx, path, migrating)
	if err == nil {
		err = db.openWriter(ctx, migrating)
	}
	switch {
	case err == nil:
		return db, nil
	case created: // an empty database would be taken for another run
		_ = db.Discard()
	case lockIsNew:
		_ = errors.Join(db.closeFiles(), atomicfile.RemoveLock(db.lock))
	default:
		_ = db.Close()
	}
	return nil, err
}

func (db *DB) openWriter(ctx context.Context, migrating []func(schema, last int)) (err error) {
	if db.claim, err = sqlite.TakeClaim(db.path); err != nil {
		return err
	}
	if err := db.schema.checkFile(ctx, db.path); err != nil {
		return err
	}
	if db.write, err = openWriter(ctx, db.path); err != nil {
		return err
	}
	if err := db.schema.migrate(ctx, db.write.DB, db.path, migrating); err != nil {
		return err
	}
	pool, err := sqlite.Open(ctx, db.path, sqlite.ReadOnly, readers)
	if err != nil {
		return err
	}
	db.readFrom(pool)
	if err := db.takeOver(ctx); err != nil {
		return err
	}
	if err := db.readHead(ctx); err != nil {
		return err
	}
	if db.files, err = identify(db.path); err != nil {
		return annotator.Errorf(annotator.Storage, "open %s: %w", db.path, err)
	}
	db.log = db.files.log()
	return nil
}

// create makes a database at path, unless there is a file, and reports whether it did. The database has another name
// until it is whole. Only its owner may read it: it will hold the whole story.
func (s schema) create(ctx context.Context, path string, migrating []func(schema, last int)) (created bool, err error) {
	if _, err := os.Stat(path); !errors.Is(err, os.ErrNotExist) {
		atomicfile.RemoveStale(path) // a process that is killed after its rename leaves files
		return false, nil
	}
	draft, err := atomicfile.Create(path)
	if err == nil {
		defer draft.Discard()
		err = s.createAt(ctx, draft.Path, path, migrating)
	}
	if err == nil {
		err = draft.CommitNew()
	}
	if err != nil && annotator.KindOf(err) == "" {
		err = annotator.Errorf(annotator.Misused, "make %s: %w", path, atomicfile.Cause(err)).
			WithReason(annotator.ReasonCannotCreate)
	}
	return err == nil, err
}

// createAt fills an empty file. Errors name the path that it will have.
func (s schema) createAt(ctx context.Context, file, path string, migrating []func(schema, last int)) error {
	w, err := openWriter(ctx, file)
	if err != nil {
		return err
	}
	err = s.migrate(ctx, w.DB, path, migrating)
	return cmp.Or(err, sqlite.Wrap(w.Close(), "make %s", path))
}

// checkFile refuses a file of another program or of a newer version, without a schema, or with foreign triggers. It
// also refuses a file without its log, or with the log of another file. A file that it refuses does not change.
func (s schema) checkFile(ctx context.Context, path string) error {
	pool, err := sqlite.Open(ctx, path, sqlite.ReadOnlyClean, 1)
	if sqlite.NeedsRecovery(err) {
		if err := sqlite.Recover(ctx, path); err != nil {
			return err
		}
		pool, err = sqlite.Open(ctx, path, sqlite.ReadOnlyClean, 1)
	}
	if err != nil {
		return err
	}
	defer func() { _ = pool.Close() }()
	version, err := schemaVersion(ctx, pool, path)
	switch {
	case err != nil:
		return err
	case version == 0:
		return emptyDatabase(path)
	}
	if err := s.checkNotNewer(version, path); err != nil {
		return err
	}
	missing, err := logMissing(ctx, pool, path)
	switch {
	case err != nil:
		return err
	case missing != "":
		return annotator.Errorf(annotator.Storage, "%s", missing).WithReason(annotator.ReasonLogMissing, path)
	}
	if err := checkLog(ctx, pool, path); err != nil {
		return err
	}
	return s.checkObjects(ctx, pool, path)
}

// lockOf returns the path of a database's lock file. It is in the folder of the file itself, not in that of a symbolic
// link to it.
func lockOf(path string) string {
	if target, err := filepath.EvalSymlinks(path); err == nil {
		path = target
	}
	return path + ".lock"
}

// lockFile takes the lock. The operating system releases it when the process ends, however that happens.
func (db *DB) lockFile(ctx context.Context) error {
	db.lock = flock.New(lockOf(db.path), flock.SetPermissions(0o600))
	waiting, cancel := context.WithTimeout(ctx, lockWait)
	defer cancel()
	held, err := db.lock.TryLockContext(waiting, lockWait/10)
	if errors.Is(err, context.DeadlineExceeded) {
		err = nil
	}
	if err != nil {
		return annotator.Errorf(annotator.Misused, "lock %s: %w", db.path, err).WithReason(annotator.ReasonCannotLock)
	}
	if !held {
		return annotator.Errorf(annotator.InUse, "%s is in use by %s", db.path, holderName(ctx, db.path))
	}
	return nil
}

// holderName returns the name of the process that has the database open for writing, as far as it is known.
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

// takeOver records the holder, so that a former holder can no longer write. It marks the calls that a killed process
// left open as lost. If that process was killed while it marked the file, the mark is undone.
func (db *DB) takeOver(ctx context.Context) error {
	end, err := readMark(ctx, db.write, db.path)
	if err != nil {
		return err
	}
	file, known, err := fileMark(ctx, db.path)
	if err != nil {
		return err
	}
	if !known {
		file = end
	}
	err = transact(context.WithoutCancel(ctx), db.write, db.now, func(tx *tx) {
		if end.follows {
			file.schema, file.follows = end.schema, false
			tx.exec(fmt.Sprintf(`PRAGMA user_version = %d`, file.version()))
		}
		tx.exec(`UPDATE run_state SET holder = ?, state = ?, updated_at = ?`, db.holder, db.State, tx.now)
		tx.exec(`UPDATE call SET outcome = 'lost', reason = ? WHERE outcome = 'open'`, reasonLost)
	})
	if err == nil {
		db.noteMarked()
	}
	return sqlite.Wrap(err, "take over the database in %s", db.path)
}

// Close closes the database and releases the lock.
func (db *DB) Close() error {
	err := db.closeFiles()
	if db.lock != nil {
		err = errors.Join(err, db.lock.Close())
	}
	return err
}

// Discard closes the database and removes its files. It is for a database that this process has made, and that holds
// nothing.
func (db *DB) Discard() error {
	errs := []error{db.closeFiles()}
	for _, file := range []string{db.path, db.path + "-wal", db.path + "-shm"} {
		if err := os.Remove(file); !errors.Is(err, os.ErrNotExist) {
			errs = append(errs, err)
		}
	}
	return errors.Join(append(errs, atomicfile.RemoveLock(db.lock))...)
}

// closeFiles closes the connections, and then releases the lock.
func (db *DB) closeFiles() error {
	var errs []error
	if db.read.DB != nil {
		errs = append(errs, db.read.Close())
	}
	if db.write != nil {
		errs = append(errs, db.write.Close())
	}
	errs = append(errs, db.claim.Release())
	return errors.Join(errs...)
}

// Path returns the path that the database was opened at.
func (db *DB) Path() string { return db.path }

// readHead reads the end of the journal and of the revisions.
func (db *DB) readHead(ctx context.Context) error {
	row := db.read.QueryRowContext(ctx, `SELECT id, hash FROM trace ORDER BY id DESC LIMIT 1`)
	if err := row.Scan(&db.head.trace, &db.head.hash); orNone(err) != nil {
		return sqlite.Wrap(err, "read the end of the journal in %s", db.path)
	}
	row = db.read.QueryRowContext(ctx, `SELECT (SELECT coalesce(max(id), 0) FROM revision),
		coalesce((SELECT ord FROM scene WHERE attempts > 0 OR recorded_at IS NOT NULL ORDER BY ord DESC LIMIT 1), 0)`)
	return sqlite.Wrap(row.Scan(&db.head.revision, &db.head.seen), "read the newest revision in %s", db.path)
}

// Running reports whether a writer has the database at path open now.
func Running(path string) (bool, error) {
	file := lockOf(path)
	if _, err := os.Stat(file); errors.Is(err, os.ErrNotExist) {
		return false, nil
	}
	// A shared lock, so that two callers do not take each other for a writer.
	lock := flock.New(file, flock.SetFlag(os.O_RDONLY))
	free, err := lock.TryRLock()
	if err := errors.Join(err, lock.Close()); err != nil {
		return false, annotator.Errorf(annotator.Storage, "test the lock of %s: %w", path, err)
	}
	return !free, nil
}
