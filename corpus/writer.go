package corpus

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"path/filepath"
	"strconv"

	"annotator"
	"annotator/internal/sqlite"
)

// applicationID marks corpora created by Create: "anco" in ASCII.
const applicationID = 0x616e636f

// Keys of table meta.
const (
	MetaTitle   = "title"   // of the story
	MetaAuthor  = "author"  // of the story; may be missing
	MetaOptions = "options" // SHA-256, in hexadecimal, of the options of an import
	MetaSources = "sources" // the names of the sources and the SHA-256 of their files
	MetaReport  = "report"  // the report of the importer, as JSON

	MetaImporter = "importer" // the version of the importer
)

// schema creates the four tables of every corpus, and meta. The orders are set when the source has changed; until then
// the times order threads and posts. The indexes are created at the end, which is faster than updating them with each
// row.
const (
	schema = `
		CREATE TABLE thread (id INTEGER PRIMARY KEY, title TEXT NOT NULL, ord INTEGER) STRICT;
		CREATE TABLE post (
			thread_id INTEGER NOT NULL,
			id        INTEGER PRIMARY KEY,
			name      TEXT NOT NULL,
			trip_code TEXT NOT NULL,
			subject   TEXT NOT NULL,
			time      INTEGER NOT NULL,
			file_url  TEXT,
			file_name TEXT,
			body      TEXT NOT NULL,
			source_document TEXT,
			source_offset   INTEGER,
			source_id       INTEGER,
			ord             INTEGER,
			former          INTEGER NOT NULL DEFAULT 0
		) STRICT;
		CREATE TABLE tag (post_id INTEGER NOT NULL, name TEXT NOT NULL, PRIMARY KEY (post_id, name)) ` +
		`STRICT, WITHOUT ROWID;
		CREATE TABLE link (link_from INTEGER NOT NULL, link_to INTEGER NOT NULL, ` +
		`PRIMARY KEY (link_from, link_to)) STRICT, WITHOUT ROWID;
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
		return nil, sqlite.Wrap(err, "make the corpus in %s", filepath.Dir(path))
	}
	return w, nil
}

// begin first ends WAL mode: a corpus must be readable in a read-only folder.
func (w *Writer) begin(ctx context.Context) error {
	_, err := w.pool.ExecContext(ctx, `PRAGMA journal_mode = DELETE; PRAGMA application_id = `+
		strconv.Itoa(applicationID))
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
		if err := w.exec(ctx, `INSERT INTO tag (post_id, name) VALUES (?, ?) ON CONFLICT DO NOTHING`, p.ID,
			tag); err != nil {
			return false, err
		}
	}
	for _, quoted := range quotes {
		if err := w.exec(ctx, `INSERT INTO link (link_from, link_to) VALUES (?, ?) ON CONFLICT DO NOTHING`, p.ID,
			quoted); err != nil {
			return false, err
		}
	}
	return true, nil
}

// Origin is the position in a source at which the text of a post begins.
type Origin struct {
	Document string // a file of an archive or folder; "" if the source is a single document
	Offset   int64  // in bytes, in the document as UTF-8 with line feeds as line ends and without control characters
	ID       int64  // of the post in the source; 0 if the source does not number its posts
}

// Origin records where the text of a post begins in its source.
func (w *Writer) Origin(ctx context.Context, post int64, from Origin) error {
	return w.exec(ctx, `UPDATE post SET source_document = ?, source_offset = ?, source_id = nullif(?, 0)
		WHERE id = ?`, from.Document, from.Offset, from.ID, post)
}

// StoryAuthorOptions select the posts that TagStory tags.
type StoryAuthorOptions struct {
	Named []string // names, trip codes and ids of the author; nil detects the author of each thread
	All   bool     // all posts are the story
}

// StoryAuthors reports which posts TagStory tagged, and why.
type StoryAuthors struct {
	Posts                int64    // tagged posts
	All                  int64    // posts of the corpus
	Anonymous            int64    // threads with an anonymous author
	ByTrip, ByID, ByName int64    // threads whose author is identified by trip code, id or name
	CommonNames          []string // names that identify no author because many posters share them, at most 5
	// threads with three or more posters and ten or more posts of which over 90 % are tagged
	Suspect int64
}

// TagStory tags the posts by the author of each thread's opening post as the story, unless the corpus has such tags.
// Posts have the same author if they have the same trip code or id, or the same name and neither. A name that nearly
// all posts have, or that posts with three different ids have, identifies no author. Of an anonymous author, only the
// opening post is tagged.
func (w *Writer) TagStory(ctx context.Context, o StoryAuthorOptions) (StoryAuthors, error) {
	var found StoryAuthors
	var told bool
	err := w.tx.QueryRowContext(ctx, `SELECT EXISTS (SELECT 1 FROM tag WHERE name = ?), (SELECT count(*) FROM post)`,
		annotator.TagStory).Scan(&told, &found.All)
	if err != nil || told && len(o.Named) == 0 {
		return found, w.wrap(err)
	}
	switch {
	case len(o.Named) > 0:
		if _, err = w.tx.ExecContext(ctx, `DELETE FROM tag WHERE name = ?`, annotator.TagStory); err != nil {
			return found, w.wrap(err)
		}
		named, err := json.Marshal(o.Named)
		if err != nil {
			return found, err
		}
		found.Posts, err = w.tagPosts(ctx, `SELECT p.id, ?1 FROM post p WHERE EXISTS (SELECT 1 FROM json_each(?2) n
			WHERE p.name = n.value OR p.trip_code IN (n.value, 'ID:' || n.value))`, annotator.TagStory, string(named))
		return found, err
	case o.All:
		found.Posts, err = w.tagPosts(ctx, `SELECT id, ?1 FROM post`, annotator.TagStory)
		return found, err
	}
	if found.CommonNames, err = w.commonNames(ctx); err != nil {
		return found, err
	}
	if _, err := w.tx.ExecContext(ctx, openers); err != nil {
		return found, w.wrap(err)
	}
	err = w.tx.QueryRowContext(ctx, `SELECT
		count(*) FILTER (WHERE trip = '' AND name = ''), count(*) FILTER (WHERE trip <> '' AND trip NOT LIKE 'ID:%'),
		count(*) FILTER (WHERE trip LIKE 'ID:%'), count(*) FILTER (WHERE trip = '' AND name <> '') FROM temp.opener`).
		Scan(&found.Anonymous, &found.ByTrip, &found.ByID, &found.ByName)
	if err != nil {
		return found, w.wrap(err)
	}
	found.Posts, err = w.tagPosts(ctx, `SELECT p.id, ?1 FROM temp.opener o JOIN post p ON p.thread_id = o.thread
		WHERE p.id = o.post OR o.trip <> '' AND p.trip_code = o.trip
			OR o.trip = '' AND o.name <> '' AND p.trip_code = '' AND p.name = o.name`, annotator.TagStory)
	if err != nil {
		return found, err
	}
	err = w.tx.QueryRowContext(ctx, `SELECT count(*) FROM (
			SELECT p.thread_id FROM post p LEFT JOIN tag t ON t.post_id = p.id AND t.name = ?1
			GROUP BY p.thread_id
			HAVING count(DISTINCT p.trip_code || char(31) || p.name) >= 3
				AND count(*) >= 10 AND count(t.name) * 10 > count(*) * 9)`,
		annotator.TagStory).Scan(&found.Suspect)
	return found, w.wrap(err)
}

// tagPosts tags the posts that a query returns, and counts them.
func (w *Writer) tagPosts(ctx context.Context, query string, args ...any) (int64, error) {
	result, err := w.tx.ExecContext(ctx, `INSERT INTO tag (post_id, name) `+query, args...)
	if err != nil {
		return 0, w.wrap(err)
	}
	n, err := result.RowsAffected()
	return n, w.wrap(err)
}

// commonNames returns the names that identify no author. Such a name occurs with three or more ids or trip codes. Or 90
// % of the posts without these have it, and there are at least ten such posts.
func (w *Writer) commonNames(ctx context.Context) ([]string, error) {
	if _, err := w.tx.ExecContext(ctx, `CREATE TEMP TABLE common_name AS
		SELECT name FROM post WHERE name <> '' GROUP BY name HAVING count(DISTINCT nullif(trip_code, '')) >= 3
		UNION
		SELECT name FROM post WHERE name <> '' AND trip_code = '' GROUP BY name
		HAVING count(*) >= 10 AND count(*) * 10 >= (SELECT count(*) FROM post WHERE trip_code = '') * 9
			AND (SELECT count(DISTINCT name) FROM post) > 1`); err != nil {
		return nil, w.wrap(err)
	}
	rows, err := w.tx.QueryContext(ctx, `SELECT name FROM temp.common_name ORDER BY name LIMIT 5`)
	if err != nil {
		return nil, w.wrap(err)
	}
	defer func() { _ = rows.Close() }()
	var names []string
	for rows.Next() {
		var name string
		if err := rows.Scan(&name); err != nil {
			return nil, w.wrap(err)
		}
		names = append(names, name)
	}
	return names, w.wrap(rows.Err())
}

// openers finds the opening post of each thread and its author. It needs the index.
const openers = `
	CREATE INDEX IF NOT EXISTS post_in_thread ON post (thread_id, time, id);
	CREATE TEMP TABLE opener AS
		SELECT p.thread_id AS thread, p.id AS post, p.trip_code AS trip,
			iif(lower(p.name) IN ('anonymous', 'anon', 'аноним', '名無しさん', '名無し')
				OR p.name IN (SELECT name FROM temp.common_name), '', p.name) AS name
		FROM (SELECT DISTINCT thread_id FROM post) t
		JOIN post p ON p.id = (
			SELECT id FROM post WHERE thread_id = t.thread_id ORDER BY id <> thread_id, time, id LIMIT 1);`

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

func (w *Writer) wrap(err error) error {
	return sqlite.Wrap(err, "write the corpus in %s", filepath.Dir(w.path))
}
