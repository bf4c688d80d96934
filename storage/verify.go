package storage

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"unicode/utf8"

	"annotator"
	"annotator/internal/sqlite"
)

// Finding is the result of one check of Verify.
type Finding struct {
	Check      string   `json:"check"`
	Law        string   `json:"law"` // what must hold
	Violations []string `json:"violations"`
	More       int      `json:"more,omitempty"`      // further violations, not listed
	Unchecked  string   `json:"unchecked,omitempty"` // what could not be checked, and why; empty where all was
}

// CheckQuotations is the name of the check that needs the corpus.
const CheckQuotations = "quotations"

// maxListed is the number of violations of a check that are listed.
const maxListed = 20

// check is a law with the function that proves it.
type check struct {
	name, law string
	run       func(context.Context, *Finding) error
}

// Verify checks the laws of the database, and returns a finding for each, in a fixed order. With a function that
// returns a post's body, it also compares every quotation with its source. It changes nothing. On a read-only file or
// disk some checks are impossible; their findings say so.
func (s *Maintenance) Verify(ctx context.Context, body func(context.Context, int64) (string, error)) ([]Finding, error) {
	checks := s.checks()
	if body != nil {
		checks = append(checks, check{
			CheckQuotations, "every quotation stands in its post, where it says",
			func(ctx context.Context, f *Finding) error { return s.verifyQuotes(ctx, f, body) },
		})
	}
	findings := make([]Finding, len(checks))
	for i, c := range checks {
		findings[i] = Finding{Check: c.name, Law: c.law}
		if err := c.run(ctx, &findings[i]); err != nil {
			return nil, sqlite.Wrap(err, "verify %s of %s", c.name, s.db.path)
		}
	}
	return findings, nil
}

func (s *Maintenance) checks() []check {
	checks := []check{
		{"integrity", "SQLite finds the file whole", s.verifyFile},
		{"schema", "every trigger and view is the program's own", s.verifySchema},
	}
	for _, v := range invariants {
		run := func(ctx context.Context, f *Finding) error { return f.query(ctx, s.db.read, v.query) }
		checks = append(checks, check{v.check, v.law, run})
	}
	return append(checks,
		check{"digests", "nothing but the program has changed a row", func(ctx context.Context, f *Finding) error { return verifyDigests(ctx, s.db.read, f) }},
		check{"journal chain", "each row of the journal carries the hash of itself and of all before it", s.verifyChain},
		check{"replay", "the codex is the sum of its revisions", s.verifyReplay},
		check{"full-text index", "the index agrees with the entries", s.verifyIndex})
}

// query adds the rows of a query, each a violation.
func (f *Finding) query(ctx context.Context, q querier, query string) error {
	rows, err := collect(ctx, q, scanValue[string], query)
	f.add(rows...)
	return err
}

func (f *Finding) add(violations ...string) {
	for _, v := range violations {
		if len(f.Violations) < maxListed {
			f.Violations = append(f.Violations, v)
		} else {
			f.More++
		}
	}
}

func (s *Maintenance) verifyChain(ctx context.Context, f *Finding) error {
	var recoded int64
	if err := s.db.read.QueryRowContext(ctx, `SELECT coalesce(max(recoded), 0) FROM run_state`).Scan(&recoded); err != nil {
		return err
	}
	var former []byte
	return sqlite.Each(ctx, s.db.read, func(rows *sql.Rows) error {
		var t annotator.Trace
		var shows string
		var hash []byte
		err := rows.Scan(&t.ID, &t.Turn, &t.Seq, &t.Kind, &t.Scene, &t.Content, &t.Reasoning, &t.CallID, &t.Tool, &t.Arguments, &t.Error,
			&t.Tokens, &shows, &hash)
		if err != nil {
			return err
		}
		if t.ID <= recoded && t.Kind == annotator.TraceNote {
			t.Error = "" // the code is newer than the hash
		}
		if string(chain(former, &t, shows)) != string(hash) {
			f.add(fmt.Sprintf("journal row %d is not what was written", t.ID))
		}
		former = hash
		return nil
	}, `SELECT `+traceColumns+`, hash FROM trace ORDER BY id`)
}

// RebuildIndex rebuilds the full-text index from the entries.
func (s *Maintenance) RebuildIndex(ctx context.Context) error {
	return s.db.update(ctx, "rebuild the full-text index", func(tx *tx) {
		tx.exec(`INSERT INTO glossary_fts (glossary_fts) VALUES ('rebuild')`)
	})
}

func (s *Maintenance) verifyQuotes(ctx context.Context, f *Finding, body func(context.Context, int64) (string, error)) error {
	return sqlite.Each(ctx, s.db.read, func(rows *sql.Rows) error {
		var id, post int64
		var start, end int
		var quote string
		if err := rows.Scan(&id, &post, &start, &end, &quote); err != nil {
			return err
		}
		text, err := body(ctx, post)
		switch {
		case errors.Is(err, annotator.NotFound):
			f.add(fmt.Sprintf("evidence %d quotes post %d, which is not in the corpus", id, post))
		case err != nil:
			return err
		case !quotedAt(text, start, end, quote):
			f.add(fmt.Sprintf("evidence %d is not what post %d says at %d to %d", id, post, start, end))
		}
		return nil
	}, `SELECT id, post_id, start_at, end_at, quote FROM evidence ORDER BY post_id, id`)
}

// quotedAt reports whether body has quote at a range of code points.
func quotedAt(body string, start, end int, quote string) bool {
	if utf8.RuneCountInString(body) < end {
		return false
	}
	return string([]rune(body)[start:end]) == quote
}

// Clean reports whether no finding has a violation.
func Clean(findings []Finding) bool {
	return !slices.ContainsFunc(findings, func(f Finding) bool { return len(f.Violations) > 0 })
}
