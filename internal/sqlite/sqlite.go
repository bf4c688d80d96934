// Package sqlite opens SQLite files. Only this package depends on the driver, the data source name and the error codes.
package sqlite

import (
	"context"
	"database/sql"
	sqldriver "database/sql/driver"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"annotator"

	driver "modernc.org/sqlite"
	lib "modernc.org/sqlite/lib"
)

// Mode is what a connection may do with a file.
type Mode string

// The modes. Only Create creates a missing file: a mistyped path must not leave an empty database.
const (
	ReadOnly      Mode = "ro"
	ReadOnlyClean Mode = "ro clean" // as ReadOnly, but no -wal or -shm file remains if no other process uses the file
	ReadOnlyAny   Mode = "ro any"   // as ReadOnly, for a file of any program: values are at most 32 MiB
	ReadWrite     Mode = "rw"
	Create        Mode = "rwc"
)

// busyTimeout is how long a connection waits for a lock, in milliseconds.
const busyTimeout = "busy_timeout(10000)"

// Open opens the file at path as a pool of at most conns connections. It reads the file before it returns, so that a
// file that is not a database gives an error here. Writable files are in WAL mode with synchronous=FULL. Their
// transactions are immediate, since one that reads first and writes later could not wait for a lock. The automatic
// checkpoint has a high limit, so that the owner can run one between transactions.
func Open(ctx context.Context, path string, mode Mode, conns int) (*sql.DB, error) {
	if err := CheckPath(path, mode); err != nil {
		return nil, err
	}
	query := parameters(mode)
	if mode == ReadOnlyClean && hasNoLog(path) && refuseNetwork(path) == nil {
		// The last connection that closes a WAL file removes the empty log and its index, but only if it may write. The
		// log of a killed process is not empty, so it remains.
		query.Set("mode", string(ReadWrite))
	}
	connector := cachingConnector{limited: mode == ReadOnlyAny}
	db, err := openFile(ctx, path, query, conns, connector)
	if isReader(mode) && IsUnwritable(err) && hasNoLog(path) {
		return openAlone(ctx, path, mode, conns, connector)
	}
	if isReader(mode) && IsUnwritable(err) && hasLogOnly(path) {
		return openCopy(ctx, path, conns, connector)
	}
	return db, err
}

func open(ctx context.Context, path string, query url.Values, conns int, observer Observer) (*sql.DB, error) {
	return openFile(ctx, path, query, conns, cachingConnector{observer: observer})
}

// openFile opens a pool by a connector without the driver.
func openFile(ctx context.Context, path string, query url.Values, conns int,
	connector cachingConnector,
) (*sql.DB, error) {
	var err error
	if connector.Connector, err = connectorOf(path, query); err != nil {
		return nil, err
	}
	return openPool(ctx, path, conns, connector)
}

// connectorOf returns the driver's connector.
func connectorOf(path string, query url.Values) (sqldriver.Connector, error) {
	name, err := address(path, query)
	if err != nil {
		return nil, err
	}
	connector, err := driver.NewConnector(name)
	return connector, Wrap(err, "open %s", path)
}

// openPool opens a pool, and reads the file.
func openPool(ctx context.Context, path string, conns int, connector cachingConnector) (*sql.DB, error) {
	db := sql.OpenDB(connector)
	db.SetMaxOpenConns(conns)
	db.SetMaxIdleConns(conns)
	var tables int
	if err := db.QueryRowContext(ctx, `SELECT count(*) FROM sqlite_schema`).Scan(&tables); err != nil {
		_ = db.Close()
		return nil, Wrap(err, "open %s", path)
	}
	return db, nil
}

// hasNoLog reports whether the file itself has all commits: no process uses it, and none was killed while it did.
func hasNoLog(path string) bool {
	if target, err := filepath.EvalSymlinks(path); err == nil {
		path = target
	}
	for _, log := range []string{"-wal", "-journal"} {
		if info, err := os.Stat(path + log); !errors.Is(err, os.ErrNotExist) && (err != nil || info.Size() > 0) {
			return false
		}
	}
	return true
}

// headerSize is the size of the header of a database file. See https://www.sqlite.org/fileformat.html.
const headerSize = 100

// FileVersion reads PRAGMA user_version of the file itself, without its log. The second result is false for a file
// without a whole header. After a power failure it may be half written, until the log is recovered. SQLite reads the
// file, because it does not close it while this process has locks on it: that would release them.
func FileVersion(ctx context.Context, path string) (version int, known bool, err error) {
	if info, err := os.Stat(path); err != nil || info.Size() < headerSize {
		return 0, false, Wrap(err, "read the head of %s", path)
	}
	connector, err := connectorOf(path, url.Values{"mode": {string(ReadOnly)}, "immutable": {"1"}})
	if err != nil {
		return 0, false, err
	}
	db := sql.OpenDB(connector)
	defer func() { _ = db.Close() }()
	switch err = db.QueryRowContext(ctx, `PRAGMA user_version`).Scan(&version); Code(err) & 0xff {
	case lib.SQLITE_OK:
		return version, err == nil, Wrap(err, "read the head of %s", path)
	case lib.SQLITE_NOTADB, lib.SQLITE_CORRUPT:
		return 0, false, nil
	}
	return 0, false, Wrap(err, "read the head of %s", path)
}

// CheckPath refuses a path that cannot be a database, a network file system for writing, and a missing file unless the
// mode is Create.
func CheckPath(path string, mode Mode) error {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, os.ErrNotExist) && mode != Create:
		return annotator.Errorf(annotator.NotFound, "there is no database at %s", path).WithAdvice("name another file")
	case err == nil && info.IsDir():
		return annotator.Errorf(annotator.Misused, "%s is a folder, not a database", path).WithAdvice("name a file")
	case err == nil && !info.Mode().IsRegular():
		return annotator.Errorf(annotator.Misused, "%s is a pipe or a device, not a database", path)
	case err != nil && !errors.Is(err, os.ErrNotExist):
		return annotator.Errorf(annotator.Storage, "open %s: %w", path, errors.Unwrap(err)).
			WithAdvice("check that you may read its folder")
	case !isReader(mode):
		return refuseNetwork(path)
	}
	return nil
}

// isReader reports whether a mode forbids writing.
func isReader(mode Mode) bool {
	return mode == ReadOnly || mode == ReadOnlyClean || mode == ReadOnlyAny
}

// Recover rolls back the transaction of a killed process in a file that is not in WAL mode. Only a connection that may
// write can do that. It changes nothing else.
func Recover(ctx context.Context, path string) error {
	db, err := open(ctx, path, url.Values{"mode": {string(ReadWrite)}, "_defensive": {"1"}, "_pragma": {busyTimeout}},
		1, nil)
	if err != nil {
		return err
	}
	return Wrap(db.Close(), "close %s", path)
}

// NeedsRecovery reports whether err says that a file can be read only after Recover.
func NeedsRecovery(err error) bool {
	return Code(err) == lib.SQLITE_READONLY_ROLLBACK || Code(err) == lib.SQLITE_READONLY_RECOVERY
}

// parameters returns the parameters of a connection, for its address.
func parameters(mode Mode) url.Values {
	query := url.Values{
		"mode": {string(mode)}, "_defensive": {"1"}, "_dqs": {"0"}, "_error_rc": {"1"}, "_txlock": {"immediate"},
	}
	pragmas := []string{busyTimeout, "foreign_keys(1)", "trusted_schema(0)", "mmap_size(0)"}
	if !isReader(mode) {
		pragmas = append(pragmas, "journal_mode(WAL)", "synchronous(FULL)", "wal_autocheckpoint(16000)",
			"journal_size_limit(16777216)",
			"cache_size(-8000)")
	} else {
		// A commit of the writer invalidates the cache of a reader, so a larger cache has no benefit.
		pragmas = append(pragmas, "query_only(1)", "cache_size(-1000)")
		query.Set("mode", string(ReadOnly))
		query.Set("_txlock", "deferred")
	}
	query["_pragma"] = pragmas
	return query
}

// address returns the data source name. It begins with "file:"; without that, SQLite ignores the mode and opens
// read-write.
func address(path string, query url.Values) (string, error) {
	full, err := filepath.Abs(path)
	if err != nil {
		return "", fmt.Errorf("resolve %s: %w", path, err)
	}
	return uri(filepath.ToSlash(full), query), nil
}

// ReadOnlyName returns the name by which ATTACH opens a database for reading only. A transaction that may write to two
// files has a third one, which a killed process leaves.
func ReadOnlyName(path string) (string, error) {
	return address(path, url.Values{"mode": {string(ReadOnly)}})
}

// uri returns the address of an absolute path with slashes: "/book.db", in Windows "C:/book.db" or
// "//server/share/book.db".
func uri(path string, query url.Values) string {
	if !strings.HasPrefix(path, "/") {
		path = "/" + path
	}
	return (&url.URL{Scheme: "file", Path: path, RawQuery: query.Encode()}).String()
}

// Querier runs a query that returns rows: a pool, a connection or a transaction.
type Querier interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
}

// Each calls a function for each row of a query.
func Each(ctx context.Context, q Querier, read func(*sql.Rows) error, query string, args ...any) error {
	rows, err := q.QueryContext(ctx, query, args...)
	if err != nil {
		return err
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		if err := read(rows); err != nil {
			return err
		}
	}
	return rows.Err()
}

// Code returns SQLite's extended result code of an error, or 0.
func Code(err error) int {
	if e := (*driver.Error)(nil); errors.As(err, &e) {
		return e.Code()
	}
	return 0
}

// IsConstraint reports whether err says that a row breaks a constraint.
func IsConstraint(err error) bool { return Code(err)&0xff == lib.SQLITE_CONSTRAINT }

// Wrap converts an error of the driver to one with a kind and advice. It returns nil, and errors that have a kind,
// unchanged.
func Wrap(err error, format string, args ...any) error {
	if err == nil || annotator.KindOf(err) != "" || errors.Is(err, sql.ErrNoRows) {
		return err
	}
	if Code(err)&0xff == lib.SQLITE_CANTOPEN {
		if cause := tryFiles(); cause != nil {
			return annotator.Errorf(annotator.Storage, "%s: %w", fmt.Sprintf(format, args...), cause).
				WithAdvice("this process may open too few files: raise the limit with `ulimit -n`, then run again")
		}
	}
	if Code(err) == lib.SQLITE_PROTOCOL {
		return annotator.Errorf(annotator.Misused, "%s: the locks of its file system do not work: %w",
			fmt.Sprintf(format, args...), err).
			WithReason(annotator.ReasonNoLocks)
	}
	wrapped := annotator.Errorf(annotator.Storage, "%s: %w", fmt.Sprintf(format, args...), err)
	switch code := Code(err); code & 0xff {
	case lib.SQLITE_NOTADB:
		wrapped.Kind = annotator.Misused
		return wrapped.WithAdvice("the file is no SQLite database: name another, or, if it was one, restore a backup")
	case lib.SQLITE_TOOBIG:
		wrapped.Kind = annotator.Misused
		return wrapped.WithAdvice("a text of it is longer than %d MiB: cut it into several", maxValue>>20)
	case lib.SQLITE_CORRUPT:
		return wrapped.WithAdvice("the database is damaged: restore a backup")
	case lib.SQLITE_ERROR:
		// The program's SQL is valid, so the file has changed since it was opened.
		return wrapped.WithAdvice("the file does not hold what it should: put it back as it was, or restore " +
			"a backup, then run again")
	case lib.SQLITE_FULL:
		return wrapped.WithAdvice("free space on the disk, then run again")
	case lib.SQLITE_IOERR:
		if code == lib.SQLITE_IOERR_SHMSIZE {
			wrapped.Err = fmt.Errorf("%s: no room for the index of its log: %w", fmt.Sprintf(format, args...), err)
			return wrapped.WithAdvice("free space on the disk, then run again")
		}
		return wrapped.WithAdvice("check the disk, its quota and its mount, then run again")
	case lib.SQLITE_CANTOPEN:
		return wrapped.WithAdvice("check that the file can be read, and that it and its folder can be written")
	case lib.SQLITE_READONLY, lib.SQLITE_PERM:
		if NeedsRecovery(err) {
			return wrapped.WithAdvice("a run was killed while it made the file: run again, and it is mended")
		}
		return wrapped.WithAdvice("check that the file and its folder can be written")
	case lib.SQLITE_BUSY, lib.SQLITE_LOCKED:
		return wrapped.WithAdvice("another program holds the database: close it, then run again")
	}
	return wrapped
}

// IsUnreadable reports whether err says that a query could not parse a value, for example invalid JSON.
func IsUnreadable(err error) bool { return Code(err)&0xff == lib.SQLITE_ERROR }

// IsCorrupt reports whether err says that the file is inconsistent.
func IsCorrupt(err error) bool { return Code(err)&0xff == lib.SQLITE_CORRUPT }

// tryFiles opens as many files as a connection needs, and returns the error if the process has reached its limit of
// open files. SQLite only reports that it cannot open a file.
func tryFiles() error {
	for range 4 {
		file, err := os.Open(os.DevNull)
		if errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE) {
			return errors.Unwrap(err)
		}
		defer func() { _ = file.Close() }()
	}
	return nil
}

// IsBusy reports whether err says that another connection held a lock for longer than the timeout.
func IsBusy(err error) bool {
	code := Code(err) & 0xff
	return code == lib.SQLITE_BUSY || code == lib.SQLITE_LOCKED
}

// IsUnwritable reports whether err says that the file cannot be written or opened. The cause may be its folder, or
// missing space for the index of its log.
func IsUnwritable(err error) bool {
	code := Code(err)
	if code == lib.SQLITE_IOERR_SHMSIZE {
		return true
	}
	return (code&0xff == lib.SQLITE_READONLY || code&0xff == lib.SQLITE_CANTOPEN) && !NeedsRecovery(err)
}
