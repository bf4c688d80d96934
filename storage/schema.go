package storage

import (
	"context"
	"strings"

	"annotator"
	"annotator/internal/sqlite"
)

// foreignObjects returns the triggers and views that no migration made. They could undo what our transactions write.
func (s schema) foreignObjects(ctx context.Context, q querier) ([]string, error) {
	ours := strings.Join(s, "\n")
	return collect(ctx, q, ScanValue[string], `SELECT type || ' ' || name FROM sqlite_schema
		WHERE type IN ('trigger', 'view') AND instr(?, sql) = 0 ORDER BY name`, ours)
}

// checkObjects refuses a database that has triggers or views of another program.
func (s schema) checkObjects(ctx context.Context, q querier, path string) error {
	found, err := s.foreignObjects(ctx, q)
	if err != nil {
		return sqlite.Wrap(err, "read the schema of %s", path)
	}
	if len(found) == 0 {
		return nil
	}
	list := strings.Join(found, ", ")
	return annotator.Errorf(annotator.Misused, "%s has what this program never made: %s", path, list).
		WithReason(annotator.ReasonForeignSchema)
}

func (v *verifier) verifySchema(ctx context.Context, f *Finding) error {
	found, err := v.schema.foreignObjects(ctx, v.q)
	for _, name := range found {
		f.add(name + " is none of annotator's")
	}
	return err
}
