package storage_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"annotator/internal/longtest"
	"annotator/internal/sqlite"
)

// immaterial are the columns whose change need not be noticed, each with the reason. There are none. The tables of the
// full-text indexes are not part of the schema, and have a check of their own.
var immaterial = map[string]string{}

// TestVerifyNoticesEveryColumn changes a value of each column of each table in turn, of one row or of some. It logs
// which columns follow from others, and which only the digests prove.
func TestVerifyNoticesEveryColumn(t *testing.T) {
	t.Parallel()
	d := &damaged{T: t, whole: sound(t), path: filepath.Join(t.TempDir(), "annotator.db")}
	d.restore()
	tried, noticed := 0, 0
	var onlyDigests []string
	for _, table := range d.list(
		`SELECT name FROM pragma_table_list WHERE schema = 'main' AND type = 'table' AND name NOT LIKE 'sqlite%' ORDER BY name`) {
		for _, column := range d.list(`SELECT name FROM pragma_table_info('` + table + `')`) {
			changes, found, digests := d.alter(table, column)
			name := table + "." + column
			switch reason := immaterial[name]; {
			case changes == 0:
				t.Errorf("%s has no value that could be changed", name)
			case reason == "" && found < changes:
				t.Errorf("%s: %d of %d changes are noticed", name, found, changes)
			case reason != "" && found == changes:
				t.Errorf("%s is immaterial, since %s, but every change is noticed", name, reason)
			case digests == changes:
				onlyDigests = append(onlyDigests, name)
			}
			tried, noticed = tried+changes, noticed+found
		}
	}
	if noticed*100 < tried*99 {
		t.Errorf("%d of %d changes are noticed", noticed, tried)
	}
	t.Logf("%d of %d changes are noticed; only the digests prove %s", noticed, tried, strings.Join(onlyDigests, ", "))
}

// damaged is a database that is damaged and restored.
type damaged struct {
	*testing.T
	whole []byte
	path  string
}

func (d *damaged) restore() {
	d.Helper()
	for _, suffix := range []string{"-wal", "-shm"} {
		_ = os.Remove(d.path + suffix)
	}
	if err := os.WriteFile(d.path, d.whole, 0o600); err != nil {
		d.Fatal(err)
	}
}

// list returns the texts that a query yields.
func (d *damaged) list(query string) []string {
	d.Helper()
	return strings.Fields(ask[string](d.T, d.path, `SELECT coalesce(group_concat(name, ' '), '') FROM (`+query+`)`))
}

// alter changes a value of a column in one row after another. It returns how many changes the schema let pass, how many
// of these were noticed, and how many by the digests alone.
func (d *damaged) alter(table, column string) (changes, found, digests int) {
	d.Helper()
	rows := ask[int](d.T, d.path, `SELECT count(*) FROM `+table)
	step := max(rows/longtest.Pick(1, 5), 1) // the last row, or some at equal distances
	for row := rows - 1; row >= 0; row -= step {
		d.restore()
		if !d.change(table, column, row) {
			continue
		}
		changes++
		checks := findingsOf(d.T, d.path, soundSource)
		if len(checks) > 0 {
			found++
		}
		if slices.Equal(checks, []string{"digests"}) {
			digests++
		}
	}
	return changes, found, digests
}

// change changes a value, and reports whether the schema lets it.
func (d *damaged) change(table, column string, row int) bool {
	d.Helper()
	pool, err := sqlite.Open(d.Context(), d.path, sqlite.ReadWrite, 1)
	if err != nil {
		d.Fatal(err)
	}
	defer func() { _ = pool.Close() }()
	if _, err := pool.ExecContext(d.Context(),
		`PRAGMA foreign_keys = 0; PRAGMA ignore_check_constraints = 1`); err != nil {
		d.Fatal(err)
	}
	keys := strings.Join(d.list(`SELECT name FROM pragma_table_info('`+table+`') WHERE pk > 0`), ", ")
	for _, value := range []string{
		`CASE typeof(%[2]s) WHEN 'integer' THEN %[2]s + 1 WHEN 'text' THEN %[2]s || 'x' WHEN 'blob' THEN zeroblob(32) ELSE 1 END`,
		`'x'`, `x'00'`, `%[2]s + 1000`, // where the schema refuses that
	} {
		_, err = pool.ExecContext(d.Context(),
			fmt.Sprintf(`UPDATE %[1]s SET %[2]s = `+value+
				` WHERE (%[3]s) = (SELECT %[3]s FROM %[1]s ORDER BY %[3]s LIMIT 1 OFFSET %[4]d)`,
				table, column, keys, row))
		if err == nil {
			return true
		}
	}
	return false
}
