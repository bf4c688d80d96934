package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"

	driver "modernc.org/sqlite"
	"modernc.org/sqlite/lib"
)

// recorder records what a run sends and commits, as steps that can be repeated without the program.
type recorder struct {
	path    string // of the run's database
	writer  driver.HookRegisterer
	tables  map[string]table
	steps   []step
	pending []*change // of the transaction that is open
	last    []byte    // the newest request
	err     error     // the first failure
}

// step is a request, or else a transaction.
type step struct {
	request    *request
	statements []statement
}

// request is the body of a POST, split at the bytes with which the one before begins and ends, too.
type request struct {
	head, tail int
	fresh      []byte
}

// change is what a transaction does to one row, however many statements the program has for it.
type change struct {
	table   string
	op      int32
	columns []bool // that change
	values  []any
}

// watch keeps the newest connection that may write to the run's database, until record is called.
func (r *recorder) watch() {
	driver.RegisterConnectionHook(func(conn driver.ExecQuerierContext, dsn string) error {
		hooks, ok := conn.(driver.HookRegisterer)
		if !ok {
			return errors.New("the driver has no hooks")
		}
		if strings.Contains(dsn, r.path+"?") && strings.Contains(dsn, "mode=rw") {
			r.writer = hooks
		}
		return nil
	})
}

// record has the connection report its changes from here on. A connection has one such hook. It replaces the program's
// own, which keeps the digests of tables, so these stay unchanged in the recorded run.
func (r *recorder) record() {
	r.writer.RegisterPreUpdateHook(r.change)
	r.writer.RegisterCommitHook(r.commit)
	r.writer.RegisterRollbackHook(func() { r.pending = nil })
}

// change records that a row changes. What triggers do, and the full-text index they keep, follows by itself.
func (r *recorder) change(data driver.SQLitePreUpdateData) {
	t, known := r.tables[data.TableName]
	if !known || data.Depth() > 0 {
		return
	}
	c := &change{
		table: data.TableName, op: data.Op, columns: make([]bool, len(t.columns)),
		values: make([]any, len(t.columns)),
	}
	old := make([]any, len(t.columns))
	if data.Op != sqlite3.SQLITE_INSERT {
		r.note(data.Old(old...))
	}
	if data.Op == sqlite3.SQLITE_DELETE {
		c.values = old
	} else {
		r.note(data.New(c.values...))
	}
	for i := range c.columns {
		c.columns[i] = data.Op == sqlite3.SQLITE_INSERT || fmt.Sprint(old[i]) != fmt.Sprint(c.values[i])
	}
	r.merge(t, c)
}

// merge joins a change to an earlier one of the same row.
func (r *recorder) merge(t table, c *change) {
	at := slices.IndexFunc(r.pending, func(p *change) bool {
		return p.table == c.table && p.op != sqlite3.SQLITE_DELETE && slices.Equal(t.keyOf(p.values), t.keyOf(c.values))
	})
	if at < 0 || c.op != sqlite3.SQLITE_UPDATE {
		r.pending = append(r.pending, c)
		return
	}
	p := r.pending[at]
	p.values = c.values
	for i, changed := range c.columns {
		p.columns[i] = p.columns[i] || changed
	}
}

// commit ends a transaction.
func (r *recorder) commit() int32 {
	if len(r.pending) == 0 {
		return 0
	}
	s := step{}
	for _, c := range r.pending {
		if slices.Contains(c.columns, true) || c.op == sqlite3.SQLITE_DELETE {
			s.statements = append(s.statements, r.tables[c.table].statement(c))
		}
	}
	r.steps, r.pending = append(r.steps, s), nil
	return 0
}

func (r *recorder) note(err error) {
	if r.err == nil {
		r.err = err
	}
}

// RoundTrip records a request and passes it on.
func (r *recorder) RoundTrip(q *http.Request) (*http.Response, error) {
	if strings.HasSuffix(q.URL.Path, "/chat/completions") {
		body, err := io.ReadAll(q.Body)
		if err != nil {
			return nil, err
		}
		q = q.Clone(q.Context())
		q.Body = io.NopCloser(bytes.NewReader(body))
		r.steps = append(r.steps, step{request: requestBehind(r.last, body)})
		r.last = body
	}
	return http.DefaultTransport.RoundTrip(q)
}

func requestBehind(former, body []byte) *request {
	q := request{}
	most := min(len(former), len(body))
	for q.head < most && former[q.head] == body[q.head] {
		q.head++
	}
	for q.tail < most-q.head && former[len(former)-1-q.tail] == body[len(body)-1-q.tail] {
		q.tail++
	}
	q.fresh = slices.Clone(body[q.head : len(body)-q.tail])
	return &q
}

// body restores the whole request, in the memory of spare.
func (q *request) body(former, spare []byte) []byte {
	body := append(spare[:0], former[:q.head]...)
	body = append(body, q.fresh...)
	return append(body, former[len(former)-q.tail:]...)
}

// table describes a table for the statements that change it.
type table struct {
	name    string
	columns []string
	key     []int // columns of the primary key
}

func readTables(ctx context.Context, path string) (map[string]table, error) {
	rows, err := query(ctx, path, `SELECT t.name, c.name, c.pk FROM pragma_table_list t JOIN pragma_table_info(t.name) c
		WHERE t.schema = 'main' AND t.type = 'table' AND t.name NOT LIKE 'sqlite_%' ORDER BY t.name, c.cid`)
	tables := map[string]table{}
	for _, r := range rows {
		t := tables[r[0].(string)]
		if r[2] != int64(0) {
			t.key = append(t.key, len(t.columns))
		}
		t.name, t.columns = r[0].(string), append(t.columns, r[1].(string))
		tables[t.name] = t
	}
	return tables, err
}

func (t table) keyOf(values []any) []any {
	key := make([]any, len(t.key))
	for i, at := range t.key {
		key[i] = values[at]
	}
	return key
}

// statement returns the shortest statement that makes a change.
func (t table) statement(c *change) statement {
	var columns []string
	var values []any
	for i, changed := range c.columns {
		if changed {
			columns, values = append(columns, t.columns[i]), append(values, c.values[i])
		}
	}
	switch c.op {
	case sqlite3.SQLITE_INSERT:
		marks := strings.TrimSuffix(strings.Repeat("?, ", len(columns)), ", ")
		return statement{
			fmt.Sprintf(`INSERT INTO %s (%s) VALUES (%s)`, t.name, strings.Join(columns, ", "), marks),
			values,
		}
	case sqlite3.SQLITE_DELETE:
		return statement{fmt.Sprintf(`DELETE FROM %s WHERE %s`, t.name, t.where()), t.keyOf(c.values)}
	}
	set := strings.Join(columns, " = ?, ") + " = ?"
	return statement{
		fmt.Sprintf(`UPDATE %s SET %s WHERE %s`, t.name, set, t.where()),
		append(values, t.keyOf(c.values)...),
	}
}

func (t table) where() string {
	var parts []string
	for _, at := range t.key {
		parts = append(parts, t.columns[at]+" = ?")
	}
	return strings.Join(parts, " AND ")
}
