package sqlite

import (
	"context"
	"database/sql"
)

var URI = uri

// OpenCopy opens a copy, as Open does on read-only media.
func OpenCopy(ctx context.Context, path string, conns int) (*sql.DB, error) {
	return openCopy(ctx, path, conns, cachingConnector{})
}
