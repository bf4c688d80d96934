package sqlite

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"time"
)

// aloneFor is how long a connection takes a file for unchanged.
const aloneFor = time.Second

// openAlone opens a file that has no log, for reading. The readers of a WAL file share an index of its log, in a file beside
// it. On read-only media and on a full disk that file cannot be made. There is no log either, so the database can be read by
// itself. SQLite then takes it for unchanged, but it changes once the disk has room: the pool opens its connections anew.
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

// aloneConnector opens a file by itself, or with the log and the index that another process has made since.
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
