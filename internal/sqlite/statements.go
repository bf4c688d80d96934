package sqlite

import (
	"context"
	"database/sql/driver"
	"strings"
)

// keptStatements is how many prepared statements a connection keeps. The program has fewer; what tags make of a search is
// where more could come from.
const keptStatements = 128

// SQLite plans a query by the number that is bound to a bare LIMIT, and so compiles the statement anew whenever one is bound. A
// sum is no such number.
const (
	bareLimit = "LIMIT ?"
	keptLimit = "LIMIT 0+?"
)

// keeping is a connector whose connections keep the statements they prepare. SQLite takes as long to compile a short
// statement as to run it, and the program runs the same few dozen over and over. To do that here leaves the SQL where it is
// used, as plain text.
type keeping struct{ driver.Connector }

// Connect opens a connection.
func (k keeping) Connect(ctx context.Context) (driver.Conn, error) {
	inner, err := k.Connector.Connect(ctx)
	if err != nil {
		return nil, err
	}
	whole, ok := inner.(fullConn)
	if !ok {
		return inner, nil
	}
	return &conn{fullConn: whole, kept: map[string]*statement{}}, nil
}

// fullConn is what database/sql makes use of in a connection of the driver.
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

// conn is a connection that keeps its statements. database/sql uses a connection from one goroutine at a time.
type conn struct {
	fullConn
	kept map[string]*statement
}

// statement is a kept one. It is busy while its rows are being read, and cannot then be run a second time.
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

// statement returns the kept statement for a query, or nil where it is to be run without: a pragma may take effect when
// it is compiled and then never again.
func (c *conn) statement(ctx context.Context, query string) (*statement, error) {
	s := c.kept[query]
	switch {
	case s != nil && s.busy:
		return nil, nil
	case s != nil:
		return s, nil
	case len(c.kept) >= keptStatements || strings.HasPrefix(query, "PRAGMA"):
		return nil, nil
	}
	prepared, err := c.PrepareContext(ctx, strings.ReplaceAll(query, bareLimit, keptLimit))
	if err != nil {
		return nil, err
	}
	whole, ok := prepared.(fullStmt)
	if !ok {
		return nil, prepared.Close()
	}
	s = &statement{fullStmt: whole}
	c.kept[query] = s
	return s, nil
}

// Close closes the kept statements and the connection.
func (c *conn) Close() error {
	for _, s := range c.kept {
		_ = s.Close() // repeats the error of its last run
	}
	return c.fullConn.Close()
}

// rows frees their statement when they are closed.
type rows struct {
	driver.Rows
	statement *statement
}

// Close ends the reading.
func (r *rows) Close() error {
	r.statement.busy = false
	return r.Rows.Close()
}
