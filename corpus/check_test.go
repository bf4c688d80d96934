package corpus_test

import (
	"strings"
	"testing"

	"annotator"
)

func TestCheckIDs(t *testing.T) {
	t.Parallel()
	const numbered = `CREATE TABLE thread (id, title); CREATE TABLE tag (post_id, name);
		CREATE TABLE post (thread_id, id INTEGER PRIMARY KEY, time, body)`
	for name, c := range map[string]struct {
		schema, rows, want string
	}{
		"none":          {plainSchema, ``, ""},
		"each its own":  {plainSchema, `INSERT INTO post (thread_id, id) VALUES (1, 1), (1, 2), (2, 3)`, ""},
		"by the schema": {numbered, `INSERT INTO post VALUES (1, 1, 1, ''), (2, 2, 2, '')`, ""},
		"one for two": {
			plainSchema, `INSERT INTO post (thread_id, id) VALUES (1, 7), (2, 7)`,
			"more than one post 7",
		},
		"a word": {
			plainSchema, `INSERT INTO post (thread_id, id) VALUES (1, 'x')`,
			"the id x, which is not a whole number",
		},
		"no thread": {numbered, `INSERT INTO post VALUES (1, 1, 1, ''), (NULL, 2, 2, '')`, "post 2 of"},
		"thread NULL": {
			plainSchema, `INSERT INTO post (thread_id, id) VALUES (1, 1), (NULL, 2)`,
			"the thread_id NULL, which is no thread's number",
		},
		"thread a word": {
			plainSchema, `INSERT INTO post (thread_id, id) VALUES ('one', 1)`,
			"the thread_id one, which",
		},
		"nothing": {
			plainSchema, `INSERT INTO post (thread_id, id) VALUES (1, NULL)`,
			"the id NULL, which is not a whole number",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			wantRefused(t, open(t, foreign(t, c.schema, c.rows)).CheckIDs(t.Context()), c.want)
		})
	}
}

// wantRefused requires an error with a text, or none if the text is empty.
func wantRefused(t *testing.T, err error, says string) {
	t.Helper()
	switch {
	case says == "" && err != nil:
		t.Error(err)
	case says != "" && (annotator.KindOf(err) != annotator.Misused || !strings.Contains(err.Error(), says)):
		t.Errorf("got %v, want one that says %q", err, says)
	}
}
