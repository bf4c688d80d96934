package storage

import (
	"context"
	"database/sql"
	"encoding/json"

	"annotator"
	"annotator/codex"
)

// Former returns the entries from which a name was taken.
func (s *Curation) Former(ctx context.Context, name string) ([]int64, error) {
	return readAll(ctx, s.db, "read whose name it was", ScanValue[int64], `SELECT DISTINCT entry_id FROM value
		WHERE field = 'alias' AND key = ? AND ended_by IS NOT NULL`, codex.Normalize(name))
}

// Phrases returns what the curator has answered about phrases, oldest first.
func (s *Curation) Phrases(ctx context.Context) ([]annotator.Phrases, error) {
	scan := func(rows *sql.Rows, p *annotator.Phrases) error {
		var text string
		if err := rows.Scan(&text); err != nil {
			return err
		}
		return json.Unmarshal([]byte(text), p)
	}
	return readAll(ctx, s.db, "read the phrases that were asked about", scan, `SELECT parsed ->> '$.phrases'
		FROM trace WHERE turn = 0 AND parsed <> '' AND parsed ->> '$.phrases' IS NOT NULL ORDER BY id`)
}
