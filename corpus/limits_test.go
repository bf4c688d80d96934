package corpus_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"annotator"
	"annotator/corpus"
)

const (
	endless = `WITH RECURSIVE c (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM c) SELECT `
	tables  = `CREATE TABLE thread (id INTEGER PRIMARY KEY, title TEXT); INSERT INTO thread VALUES (1, 'T');
		CREATE TABLE tag (post_id INTEGER, name TEXT); INSERT INTO tag VALUES (1, 'qm_post');`
	onePost = `CREATE TABLE post (thread_id INT, id INTEGER PRIMARY KEY, time INT, body TEXT); INSERT INTO post VALUES (1, 1, 1, 'x');`
)

// A query of a corpus with views that do not terminate, or with values of any length, ends within a minute, and with
// its context.
func TestViewsAreBounded(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ schema, says string }{
		"endless posts": {tables + `CREATE VIEW post AS ` + endless +
			`1 AS thread_id, i AS id, i AS time, 'x' AS body FROM c`, "gives no row"},
		"endless and empty": {
			tables + `CREATE VIEW post AS ` + endless +
				`1 AS thread_id, i AS id, i AS time, 'x' AS body FROM c WHERE i < 0`,
			"gives no row",
		},
		"endless threads": {
			`CREATE VIEW thread AS ` + endless +
				`i AS id, 't' AS title FROM c; CREATE TABLE tag (post_id INT, name TEXT);` + onePost,
			"gives no row",
		},
		"many threads": {`CREATE VIEW thread AS ` + endless +
			`i AS id, 't' AS title FROM c LIMIT 300000; CREATE TABLE tag (post_id INT, name TEXT);` +
			onePost, "more than 200000 threads"},
		"long bodies": {
			tables +
				`CREATE VIEW post AS SELECT 1 AS thread_id, 1 AS id, 1 AS time, hex(zeroblob(450000000)) AS body`,
			"too big",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			db := open(t, foreign(t, "", c.schema))
			if c.says == "gives no row" {
				corpus.SetViewTime(db, 200*time.Millisecond)
			}
			read := func(ctx context.Context) error {
				for _, err := range db.Scenes(ctx, 0) {
					if err != nil {
						return err
					}
				}
				return nil
			}
			if err := read(t.Context()); annotator.KindOf(err) != annotator.Misused ||
				!strings.Contains(err.Error(), c.says) {
				t.Errorf("got %v", err)
			}
			if c.says != "gives no row" {
				return
			}
			corpus.SetViewTime(db, time.Hour)
			ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
			defer cancel()
			if err := read(ctx); !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("cancelled: %v", err)
			}
		})
	}
}
