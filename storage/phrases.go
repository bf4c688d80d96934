package storage

import (
	"context"
	"database/sql"
	"encoding/json"

	"annotator"
)

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
