package storage

import (
	"context"
	"database/sql"
	"encoding/json"
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

// The names of the checks that need the corpus.
const (
	CheckCorpus     = "corpus"
	CheckFormer     = "former text"
	CheckMentions   = "mentions"
	CheckWords      = "words"
	CheckQuotations = "quotations"
)

// CheckIndex is the name of the check of what RebuildIndex mends.
const CheckIndex = "full-text index"

// maxListed is the number of violations of a check that are listed.
const maxListed = 20

// check is a law with the function that proves it.
type check struct {
	name, law string
	run       func(context.Context, *Finding) error
}

// Source is the corpus that a run was made from.
type Source struct {
	Body   func(ctx context.Context, post int64) (string, error) // NotFound for a post that is not there
	Story  Story
	Finder func(names map[int64][]string) MentionFinder // nil: mentions are not compared

	Identity string // of its file, as the run records it
}

// MentionFinder finds the names of entries in a scene.
type MentionFinder func(*annotator.Scene) SceneMentions

// verifier checks one state of a database: a run may go on meanwhile.
type verifier struct {
	schema   schema
	path     string
	q        *sql.Tx
	glossary *Glossary
	write    *sql.DB // nil where the file cannot be written now
	readOnly string  // why
	source   *Source // nil: is not compared
}

// Verify checks the laws of the database, and returns a finding for each, in a fixed order. With the corpus, it also
// compares scenes and quotations with it. It changes nothing. On a read-only file or disk, or while another program
// writes, some checks are impossible. Their findings say so.
func (s *Maintenance) Verify(ctx context.Context, source *Source) ([]Finding, error) {
	t, err := s.db.read.BeginTx(ctx, nil)
	if err != nil {
		return nil, sqlite.Wrap(err, "verify %s", s.db.path)
	}
	defer func() { _ = t.Rollback() }()
	v := &verifier{
		schema: s.db.schema, path: s.db.path, q: t, glossary: &Glossary{q: t, path: s.db.path},
		source: source,
	}
	if err := v.openToWrite(ctx); err != nil {
		return nil, err
	}
	defer v.close()
	checks := v.checks()
	findings := make([]Finding, len(checks))
	for i, c := range checks {
		findings[i] = Finding{Check: c.name, Law: c.law}
		if err := c.run(ctx, &findings[i]); unreadable(err) {
			findings[i].add(err.Error())
		} else if err != nil {
			return nil, sqlite.Wrap(err, "verify %s of %s", c.name, s.db.path)
		}
	}
	return findings, nil
}

// unreadable reports whether err says that a value cannot be decoded, and not that the file cannot be read.
func unreadable(err error) bool {
	syntax, kind := (*json.SyntaxError)(nil), (*json.UnmarshalTypeError)(nil)
	return errors.As(err, &syntax) || errors.As(err, &kind) || sqlite.IsUnreadable(err)
}

func (v *verifier) checks() []check {
	checks := []check{
		{"integrity", "SQLite finds the file whole", v.verifyFile},
		{"log", "the file has all that was recorded, or its log is beside it", v.verifyLog},
		{"schema", "every trigger and view is the program's own", v.verifySchema},
	}
	for _, i := range invariants {
		run := func(ctx context.Context, f *Finding) error { return f.query(ctx, v.q, i.query) }
		checks = append(checks, check{i.check, i.law, run})
	}
	checks = append(checks,
		check{"digests", "nothing but the program has changed a row", v.verifyDigests},
		check{
			"journal chain", "each row of the journal carries the hash of itself and of all before it",
			v.verifyChain,
		},
		check{"prompts", "a system prompt and its tools are those of their hash", v.verifyPrompts},
		check{"corpus hash", "the hash of the corpus is made from those of the scenes", v.verifyCorpusHash},
		check{"replay", "the codex is the sum of its revisions, each of which changes what was there, and is dated " +
			"to what its turn has read", v.verifyReplay},
		check{
			"join", "a codex that was made of parts has replayed their revisions in the story's order, and the parts " +
				"still have them", v.verifyJoin,
		},
		check{CheckIndex, "the index agrees with the entries", v.verifyIndex})
	if v.source != nil {
		checks = append(checks,
			check{
				CheckCorpus, "the corpus has the scenes that the run has read, with these posts and this text",
				v.verifyCorpus,
			},
			check{CheckFormer, "the posts whose text the source no longer has are marked", v.verifyFormer},
			check{
				CheckMentions, "the mentions are where the names of live entries stand in the posts",
				v.verifyMentions,
			},
			check{CheckWords, "the words by which a scene is looked up are those of its posts", v.verifyWords},
			check{CheckQuotations, "every quotation stands in its post, where it says", v.verifyQuotes})
	}
	return checks
}

// query adds the rows of a query, each a violation.
func (f *Finding) query(ctx context.Context, q querier, query string) error {
	rows, err := collect(ctx, q, ScanValue[string], query)
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

func (v *verifier) verifyChain(ctx context.Context, f *Finding) error {
	var former []byte
	return sqlite.Each(ctx, v.q, func(rows *sql.Rows) error {
		var t annotator.Trace
		var shows, parsed string
		var hash []byte
		err := rows.Scan(&t.ID, &t.Turn, &t.Seq, &t.Kind, &t.Scene, &t.Content, &t.Attached, &t.Reasoning, &t.CallID,
			&t.Tool, &t.Arguments, &t.Error,
			&t.Tokens, &shows, &parsed, &hash)
		if err != nil {
			return err
		}
		if string(chain(former, &t, shows, parsed)) != string(hash) {
			f.add(fmt.Sprintf("journal row %d is not what was written", t.ID))
		}
		former = hash
		return nil
	}, `SELECT `+TraceColumns+`, hash FROM trace ORDER BY id`)
}

// RebuildIndex rebuilds the full-text index from the entries.
func (s *Maintenance) RebuildIndex(ctx context.Context) error {
	return s.db.update(ctx, "rebuild the full-text index", func(tx *tx) {
		tx.exec(`INSERT INTO glossary_fts_name (glossary_fts_name) VALUES ('rebuild')`)
		tx.exec(`INSERT INTO glossary_fts_claim (glossary_fts_claim) VALUES ('rebuild')`)
	})
}

func (v *verifier) verifyQuotes(ctx context.Context, f *Finding) error {
	return sqlite.Each(ctx, v.q, func(rows *sql.Rows) error {
		var id, post int64
		var start, end int
		var quote string
		if err := rows.Scan(&id, &post, &start, &end, &quote); err != nil {
			return err
		}
		text, err := v.source.Body(ctx, post)
		switch {
		case errors.Is(err, annotator.NotFound):
			f.add(fmt.Sprintf("evidence %d quotes post %d, which is not in the corpus", id, post))
		case err != nil:
			return err
		case !quotedAt(text, start, end, quote):
			f.add(fmt.Sprintf("evidence %d is not what post %d says at %d to %d", id, post, start, end))
		}
		return nil
	}, `SELECT id, coalesce(post_id, 0), coalesce(start_at, 0), coalesce(end_at, 0), coalesce(quote, '')
		FROM evidence ORDER BY post_id, id`)
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
