package sqlite

import (
	"context"
	"database/sql"
	"database/sql/driver"

	modernc "modernc.org/sqlite"
	lib "modernc.org/sqlite/lib"
)

// maxValue is the maximum size of a text, a blob or a row that is read, in bytes. A view can compute values of any
// length.
const maxValue = 32 << 20

// limitValues lowers the length limit of a connection of the driver. The driver sets limits only through a sql.Conn, so
// the connection is lent to a separate pool. The pool is closed; a connection in use is not closed with it.
func limitValues(ctx context.Context, c driver.Conn) error {
	pool := sql.OpenDB(lent{c})
	borrowed, err := pool.Conn(ctx)
	if err != nil {
		return err
	}
	if _, err = modernc.Limit(borrowed, lib.SQLITE_LIMIT_LENGTH, maxValue); err != nil {
		return err
	}
	return pool.Close()
}

// lent is a connector of one open connection.
type lent struct{ conn driver.Conn }

// Connect returns the connection.
func (l lent) Connect(context.Context) (driver.Conn, error) { return l.conn, nil }

// Driver returns the driver of the package.
func (l lent) Driver() driver.Driver { return &modernc.Driver{} }
