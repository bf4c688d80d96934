package storage

import (
	"context"

	"annotator"
	"annotator/internal/sqlite"
)

// RunTool runs a tool inside the transaction that records its result: both are in the database afterwards, or neither
// is. The tool gets the glossary to work on and fills in the result row, whose kind, turn, seq, scene, call id
// and tool the caller has set. Where the tool breaks a rule of the schema, its changes are undone and fallback gives the row instead.
func (db *DB) RunTool(ctx context.Context, row *annotator.Trace, run func(*Glossary, *annotator.Trace) error,
	fallback func(*annotator.Trace, error),
) error {
	return db.update(ctx, "run "+row.Tool, func(tx *tx) error {
		head, asked := tx.head, *row
		if _, err := tx.exec(`SAVEPOINT tool`); err != nil {
			return err
		}
		err := run(&Glossary{q: tx, path: db.path, tx: tx, turn: row.Turn}, row)
		switch {
		case err != nil && sqlite.IsConstraint(err):
			if _, err := tx.exec(`ROLLBACK TO tool`); err != nil {
				return err
			}
			tx.head, *row = head, asked
			fallback(row, err)
		case err != nil:
			return err
		}
		if _, err := tx.exec(`RELEASE tool`); err != nil {
			return err
		}
		return tx.append(row)
	})
}
