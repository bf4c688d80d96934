// Package migrations holds the schema of annotator.db as an ordered list of SQL files. They only ever go forward: a
// file that has been released is never changed.
package migrations

import (
	"embed"
	"io/fs"
)

//go:embed *.sql
var files embed.FS

// All returns the migrations in order; the one at index i takes the schema from version i to i+1.
func All() []string {
	names, _ := fs.Glob(files, "*.sql") // the pattern is well formed, and an embedded file can be read
	sql := make([]string, len(names))
	for i, name := range names {
		text, _ := files.ReadFile(name)
		sql[i] = string(text)
	}
	return sql
}
