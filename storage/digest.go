package storage

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/binary"
	"fmt"
	"maps"
	"slices"
	"strings"

	"annotator/internal/sqlite"
)

// digest is the exclusive or of the hashes of rows. To add a row and to remove it is the same operation.
type digest [sha256.Size]byte

// digests are those of tables, by name.
type digests map[string]digest

// toggle adds a row of a table, or removes it. The digest of table digest would change itself, and the tables of the
// full-text indexes are derived from the entries and the corpus.
func (d digests) toggle(table string, row []any) {
	if table == "digest" || strings.HasPrefix(table, "glossary_fts") || strings.HasPrefix(table, "scene_word") {
		return
	}
	d[table] = d[table].xor(hashRow(row))
}

func (d digest) xor(other digest) digest {
	for i := range d {
		d[i] ^= other[i]
	}
	return d
}

// hashRow hashes the values of a row. An empty blob counts as NULL, and a text ends at its first NUL, because
// sqlite.Observer receives them so.
func hashRow(row []any) digest {
	text := make([]byte, 0, 512)
	number := func(kind byte, n int64) {
		text = binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint64(text, uint64(kind)), uint64(n))
	}
	for _, value := range row {
		switch v := value.(type) {
		case int64:
			number('i', v)
		case string:
			v, _, _ = strings.Cut(v, "\x00")
			number('s', int64(len(v)))
			text = append(text, v...)
		case []byte:
			number('b', int64(len(v)))
			text = append(text, v...)
		default:
			number('b', 0)
		}
	}
	return sha256.Sum256(text)
}

// writer is a connection that writes, with the digests of the rows that the current transaction has changed.
type writer struct {
	*sql.DB
	changed digests
}

func openWriter(ctx context.Context, path string) (*writer, error) {
	changed := digests{}
	pool, err := sqlite.OpenObserved(ctx, path, sqlite.ReadWrite, changed.toggle)
	if err != nil {
		return nil, err
	}
	return &writer{DB: pool, changed: changed}, nil
}

// storeDigests adds the changes of a transaction to the stored digests.
func (tx *tx) storeDigests(changed digests) {
	if tx.err != nil || len(changed) == 0 {
		return
	}
	stored, err := storedDigests(tx.ctx, tx)
	tx.fail(err)
	for table, change := range changed {
		stored[table] = stored[table].xor(change)
	}
	maps.DeleteFunc(stored, func(table string, _ digest) bool { _, ok := changed[table]; return !ok })
	if err == nil {
		tx.fail(writeDigests(tx.ctx, tx, stored))
	}
}

func writeDigests(ctx context.Context, t execer, d digests) error {
	for _, table := range slices.Sorted(maps.Keys(d)) {
		hash := d[table]
		_, err := t.ExecContext(ctx, `INSERT INTO digest (name, hash) VALUES (?1, ?2) ON CONFLICT (name) DO UPDATE
			SET hash = ?2`, table, hash[:])
		if err != nil {
			return err
		}
	}
	return nil
}

// execer runs statements: a transaction.
type execer interface {
	ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
}

func storedDigests(ctx context.Context, q querier) (digests, error) {
	stored := digests{}
	return stored, sqlite.Each(ctx, q, func(rows *sql.Rows) error {
		var table string
		var hash []byte
		err := rows.Scan(&table, &hash)
		var d digest
		copy(d[:], hash)
		stored[table] = d
		return err
	}, `SELECT name, hash FROM digest`)
}

// computeDigests reads all rows of all tables.
func computeDigests(ctx context.Context, q querier) (digests, error) {
	tables, err := collect(ctx, q, ScanValue[string], `SELECT name FROM pragma_table_list
		WHERE schema = 'main' AND type = 'table'
		AND name NOT LIKE 'sqlite\_%' ESCAPE '\' ORDER BY name`)
	if err != nil {
		return nil, err
	}
	computed := digests{}
	for _, table := range tables {
		if err := computed.addTable(ctx, q, table); err != nil {
			return nil, err
		}
	}
	return computed, nil
}

func (d digests) addTable(ctx context.Context, q querier, table string) error {
	return sqlite.Each(ctx, q, func(rows *sql.Rows) error {
		columns, err := rows.Columns()
		if err != nil {
			return err
		}
		row, targets := make([]any, len(columns)), make([]any, len(columns))
		for i := range row {
			targets[i] = &row[i]
		}
		if err := rows.Scan(targets...); err != nil {
			return err
		}
		d.toggle(table, row)
		return nil
	}, fmt.Sprintf(`SELECT * FROM "%s"`, strings.ReplaceAll(table, `"`, `""`)))
}

// differing returns the names of the tables whose stored digest is not that of their rows.
func differing(ctx context.Context, q querier) (tables []string, computed digests, err error) {
	stored, err := storedDigests(ctx, q)
	if err != nil {
		return nil, nil, err
	}
	if computed, err = computeDigests(ctx, q); err != nil {
		return nil, nil, err
	}
	all := maps.Clone(stored)
	maps.Copy(all, computed)
	for _, table := range slices.Sorted(maps.Keys(all)) {
		if stored[table] != computed[table] {
			tables = append(tables, table)
		}
	}
	return tables, computed, nil
}

// verifyDigests compares the rows of every table with its digest.
func (v *verifier) verifyDigests(ctx context.Context, f *Finding) error {
	tables, _, err := differing(ctx, v.q)
	for _, table := range tables {
		f.add(fmt.Sprintf("a row of table %s was changed, added or deleted by something else", table))
	}
	return err
}
