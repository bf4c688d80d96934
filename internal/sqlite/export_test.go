package sqlite

import (
	"context"
	"database/sql"
)

// For the tests: no network is there to be mounted.
var (
	NetworkName = networkName
	FileSystem  = fileSystem
)

// OpenCopy opens a copy, as Open does on read-only media.
func OpenCopy(ctx context.Context, path string, conns int) (*sql.DB, error) {
	return openCopy(ctx, path, conns, cachingConnector{})
}
