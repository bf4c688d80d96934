package sqlite

import (
	"context"
	"database/sql"
	"database/sql/driver"

	modernc "modernc.org/sqlite"
	lib "modernc.org/sqlite/lib"
)

// Observer is called with each row that a connection inserts or deletes. For an update, it is called with the old and
// the new row. The values are in the order of the table's columns: nil, int64, float64, string or []byte. A text ends
// at its first NUL.
type Observer func(table string, row []any)

// OpenObserved is Open for one connection that may write. The observer receives its changes, except those of temporary
// tables. It runs during a statement, and must not use the connection. Temporary data are in memory: a migration must
// not need a folder for them.
func OpenObserved(ctx context.Context, path string, mode Mode, observer Observer) (*sql.DB, error) {
	if err := CheckPath(path, mode); err != nil {
		return nil, err
	}
	query := parameters(mode)
	query.Add("_pragma", "temp_store(MEMORY)")
	return open(ctx, path, query, 1, observer)
}

// observe registers the observer with a connection of the driver; nil removes it.
func observe(c driver.Conn, observer Observer) {
	registerer, ok := c.(modernc.HookRegisterer)
	switch {
	case !ok:
	case observer == nil:
		registerer.RegisterPreUpdateHook(nil)
	default:
		registerer.RegisterPreUpdateHook(func(change modernc.SQLitePreUpdateData) {
			if change.DatabaseName == "main" {
				observeChange(&change, observer)
			}
		})
	}
}

func observeChange(change *modernc.SQLitePreUpdateData, observer Observer) {
	row := make([]any, change.Count())
	if change.Op != lib.SQLITE_INSERT && change.Old(row...) == nil {
		observer(change.TableName, row)
	}
	clear(row)
	if change.Op != lib.SQLITE_DELETE && change.New(row...) == nil {
		observer(change.TableName, row)
	}
}
