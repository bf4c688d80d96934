package storage_test

import (
	_ "embed"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"annotator/internal/sqlite"
	"annotator/migrations"
	"annotator/storage"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "regenerate the document of the schema")

// TestSchemaDocument compares docs/schema.md with the schema that the migrations make.
func TestSchemaDocument(t *testing.T) {
	t.Parallel()
	want := schemaDocument(t)
	path := filepath.Join("..", "docs", "schema.md")
	if *update {
		if err := os.WriteFile(path, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Errorf("docs/schema.md differs from the migrations; regenerate it with `go test ./storage -run "+
			"SchemaDocument -update` (-want +got):\n%s", diff)
	}
}

// introduction is the text before the tables.
//
//go:embed testdata/schema.md
var introduction string

// meanings holds what the comments of the migrations leave out: a table, or a column of one, and what it holds, a line
// each.
//
//go:embed testdata/meanings.txt
var meanings string

// schemaDocument describes every table, view and column.
func schemaDocument(t *testing.T) string {
	t.Helper()
	d := &schema{
		T: t, path: filepath.Join(t.TempDir(), "annotator.db"), comments: map[string]string{},
		dropped: map[string]bool{},
	}
	db, err := storage.OpenWriter(t.Context(), d.path, "the test", clock)
	if err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	for _, step := range migrations.All() {
		d.readComments(step)
	}
	d.readMeanings()
	for _, query := range regexp.MustCompile("(?s)```sql\n(.*?)```").FindAllStringSubmatch(introduction, -1) {
		d.runs(query[1])
	}
	text := fmt.Sprintf(introduction, len(migrations.All()))
	const named = `SELECT group_concat(name, ' ') AS name FROM (SELECT name FROM pragma_table_list WHERE schema = 'main' AND name NOT LIKE 'sqlite%%'
		AND type %s ORDER BY name)`
	for _, table := range strings.Fields(ask[string](t, d.path, fmt.Sprintf(named, `= 'table'`))) {
		text += "\n" + d.table(table)
	}
	for _, view := range strings.Fields(ask[string](t, d.path, fmt.Sprintf(named, `IN ('view', 'virtual')`))) {
		text += "\n" + d.table(view)
	}
	for name := range d.comments {
		if table, _, _ := strings.Cut(name, "."); d.dropped[table] {
			continue
		}
		t.Errorf("%s is described, but is not in the schema", name)
	}
	return text
}

// schema is a database to be described.
type schema struct {
	*testing.T
	path     string
	comments map[string]string // by the name of a table, or of a table and a column
	dropped  map[string]bool   // tables, unless they were made anew
}

var (
	createdTable  = regexp.MustCompile(`^CREATE (?:VIRTUAL )?(?:TABLE|VIEW) (\w+)`)
	columnLine    = regexp.MustCompile(`^  (\w+) +(?:INTEGER|TEXT|BLOB)\b`)
	droppedTable  = regexp.MustCompile(`^DROP (?:TABLE|VIEW) (\w+)`)
	addedColumn   = regexp.MustCompile(`^ALTER TABLE (\w+) ADD COLUMN (\w+)`)
	droppedColumn = regexp.MustCompile(`^ALTER TABLE (\w+) DROP COLUMN (\w+)`)
	renamed       = regexp.MustCompile(`^ALTER TABLE (\w+) RENAME COLUMN (\w+) TO (\w+)`)
)

// readComments reads the comment above each table of a migration, and those behind its columns.
func (d *schema) readComments(step string) {
	var above []string
	table := ""
	for line := range strings.Lines(step) {
		code, comment, _ := strings.Cut(strings.TrimRight(line, "\n"), "--")
		comment = strings.TrimSpace(comment)
		if strings.TrimSpace(code) == "" && comment != "" {
			above = append(above, comment)
			continue
		}
		switch {
		case createdTable.MatchString(code):
			table = createdTable.FindStringSubmatch(code)[1]
			delete(d.dropped, table)
			if d.comments[table] == "" { // a table that is made anew keeps its description
				d.comments[table] = strings.Join(above, " ")
			}
		case droppedTable.MatchString(code):
			d.dropped[droppedTable.FindStringSubmatch(code)[1]] = true
		case addedColumn.MatchString(code):
			m := addedColumn.FindStringSubmatch(code)
			d.comments[m[1]+"."+m[2]] = comment
		case droppedColumn.MatchString(code):
			m := droppedColumn.FindStringSubmatch(code)
			delete(d.comments, m[1]+"."+m[2])
		case renamed.MatchString(code):
			m := renamed.FindStringSubmatch(code)
			d.comments[m[1]+"."+m[3]] = d.comments[m[1]+"."+m[2]]
			delete(d.comments, m[1]+"."+m[2])
		case table != "" && columnLine.MatchString(code):
			d.comments[table+"."+columnLine.FindStringSubmatch(code)[1]] = comment
		}
		if strings.Contains(code, ";") || strings.HasPrefix(code, ")") {
			table = ""
		}
		above = nil
	}
}

// readMeanings adds the file of meanings. A line there replaces the comment.
func (d *schema) readMeanings() {
	for line := range strings.Lines(meanings) {
		name, meaning, _ := strings.Cut(strings.TrimSpace(line), ": ")
		d.comments[name] = meaning
	}
}

// take returns the description of a table or column, and fails if there is none.
func (d *schema) take(name string) string {
	d.Helper()
	meaning := d.comments[name]
	if meaning == "" {
		d.Errorf("no migration and no line of testdata/meanings.txt says what %s holds", name)
	}
	delete(d.comments, name)
	return meaning
}

// table describes a table or a view.
func (d *schema) table(name string) string {
	d.Helper()
	text := fmt.Sprintf("## %s\n\n%s\n\n| Column | Type | Holds |\n|---|---|---|\n", name, sentence(d.take(name)))
	pool, err := sqlite.Open(d.Context(), d.path, sqlite.ReadOnly, 1)
	if err != nil {
		d.Fatal(err)
	}
	defer func() { _ = pool.Close() }()
	rows, err := pool.QueryContext(d.Context(), `SELECT c.name, lower(c.type), c."notnull" OR c.pk > 0, c.pk > 0,
		  coalesce((SELECT "table" FROM pragma_foreign_key_list(?1) f WHERE f."from" = c.name LIMIT 1), '')
		FROM pragma_table_info(?1) c ORDER BY c.cid`, name)
	if err != nil {
		d.Fatal(err)
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		var column, kind, parent string
		var required, key bool
		if err := rows.Scan(&column, &kind, &required, &key, &parent); err != nil {
			d.Fatal(err)
		}
		kinds := []string{kind}
		if key {
			kinds = append(kinds, "key")
		}
		if parent != "" {
			kinds = append(kinds, "→ "+parent)
		}
		if kind != "" && !required {
			kinds = append(kinds, "or NULL")
		}
		kinds = slices.DeleteFunc(kinds, func(s string) bool { return s == "" })
		holds := sentence(d.take(name + "." + column))
		if values := d.values(name, column); values != "" {
			holds += " One of " + values + "."
		}
		text += fmt.Sprintf("| %s | %s | %s |\n", column, strings.Join(kinds, ", "),
			strings.ReplaceAll(holds, "|", `\|`))
	}
	if err := rows.Err(); err != nil {
		d.Fatal(err)
	}
	return text
}

// runs fails unless SQLite accepts the statements of an example.
func (d *schema) runs(statements string) {
	d.Helper()
	pool, err := sqlite.Open(d.Context(), d.path, sqlite.ReadOnly, 1)
	if err != nil {
		d.Fatal(err)
	}
	defer func() { _ = pool.Close() }()
	if _, err := pool.ExecContext(d.Context(), statements); err != nil {
		d.Errorf("%s: %v", statements, err)
	}
}

// values returns what the schema lets a column hold.
func (d *schema) values(table, column string) string {
	d.Helper()
	sql := ask[string](d.T, d.path, `SELECT sql FROM sqlite_schema WHERE name = '`+table+`'`)
	m := regexp.MustCompile(`CHECK \(` + column + ` IN \(([^)]*'[^)]*)\)`).FindStringSubmatch(sql)
	if m == nil {
		return ""
	}
	return strings.ReplaceAll(strings.ReplaceAll(strings.Join(strings.Fields(m[1]), " "), "''", "empty"), "'", "`")
}

// sentence returns a comment with a capital letter and a full stop.
func sentence(text string) string {
	if text == "" {
		return ""
	}
	return strings.ToUpper(text[:1]) + strings.TrimRight(text[1:], ".") + "."
}
