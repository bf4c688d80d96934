// Package migrations holds the schema of annotator.db as an ordered list of SQL files. They only ever go forward: a file that
// has been released is never changed.
package migrations

import (
	"embed"
	"fmt"
	"io/fs"
)

//go:embed *.sql
var files embed.FS

// All returns the migrations in order; the one at index i takes the schema from version i to i+1.
func All() ([]string, error) {
	names, err := fs.Glob(files, "*.sql")
	if err != nil {
		return nil, fmt.Errorf("list migrations: %w", err)
	}
	sql := make([]string, len(names))
	for i, name := range names {
		var version int
		if _, err := fmt.Sscanf(name, "%04d_", &version); err != nil || version != i+1 {
			return nil, fmt.Errorf("migration %s: its number should be %04d", name, i+1)
		}
		text, err := files.ReadFile(name)
		if err != nil {
			return nil, fmt.Errorf("read migration %s: %w", name, err)
		}
		sql[i] = string(text)
	}
	return sql, nil
}
