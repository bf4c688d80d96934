package sqlite

import (
	"context"
	"database/sql/driver"
	"os"
	"strings"
)

// maxStatements is how many prepared statements a connection keeps. The program has fewer, but for searches with
// tags.
const maxStatements = 128

// SQLite plans a query by the number that is bound to a bare LIMIT, and compiles the statement again whenever one is
// bound. It does not look into a sum.
const (
	boundLimit  = "LIMIT ?"
	summedLimit = "LIMIT 0+?"
)

// cachingConnector is a connector whose connections keep their prepared statements. SQLite takes as long to compile a
// short statement as to run it, and the program runs the same few dozen over and over. The SQL stays plain text where
// it is used.
type cachingConnector struct {
	driver.Connector
	observer Observer // nil for none
	limited  bool     // values are
	folder   string   // is removed with the pool; empty for none
}

// Close removes the folder of a copy. The pool calls it when it is closed.
func (k cachingConnector) Close() error {
	if k.folder == "" {
		return nil
	}
	return os.RemoveAll(k.folder)
}

// Connect opens a connection.
func (k cachingConnector) Connect(ctx context.Context) (driver.Conn, error) {
	inner, err := k.Connector.Connect(ctx)
	if err != nil {
		return nil, err
	}
	if k.limited {
		if err := limitValues(ctx, inner); err != nil {
			_ = inner.Close()
			return nil, err
		}
	}
	whole, ok := inner.(fullConn)
	if !ok {
		return inner, nil
	}
	if k.observer != nil {
		observe(inner, k.observer)
	}
	return &conn{fullConn: whole, statements: map[string]*statement{}}, nil
}

// fullConn is what database/sql uses of a connection of the driver.
type fullConn interface {
	driver.Conn
	driver.ConnBeginTx
	driver.ConnPrepareContext
	driver.ExecerContext
	driver.QueryerContext
	driver.Pinger
	driver.SessionResetter
	driver.Validator
}

// conn is a connection that keeps its statements. database/sql uses it from one goroutine at a time.
type conn struct {
	fullConn
	statements map[string]*statement
}

// statement is a kept statement. While its rows are being read it is busy, and cannot be run a second time.
type statement struct {
	fullStmt
	busy bool
}

type fullStmt interface {
	driver.Stmt
	driver.StmtExecContext
	driver.StmtQueryContext
}

// ExecContext runs a statement that returns no rows.
func (c *conn) ExecContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Result, error) {
	s, err := c.statement(ctx, query)
	if err != nil {
		return nil, err
	}
	if s == nil {
		return c.fullConn.ExecContext(ctx, query, args)
	}
	return s.ExecContext(ctx, args)
}

// QueryContext runs a statement that returns rows.
func (c *conn) QueryContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Rows, error) {
	s, err := c.statement(ctx, query)
	if err != nil {
		return nil, err
	}
	if s == nil {
		return c.fullConn.QueryContext(ctx, query, args)
	}
	found, err := s.QueryContext(ctx, args)
	if err != nil {
		return nil, err
	}
	s.busy = true
	return &rows{Rows: found, statement: s}, nil
}

// statement returns the kept statement for a query; nil for one that is to be run without, such as a pragma, which
// may take effect only when it is compiled.
func (c *conn) statement(ctx context.Context, query string) (*statement, error) {
	s := c.statements[query]
	switch {
	case s != nil && s.busy:
		return nil, nil
	case s != nil:
		return s, nil
	case len(c.statements) >= maxStatements || strings.HasPrefix(query, "PRAGMA"):
		return nil, nil
	}
	prepared, err := c.PrepareContext(ctx, strings.ReplaceAll(query, boundLimit, summedLimit))
	if err != nil {
		return nil, err
	}
	whole, ok := prepared.(fullStmt)
	if !ok {
		return nil, prepared.Close()
	}
	s = &statement{fullStmt: whole}
	c.statements[query] = s
	return s, nil
}

// Close closes the kept statements and the connection.
func (c *conn) Close() error {
	for _, s := range c.statements {
		_ = s.Close() // repeats the error of its last run
	}
	observe(c.fullConn, nil) // the driver would keep an observer for the next connection at the same address
	return c.fullConn.Close()
}

// rows release their statement when they are closed.
type rows struct {
	driver.Rows
	statement *statement
}

// Close ends the reading.
func (r *rows) Close() error {
	r.statement.busy = false
	return r.Rows.Close()
}
