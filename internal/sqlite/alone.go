package sqlite

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"time"
)

// aloneFor is how long a connection may assume that a file does not change.
const aloneFor = time.Second

// openAlone opens a file without a log, for reading. Readers of a WAL file share an index of its log, in a separate
// file. On read-only media and on a full disk that file cannot be created. Since there is no log, the database can be
// read without it. SQLite then assumes that the file does not change. It may change when the disk has space again, so
// the pool reopens its connections.
func openAlone(ctx context.Context, path string, mode Mode, conns int, connector cachingConnector) (*sql.DB, error) {
	immutable := parameters(mode)
	immutable.Set("immutable", "1")
	alone, err := connectorOf(path, immutable)
	if err != nil {
		return nil, err
	}
	shared, err := connectorOf(path, parameters(mode))
	if err != nil {
		return nil, err
	}
	connector.Connector = aloneConnector{alone, shared, path}
	db, err := openPool(ctx, path, conns, connector)
	if err == nil {
		db.SetConnMaxLifetime(aloneFor)
	}
	return db, err
}

// aloneConnector opens a file without log and index, or with those that another process has created since.
type aloneConnector struct {
	driver.Connector
	shared driver.Connector
	path   string
}

// Connect opens a connection.
func (k aloneConnector) Connect(ctx context.Context) (driver.Conn, error) {
	if hasNoLog(k.path) {
		return k.Connector.Connect(ctx)
	}
	return k.shared.Connect(ctx)
}
