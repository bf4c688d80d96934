package sqlite

import (
	"context"
	"database/sql/driver"
	"os"
	"strings"
)

// maxStatements is the maximum number of prepared statements of a connection. The program has fewer, except searches
// with tags.
const maxStatements = 128

// A bare LIMIT makes SQLite plan a query by the bound number, and compile the statement again for each number. A sum
// prevents that.
const (
	boundLimit  = "LIMIT ?"
	summedLimit = "LIMIT 0+?"
)

// cachingConnector is a connector whose connections cache prepared statements. SQLite takes as long to compile a short
// statement as to run it, and the program repeats a few dozen. So callers can use plain SQL text.
type cachingConnector struct {
	driver.Connector
	observer Observer // nil for none
	limited  bool     // values are
	folder   string   // removed with the pool; empty for none
}

// Close removes the folder of a copy. Closing the pool calls it.
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

// fullConn has the methods of the driver's connection that database/sql uses.
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

// conn is a connection with cached statements. database/sql uses it from one goroutine at a time.
type conn struct {
	fullConn
	statements map[string]*statement
}

// statement is a cached statement. While its rows are being read it is busy, and cannot be run a second time.
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

// statement returns the cached statement for a query. It returns nil for a query that is not cached, such as a pragma,
// which may take effect when it is compiled.
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

// Close closes the cached statements and the connection.
func (c *conn) Close() error {
	for _, s := range c.statements {
		_ = s.Close() // repeats the error of its last run
	}
	observe(c.fullConn, nil) // otherwise the driver keeps the observer for the next connection at the same address
	return c.fullConn.Close()
}

// rows release their statement on Close.
type rows struct {
	driver.Rows
	statement *statement
}

// Close ends the reading.
func (r *rows) Close() error {
	r.statement.busy = false
	return r.Rows.Close()
}
