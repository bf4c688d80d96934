package storage

import (
	"context"
	"database/sql"
	"strings"

	"annotator"
	"annotator/internal/sqlite"
	"annotator/migrations"
)

// aliens lists the triggers and views that no migration made. Somebody else's trigger runs inside our transactions, and can undo
// what they promise although each of them succeeds.
func foreignObjects(ctx context.Context, q querier) ([]string, error) {
	steps, err := migrations.All()
	if err != nil {
		return nil, err
	}
	ours := strings.Join(steps, "\n")
	var found []string
	err = each(ctx, q, func(rows *sql.Rows) error {
		var name, text string
		if err := rows.Scan(&name, &text); err != nil {
			return err
		}
		if !strings.Contains(ours, text) {
			found = append(found, name)
		}
		return nil
	}, `SELECT type || ' ' || name, sql FROM sqlite_schema WHERE type IN ('trigger', 'view') ORDER BY name`)
	return found, err
}

// refuseAliens is the error for a database to which somebody has added triggers or views.
func checkSchema(ctx context.Context, q querier, path string) error {
	found, err := foreignObjects(ctx, q)
	if err != nil {
		return sqlite.Wrap(err, "read the schema of %s", path)
	}
	if len(found) == 0 {
		return nil
	}
	return annotator.Errorf(annotator.Misused, "%s has what annotator never made: %s", path, strings.Join(found, ", ")).
		WithAdvice("go back to a backup, or drop it and see what `annotator verify` says")
}

func (s *Maintenance) verifySchema(ctx context.Context, f *Finding) error {
	found, err := foreignObjects(ctx, s.db.read)
	for _, name := range found {
		f.add(name + " is none of annotator's")
	}
	return err
}
