package corpus

import (
	"context"
	"database/sql"
	"errors"
	"strconv"

	"annotator"
	"annotator/internal/sqlite"
)

// applicationID marks the corpora that Create makes: "anco" in ASCII.
const applicationID = 0x616e636f

// Keys of table meta.
const (
	MetaTitle  = "title"  // of the story
	MetaAuthor = "author" // of the story; may be missing
	MetaDigest = "digest" // SHA-256, in hexadecimal, of all that determines the result of an import
	MetaReport = "report" // the report of the importer, as JSON
)

// schema has the four tables of every corpus, and meta. The indexes are created at the end, which is faster than
// updating them with each row.
const (
	schema = `
		CREATE TABLE thread (id INTEGER PRIMARY KEY, title TEXT NOT NULL) STRICT;
		CREATE TABLE post (
			thread_id INTEGER NOT NULL,
			id        INTEGER PRIMARY KEY,
			name      TEXT NOT NULL,
			trip_code TEXT NOT NULL,
			subject   TEXT NOT NULL,
			time      INTEGER NOT NULL,
			file_url  TEXT,
			file_name TEXT,
			body      TEXT NOT NULL
		) STRICT;
		CREATE TABLE tag (post_id INTEGER NOT NULL, name TEXT NOT NULL, PRIMARY KEY (post_id, name)) STRICT, WITHOUT ROWID;
		CREATE TABLE link (link_from INTEGER NOT NULL, link_to INTEGER NOT NULL, PRIMARY KEY (link_from, link_to)) STRICT, WITHOUT ROWID;
		CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;`
	indexes = `
		CREATE INDEX IF NOT EXISTS post_in_thread ON post (thread_id, time, id);
		CREATE INDEX tag_by_name ON tag (name, post_id);`
)

// File is the attachment of a post: its address and its name. Both may be empty.
type File struct{ URL, Name string }

// Writer writes a new corpus. The file is empty until Close succeeds. A Writer is for one goroutine.
type Writer struct {
	pool *sql.DB
	tx   *sql.Tx
	path string
}

// Create creates a corpus in the file at path, which must be empty or missing.
func Create(ctx context.Context, path string) (*Writer, error) {
	pool, err := sqlite.Open(ctx, path, sqlite.Create, 1)
	if err != nil {
		return nil, err
	}
	w := &Writer{pool: pool, path: path}
	if err := w.begin(ctx); err != nil {
		_ = w.Abort()
		return nil, sqlite.Wrap(err, "make the corpus %s", path)
	}
	return w, nil
}

// begin leaves WAL mode first: a corpus must be readable in a read-only folder, and a new file needs no log.
func (w *Writer) begin(ctx context.Context) error {
	_, err := w.pool.ExecContext(ctx, `PRAGMA journal_mode = DELETE; PRAGMA application_id = `+strconv.Itoa(applicationID))
	if err != nil {
		return err
	}
	if w.tx, err = w.pool.BeginTx(ctx, nil); err != nil {
		return err
	}
	_, err = w.tx.ExecContext(ctx, schema)
	return err
}

// Thread sets a thread's title.
func (w *Writer) Thread(ctx context.Context, id int64, title string) error {
	return w.exec(ctx, `INSERT INTO thread (id, title) VALUES (?, ?)
		ON CONFLICT DO UPDATE SET title = excluded.title`, id, title)
}

// Meta records a value about the corpus.
func (w *Writer) Meta(ctx context.Context, key, value string) error {
	return w.exec(ctx, `INSERT INTO meta (key, value) VALUES (?, ?)
		ON CONFLICT DO UPDATE SET value = excluded.value`, key, value)
}

// Post adds a post with its tags, its file, and the ids of the posts that it quotes. It returns false, and adds
// nothing, if a post with its id exists.
func (w *Writer) Post(ctx context.Context, p *annotator.Post, file File, quotes []int64) (added bool, err error) {
	result, err := w.tx.ExecContext(ctx, `
		INSERT INTO post (thread_id, id, name, trip_code, subject, time, body, file_url, file_name)
		VALUES (?, ?, ?, ?, ?, ?, ?, nullif(?, ''), nullif(?, '')) ON CONFLICT DO NOTHING`,
		p.Thread, p.ID, p.Name, p.Trip, p.Subject, p.Time, p.Body, file.URL, file.Name)
	if err != nil {
		return false, w.wrap(err)
	}
	if n, err := result.RowsAffected(); err != nil || n == 0 {
		return false, w.wrap(err)
	}
	for _, tag := range p.Tags {
		if err := w.exec(ctx, `INSERT INTO tag (post_id, name) VALUES (?, ?) ON CONFLICT DO NOTHING`, p.ID, tag); err != nil {
			return false, err
		}
	}
	for _, quoted := range quotes {
		if err := w.exec(ctx, `INSERT INTO link (link_from, link_to) VALUES (?, ?) ON CONFLICT DO NOTHING`, p.ID, quoted); err != nil {
			return false, err
		}
	}
	return true, nil
}

// TagStory tags the posts by the author of each thread's opening post as the story, unless the corpus has such tags.
// Posts have the same author if they have the same trip code, or the same name and no trip code. Of an anonymous
// author, only the opening post is tagged. It returns the number of tagged posts, and of threads with an anonymous
// author.
func (w *Writer) TagStory(ctx context.Context) (posts, anonymous int64, err error) {
	var tagged bool
	err = w.tx.QueryRowContext(ctx, `SELECT EXISTS (SELECT 1 FROM tag WHERE name = ?)`, annotator.TagStory).Scan(&tagged)
	if err != nil || tagged {
		return 0, 0, w.wrap(err)
	}
	if _, err := w.tx.ExecContext(ctx, openers); err != nil {
		return 0, 0, w.wrap(err)
	}
	if err := w.tx.QueryRowContext(ctx, `SELECT count(*) FROM temp.opener WHERE trip = '' AND name = ''`).Scan(&anonymous); err != nil {
		return 0, 0, w.wrap(err)
	}
	result, err := w.tx.ExecContext(ctx, `INSERT INTO tag (post_id, name)
		SELECT p.id, ?1 FROM temp.opener o JOIN post p ON p.thread_id = o.thread
		WHERE p.id = o.post OR o.trip <> '' AND p.trip_code = o.trip
			OR o.trip = '' AND o.name <> '' AND p.trip_code = '' AND p.name = o.name`, annotator.TagStory)
	if err != nil {
		return 0, 0, w.wrap(err)
	}
	posts, err = result.RowsAffected()
	return posts, anonymous, w.wrap(err)
}

// openers finds the opening post of each thread and its author. It needs the index.
const openers = `
	CREATE INDEX IF NOT EXISTS post_in_thread ON post (thread_id, time, id);
	CREATE TEMP TABLE opener AS
		SELECT p.thread_id AS thread, p.id AS post, p.trip_code AS trip, iif(p.name = 'Anonymous', '', p.name) AS name
		FROM (SELECT DISTINCT thread_id FROM post) t
		JOIN post p ON p.id = (SELECT id FROM post WHERE thread_id = t.thread_id ORDER BY id <> thread_id, time, id LIMIT 1);`

// Close creates the indexes and commits.
func (w *Writer) Close(ctx context.Context) error {
	_, err := w.tx.ExecContext(ctx, indexes)
	if err == nil {
		err = w.tx.Commit()
	}
	if err != nil {
		return errors.Join(w.wrap(err), w.Abort())
	}
	return w.wrap(w.pool.Close())
}

// Abort discards the corpus. The caller removes the file.
func (w *Writer) Abort() error {
	if w.tx != nil {
		_ = w.tx.Rollback()
	}
	return w.wrap(w.pool.Close())
}

func (w *Writer) exec(ctx context.Context, query string, args ...any) error {
	_, err := w.tx.ExecContext(ctx, query, args...)
	return w.wrap(err)
}

func (w *Writer) wrap(err error) error { return sqlite.Wrap(err, "write the corpus %s", w.path) }
