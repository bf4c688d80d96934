package corpus

import (
	"cmp"
	"context"
	"database/sql"
	"slices"
	"strings"

	"annotator"
	"annotator/internal/sqlite"
)

// shape contains the SQL fragments for reading a database with its columns and indexes. In all of them p is the post.
type shape struct {
	columns string // of a post, in the order of scanPost
	from    string // the tables of these columns
	key     string // sorts like the posts of a thread, and is never NULL
	title   string // of a row of table thread
	former  string // 1 for a post whose text the source no longer has, else 0
	ordered bool   // threads and posts have their order in the story; else it is that of their times
	indexed bool   // indexes find the posts of a thread and the tags of a post
	meta    bool   // there is a table meta
	origins bool   // posts have their position in the source
}

// required are the columns of every corpus.
var required = [...]struct {
	table   string
	columns []string
}{
	{"thread", []string{"id"}},
	{"post", []string{"thread_id", "id", "time", "body"}},
	{"tag", []string{"post_id", "name"}},
}

// unitSeparator separates the tags of a post in one column.
const unitSeparator = "\x1f"

// earliest and latest are the limits of all times. earliest also replaces NULL, which SQLite sorts before every number.
const (
	earliest = -1 << 63
	latest   = 1<<63 - 1
)

// inspect reads the schema of a database. A database that is no corpus is annotator.Misused.
func inspect(ctx context.Context, pool *sql.DB, path string) (shape, error) {
	tables := map[string]columns{"thread": {}, "post": {}, "tag": {}, "meta": {}}
	for name, found := range tables {
		if err := found.read(ctx, pool, name); err != nil {
			return shape{}, sqlite.Wrap(err, "read the schema of %s", path)
		}
	}
	if absent := missing(tables); len(absent) > 0 {
		return shape{}, annotator.Errorf(annotator.Misused, "%s is not a corpus: it has no %s", path,
			strings.Join(absent, ", no ")).
			WithReason(annotator.ReasonNotACorpus,
				"thread(id, title), post(thread_id, id, name, trip_code, subject, time, body) and tag(post_id, name)")
	}
	postIndex, err := hasIndexOn(ctx, pool, "post", "thread_id")
	tagIndex, other := hasIndexOn(ctx, pool, "tag", "post_id")
	if err := cmp.Or(err, other); err != nil {
		return shape{}, sqlite.Wrap(err, "read the indexes of %s", path)
	}
	s := newShape(tables, postIndex, tagIndex)
	if tables["thread"].have("ord") && tables["post"].have("ord") {
		err := pool.QueryRowContext(ctx, `SELECT EXISTS (SELECT 1 FROM thread WHERE ord IS NOT NULL)`).Scan(&s.ordered)
		if err != nil {
			return shape{}, sqlite.Wrap(err, "read the order of %s", path)
		}
	}
	if s.ordered {
		s.key = "p.ord"
	}
	return s, nil
}

func newShape(tables map[string]columns, postIndex, tagIndex bool) shape {
	post := tables["post"]
	s := shape{
		from:    "post p",
		key:     "p.time",
		former:  "0",
		title:   tables["thread"].text("", "title"),
		indexed: postIndex && tagIndex,
		meta:    tables["meta"].have("key") && tables["meta"].have("value"),
		origins: post.have("source_document") && post.have("source_offset") && post.have("source_id"),
	}
	if post.have("former") {
		s.former = "p.former"
	}
	when, tags := "p.time", "(SELECT group_concat(t.name, char(31)) FROM tag t WHERE t.post_id = p.id)"
	if post["time"] {
		s.key = "ifnull(p.time, -9223372036854775808)"
		when = "ifnull(CAST(p.time AS INTEGER), 0)"
	}
	if !tagIndex {
		s.from += " LEFT JOIN (SELECT post_id, group_concat(name, char(31)) AS names FROM tag GROUP BY post_id) g " +
			"ON g.post_id = p.id"
		tags = "g.names"
	}
	s.columns = strings.Join([]string{
		"p.thread_id", "p.id", post.text("p.", "name"), post.text("p.", "trip_code"), post.text("p.", "subject"), when,
		post.text("p.", "body"),
		"ifnull(" + tags + ", '')", s.former,
	}, ", ")
	return s
}

// columns are the columns of a table, and whether each may be NULL. A missing table has none.
type columns map[string]bool

func (c columns) have(name string) bool {
	_, ok := c[name]
	return ok
}

// text returns the SQL that reads a column as text. NULL and a missing column read as empty.
func (c columns) text(table, name string) string {
	switch {
	case !c.have(name):
		return "''"
	case c[name]:
		return "ifnull(" + table + name + ", '')"
	}
	return table + name
}

// query returns the SQL that reads posts, with joins, and clauses that select and sort them. In the clauses, KEY is the
// sort key of a post in its thread. FORMER is whether the source no longer has its text.
func (s shape) query(joins, clauses string) string {
	clauses = strings.NewReplacer("KEY", s.key, "FORMER", s.former).Replace(clauses)
	return "SELECT " + s.columns + " FROM " + s.from + joins + " " + clauses
}

// scanPost reads a row of such a query.
func scanPost(rows *sql.Rows) (*annotator.Post, error) {
	var p annotator.Post
	var tags string
	err := rows.Scan(&p.Thread, &p.ID, &p.Name, &p.Trip, &p.Subject, &p.Time, &p.Body, &tags, &p.Former)
	if err != nil {
		return nil, err
	}
	for _, text := range []*string{&p.Name, &p.Trip, &p.Subject, &p.Body, &tags} {
		*text = clean(*text)
	}
	if tags != "" {
		p.Tags = strings.Split(tags, unitSeparator)
		slices.Sort(p.Tags)
	}
	return &p, nil
}

// read adds the columns of a table.
func (c columns) read(ctx context.Context, pool *sql.DB, table string) error {
	return sqlite.Each(ctx, pool, func(rows *sql.Rows) error {
		var name string
		var nullable bool
		err := rows.Scan(&name, &nullable)
		c[name] = nullable
		return err
	}, `SELECT lower(name), NOT "notnull" FROM pragma_table_info(?)`, table)
}

func missing(tables map[string]columns) []string {
	var absent []string
	for _, want := range required {
		found := tables[want.table]
		if len(found) == 0 {
			absent = append(absent, "table "+want.table)
			continue
		}
		for _, column := range want.columns {
			if !found.have(column) {
				absent = append(absent, "column "+want.table+"."+column)
			}
		}
	}
	return absent
}

// hasIndexOn reports whether an index on the whole table begins with a column.
func hasIndexOn(ctx context.Context, pool *sql.DB, table, column string) (bool, error) {
	var n int
	err := pool.QueryRowContext(ctx,
		`SELECT count(*) FROM pragma_index_list(?1) l, pragma_index_info(l.name) i
		WHERE NOT l.partial AND i.seqno = 0 AND lower(i.name) = ?2`, table, column).Scan(&n)
	return n > 0, err
}

// clean replaces invalid UTF-8 and NUL by U+FFFD. SQLite stores both, and NUL ends a text in many programs.
func clean(text string) string {
	return strings.ReplaceAll(strings.ToValidUTF8(text, "\uFFFD"), "\x00", "\uFFFD")
}
