package sqlite_test

import (
	"fmt"
	"path/filepath"
	"testing"

	"annotator/internal/sqlite"
)

// TestStatementsAreCached runs one text in several situations. It runs within its own rows, after a change of the
// schema, after a failure, and among more texts than the cache holds.
func TestStatementsAreCached(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	pool, err := sqlite.Open(ctx, filepath.Join(t.TempDir(), "kept.db"), sqlite.Create, 1)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = pool.Close() })
	tx, err := pool.BeginTx(ctx, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = tx.Rollback() }()
	exec := func(query string, args ...any) error {
		t.Helper()
		_, err := tx.ExecContext(ctx, query, args...)
		return err
	}
	const insert, all = `INSERT INTO word (n, text) VALUES (?, ?)`, `SELECT * FROM word ORDER BY n`
	if err := exec(`CREATE TABLE word (n INTEGER PRIMARY KEY, text TEXT NOT NULL)`); err != nil {
		t.Fatal(err)
	}
	for n := range 200 {
		if err := exec(insert, n, fmt.Sprint(n)); err != nil {
			t.Fatal(err)
		}
	}
	if err := exec(insert, 7, "again"); !sqlite.IsConstraint(err) {
		t.Fatalf("a second row 7: %v", err)
	}
	if err := exec(insert, 200, "200"); err != nil {
		t.Fatalf("after a failure: %v", err)
	}
	// walk reads the words. For the first ones, it reads them again inside the loop.
	var walk func(inside int) (words, columns int)
	walk = func(inside int) (words, columns int) {
		rows, err := tx.QueryContext(ctx, all)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = rows.Close() }()
		names, err := rows.Columns()
		if err != nil {
			t.Fatal(err)
		}
		for rows.Next() {
			if words++; words <= inside {
				if found, _ := walk(0); found != 201 {
					t.Errorf("%d words inside another reading", found)
				}
			}
		}
		if err := rows.Err(); err != nil {
			t.Fatal(err)
		}
		return words, len(names)
	}
	if words, columns := walk(3); words != 201 || columns != 2 {
		t.Errorf("%d words of %d columns", words, columns)
	}
	if err := exec(`ALTER TABLE word ADD COLUMN note TEXT`); err != nil {
		t.Fatal(err)
	}
	if words, columns := walk(0); words != 201 || columns != 3 {
		t.Errorf("%d words of %d columns, after a column was added", words, columns)
	}
	for n := range 300 {
		var found int
		if err := tx.QueryRowContext(ctx, fmt.Sprintf(`SELECT n FROM word WHERE n = %d`, n%200)).
			Scan(&found); err != nil || found != n%200 {
			t.Fatalf("%d: %d, %v", n, found, err)
		}
	}
}

// TestLimitsAreBound runs cached statements with other limits than those for which they were prepared.
func TestLimitsAreBound(t *testing.T) {
	t.Parallel()
	pool, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "limits.db"), sqlite.Create, 1)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = pool.Close() })
	const words = `WITH word (n) AS (VALUES (1), (2), (3), (4), (5)) SELECT count(*), coalesce(max(n), 0) ` +
		`FROM (SELECT ` +
		`n FROM word WHERE n > ?1 ORDER BY n `
	for _, test := range []struct{ skip, limit, count, last int }{
		{0, 2, 2, 2},
		{1, 3, 3, 4},
		{0, 0, 0, 0},
		{2, -1, 3, 5},
		{0, 2, 2, 2},
	} {
		for _, limit := range []string{`LIMIT ?2)`, `LIMIT ?)`} {
			var count, last int
			err := pool.QueryRowContext(t.Context(), words+limit, test.skip, test.limit).Scan(&count, &last)
			if err != nil || count != test.count || last != test.last {
				t.Errorf("%+v with %s: %d up to %d, %v", test, limit, count, last, err)
			}
		}
	}
}
