package corpus_test

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"annotator"
	"annotator/corpus"
	"annotator/internal/longtest"
	"annotator/internal/sqlite"

	"github.com/google/go-cmp/cmp"
)

// foreign creates a database of another program from SQL, and returns its path.
func foreign(t testing.TB, statements ...string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "foreign.db")
	db, err := sqlite.Open(t.Context(), path, sqlite.Create, 1)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range append([]string{`PRAGMA journal_mode = DELETE`}, statements...) {
		if _, err := db.ExecContext(t.Context(), s); err != nil {
			t.Fatalf("%s: %v", s, err)
		}
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	return path
}

const plainSchema = `
	CREATE TABLE thread (id INTEGER, title TEXT);
	CREATE TABLE post (thread_id INTEGER, id INTEGER, name TEXT, trip_code TEXT, subject TEXT, time INTEGER,
		file_url TEXT, file_name TEXT, body TEXT);
	CREATE TABLE tag (post_id INTEGER, name TEXT);
	CREATE TABLE link (link_from INTEGER, link_to INTEGER);`

func open(t *testing.T, path string) *corpus.DB {
	t.Helper()
	db, err := corpus.Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	return db
}

// outline describes each scene in one word: its number, thread, index, posts, and whether it opens and ends the thread.
func outline(t *testing.T, db *corpus.DB) []string {
	t.Helper()
	var all []string
	for s, err := range db.Scenes(t.Context(), 0) {
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, sketch(s))
	}
	return all
}

func sketch(s *annotator.Scene) string {
	ids := make([]int64, len(s.Posts))
	for i := range s.Posts {
		ids[i] = s.Posts[i].ID
	}
	text := fmt.Sprintf("%d:%d/%d%v", s.N, s.Thread.ID, s.Index, ids)
	if s.Opens {
		text += "opens"
	}
	if s.Ends {
		text += "ends"
	}
	return text
}

// A story from a forum. Its threads overlap in time and are not in the order of their ids. One ends with a reader's
// post, one has no story, one has no posts, and one has posts but no row.
const forum = `
	INSERT INTO thread VALUES (100, 'second'), (200, 'first'), (300, 'silent'), (400, 'empty');
	INSERT INTO post (thread_id, id, name, time, body) VALUES
		(100, 100, 'QM', 50, 'a'), (100, 101, 'QM', 60, 'b'), (100, 102, 'anon', 70, 'vote'), (100, 103, 'QM', 80, 'c'), (100, 104, 'anon', 90, 'end'),
		(200, 200, 'QM', 10, 'x'), (200, 205, 'anon', 55, 'y'), (200, 201, 'QM', 85, 'z'),
		(300, 300, 'anon', 20, 'no story'),
		(500, 501, 'QM', 95, 'last');
	INSERT INTO tag VALUES (100, 'qm_post'), (100, 'op_post'), (101, 'qm_post'), (103, 'qm_post'), (200, 'qm_post'), (201, 'qm_post'), (501, 'qm_post');`

const goodIndexes = `CREATE INDEX a ON post (thread_id, time, id); CREATE INDEX b ON tag (post_id)`

func TestScenesOfAForum(t *testing.T) {
	t.Parallel()
	want := []string{
		"1:200/0[200]opens", "2:200/1[201]ends",
		"3:100/0[100 101]opens", "4:100/1[103]ends",
		"5:500/0[501]opensends",
	}
	for name, extra := range map[string]string{"without indexes": ``, "with indexes": goodIndexes} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			db := open(t, foreign(t, plainSchema, forum, extra))
			if diff := cmp.Diff(want, outline(t, db)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestThreadsAreListedInOrder(t *testing.T) {
	t.Parallel()
	want := []annotator.Thread{
		{ID: 200, Title: "first", Order: 1},
		{ID: 300, Title: "silent", Order: 2},
		{ID: 100, Title: "second", Order: 3},
		{ID: 500, Order: 4},
		{ID: 400, Title: "empty", Order: 5},
	}
	for name, extra := range map[string]string{"without indexes": ``, "with indexes": goodIndexes} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := open(t, foreign(t, plainSchema, forum, extra)).Threads(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestPostsAreFoundByID(t *testing.T) {
	t.Parallel()
	db := open(t, foreign(t, plainSchema, forum))
	ids := func(posts []annotator.Post, err error) string {
		if err != nil {
			return string(annotator.KindOf(err))
		}
		var all []int64
		for _, p := range posts {
			all = append(all, p.ID)
		}
		return fmt.Sprint(all)
	}
	ctx := t.Context()
	for _, c := range []struct{ what, got, want string }{
		{"scene", ids(db.Scene(ctx, 100, []int64{101, 100})), "[101 100]"},
		{"scene with a lost post", ids(db.Scene(ctx, 100, []int64{100, 999})), "not found"},
		{"scene with a post moved away", ids(db.Scene(ctx, 100, []int64{200})), "not found"},
		{"around, by time and not by id", ids(db.Around(ctx, 205, 1)), "[200 205 201]"},
		{"around, at an end", ids(db.Around(ctx, 100, 2)), "[100 101 102]"},
		{"around a lost post", ids(db.Around(ctx, 999, 2)), "not found"},
		{"whole range", ids(db.Range(ctx, 200, 0, 0, "", 0)), "[200 205 201]"},
		{"range", ids(db.Range(ctx, 100, 101, 103, "", 0)), "[101 102 103]"},
		{"range by tag", ids(db.Range(ctx, 100, 101, 0, annotator.TagStory, 0)), "[101 103]"},
		{"range with a limit", ids(db.Range(ctx, 100, 0, 0, annotator.TagStory, 2)), "[100 101]"},
		{"range of a lost post", ids(db.Range(ctx, 100, 999, 0, "", 0)), "not found"},
		{"range backwards", ids(db.Range(ctx, 100, 103, 101, "", 0)), "[]"},
	} {
		if c.got != c.want {
			t.Errorf("%s: got %s, want %s", c.what, c.got, c.want)
		}
	}
	p, err := db.Post(ctx, 100)
	if err != nil {
		t.Fatal(err)
	}
	want := &annotator.Post{ID: 100, Thread: 100, Name: "QM", Time: 50, Body: "a", Tags: []string{"op_post", "qm_post"}}
	if diff := cmp.Diff(want, p); diff != "" {
		t.Error(diff)
	}
}

func TestRefusesWhatIsNoCorpus(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ sql, says string }{
		{`CREATE TABLE other (id)`, "no table thread, no table post, no table tag"},
		{
			`CREATE TABLE thread (id); CREATE TABLE post (id, thread_id, time); CREATE TABLE tag (post_id, name)`,
			"no column post.body",
		},
	} {
		_, err := corpus.Open(t.Context(), foreign(t, c.sql))
		if annotator.KindOf(err) != annotator.Misused || !strings.Contains(err.Error(), c.says) {
			t.Errorf("got %v, want one that says %q", err, c.says)
		}
	}
	if _, err := corpus.Open(t.Context(), filepath.Join(t.TempDir(), "none.db")); annotator.KindOf(
		err) != annotator.NotFound {
		t.Errorf("of a file that is not there: %v", err)
	}
}

func TestPoorSchemaAndForeignValues(t *testing.T) {
	t.Parallel()
	db := open(t, foreign(t,
		`CREATE TABLE thread (id); CREATE TABLE post (id, thread_id, time, body); CREATE TABLE tag (post_id, name)`,
		`INSERT INTO post VALUES (1, 1, NULL, 'a' || char(0) || 'b'), (2, 1, 5.0, CAST(x'63ff64' AS TEXT)), (3, 1, 6, NULL), (4, 1, 7, x'65')`,
		`INSERT INTO tag SELECT id, 'qm_post' FROM post`))
	for s, err := range db.Scenes(t.Context(), 0) {
		if err != nil {
			t.Fatal(err)
		}
		want := []annotator.Post{
			{ID: 1, Thread: 1, Body: "a\uFFFDb"},
			{ID: 2, Thread: 1, Time: 5, Body: "c\uFFFDd"},
			{ID: 3, Thread: 1, Time: 6},
			{ID: 4, Thread: 1, Time: 7, Body: "e"},
		}
		for i := range want {
			want[i].Tags = []string{"qm_post"}
		}
		if diff := cmp.Diff(want, s.Posts); diff != "" {
			t.Error(diff)
		}
	}
	around, err := db.Around(t.Context(), 2, 1)
	if err != nil || len(around) != 3 {
		t.Errorf("around: %d posts, %v", len(around), err)
	}
	if title, err := db.Title(t.Context()); title != "foreign" || err != nil {
		t.Errorf("title %q, %v", title, err)
	}
}

// A trigger or a view of a malicious corpus changes nothing (S6). Reading changes no byte of the file, also in WAL
// mode.
func TestNeverChangesTheFile(t *testing.T) {
	t.Parallel()
	hostile := []string{
		plainSchema, forum,
		`CREATE TRIGGER boom AFTER INSERT ON tag BEGIN DELETE FROM post; END`,
		`CREATE VIEW meta AS SELECT 'title' AS key, 'a view' AS value`,
	}
	for name, last := range map[string]string{
		"rollback journal": `PRAGMA journal_mode = DELETE`,
		"write-ahead log":  `PRAGMA journal_mode = WAL`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := foreign(t, append(hostile, last)...)
			before := digest(t, path)
			db := open(t, path)
			if got := len(outline(t, db)); got != 5 {
				t.Errorf("%d scenes", got)
			}
			if title, err := db.Title(t.Context()); title != "a view" || err != nil {
				t.Errorf("title %q, %v", title, err)
			}
			if err := db.Close(); err != nil {
				t.Fatal(err)
			}
			if digest(t, path) != before {
				t.Error("the file has changed")
			}
		})
	}
}

func TestReadOnlyFolder(t *testing.T) {
	t.Parallel()
	longtest.Unix(t, "modes of folders")
	if os.Geteuid() == 0 {
		t.Skip("root may write everywhere")
	}
	for _, mode := range []string{"DELETE", "WAL"} {
		if got := len(outline(t, open(t, locked(t, mode, "")))); got != 5 {
			t.Errorf("in %s mode: %d scenes", mode, got)
		}
	}
	_, err := corpus.Open(t.Context(), locked(t, "WAL", "a log"))
	if annotator.KindOf(err) != annotator.Misused || !strings.Contains(err.Error(), "copy it") {
		t.Errorf("beside a log: %v", err)
	}
}

// locked creates a read-only corpus in a read-only folder, with a write-ahead log unless that is empty.
func locked(t *testing.T, mode, log string) string {
	t.Helper()
	path := foreign(t, plainSchema, forum, `PRAGMA journal_mode = `+mode)
	if log != "" {
		if err := os.WriteFile(path+"-wal", []byte(log), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	folder := filepath.Dir(path)
	t.Cleanup(func() { _ = os.Chmod(folder, 0o700) })
	if err := errors.Join(os.Chmod(path, 0o400), os.Chmod(folder, 0o500)); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestIdentityFollowsChanges(t *testing.T) {
	t.Parallel()
	for _, mode := range []string{"DELETE", "WAL"} {
		path := foreign(t, plainSchema, forum, `PRAGMA journal_mode = `+mode)
		db := open(t, path)
		identity := func() string {
			id, err := db.Identity(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			return id
		}
		before := identity()
		if again := identity(); again != before {
			t.Errorf("%s: %s, then %s without a change", mode, before, again)
		}
		change(t, path, mode)
		if after := identity(); after == before {
			t.Errorf("%s: %s also after a change", mode, after)
		}
	}
}

func change(t *testing.T, path, mode string) {
	t.Helper()
	db, err := sqlite.Open(context.Background(), path, sqlite.ReadWrite, 1)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range []string{`PRAGMA journal_mode = ` + mode, `UPDATE post SET body = 'new' WHERE id = 100`} {
		if _, err := db.ExecContext(context.Background(), s); err != nil {
			t.Fatal(err)
		}
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
}

func digest(t *testing.T, path string) [sha256.Size]byte {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return sha256.Sum256(data)
}
