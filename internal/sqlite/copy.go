package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"io"
	"os"
	"path/filepath"
)

// hasLogOnly reports whether a file has a write-ahead log without an index: no process uses the file.
func hasLogOnly(path string) bool {
	if target, err := filepath.EvalSymlinks(path); err == nil {
		path = target
	}
	_, index := os.Stat(path + "-shm")
	log, err := os.Stat(path + "-wal")
	return err == nil && log.Size() > 0 && errors.Is(index, os.ErrNotExist)
}

// openCopy opens a copy of a file and its write-ahead log, for reading. On read-only media, the index that a reader of
// the log needs cannot be created. Closing the pool removes the copy.
func openCopy(ctx context.Context, path string, conns int, connector cachingConnector) (*sql.DB, error) {
	folder, err := os.MkdirTemp("", "annotator-")
	if err != nil {
		return nil, Wrap(err, "copy %s to read it", path)
	}
	connector.folder = folder
	copied := filepath.Join(folder, filepath.Base(path))
	for _, suffix := range []string{"", "-wal"} {
		if err := copyFile(path+suffix, copied+suffix); err != nil {
			return nil, errors.Join(Wrap(err, "copy %s to read it", path), connector.Close())
		}
	}
	db, err := openFile(ctx, copied, parameters(ReadOnly), conns, connector)
	if err != nil {
		return nil, errors.Join(err, connector.Close())
	}
	return db, nil
}

func copyFile(from, to string) error {
	source, err := os.Open(from)
	if err != nil {
		return err
	}
	defer func() { _ = source.Close() }()
	target, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(target, source)
	return errors.Join(err, target.Close())
}
