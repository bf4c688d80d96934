package storage

import (
	"cmp"
	"context"

	"annotator"
	"annotator/internal/sqlite"
)

// RunTool runs a tool inside the transaction that records its result: both are in the database afterwards, or neither
// is. The tool gets the glossary to work on and fills in the result row, whose kind, turn, seq, scene, call id
// and tool the caller has set. Where the tool breaks a rule of the schema, its changes are undone and fallback gives the row
// instead, in a transaction of its own: to undo within one would have SQLite copy every page that a tool changes. What was
// decided of the call, which the tool may still settle, commits with the row; nil for nothing.
func (s *Journal) RunTool(ctx context.Context, row *annotator.Trace, decision *ToolDecision, run func(*Glossary, *annotator.Trace) error,
	fallback func(*annotator.Trace, error),
) error {
	asked := *row
	var cause error
	err := s.db.update(ctx, "run "+row.Tool, func(tx *tx) error {
		if cause = run(&Glossary{q: tx, path: s.db.path, tx: tx, turn: row.Turn}, row); cause != nil {
			return cause
		}
		return tx.appendResult(row, decision)
	})
	if !sqlite.IsConstraint(err) {
		return err
	}
	*row = asked
	fallback(row, cmp.Or(cause, err))
	return s.db.update(ctx, "record the failure of "+row.Tool, func(tx *tx) error { return tx.appendResult(row, decision) })
}
