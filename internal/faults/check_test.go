package faults_test

import (
	"context"
	"database/sql"
	"errors"
	"net/url"
	"strconv"
	"strings"
	"time"

	"annotator"
	"annotator/corpus"
	"annotator/runner/entries"
	"annotator/storage"
)

// finishSound resumes a run that ended early, with a working server, and retries the quarantined scenes.
func (s *session) finishSound(ended byte) {
	s.t.Helper()
	if ended == 'H' {
		ended = s.check(s.run(calm()))
	}
	if ended == 'Q' {
		store, err := storage.OpenWriter(context.Background(), s.db, "the catalogue", time.Now)
		if err != nil {
			s.t.Fatal(err)
		}
		_, err = store.Scenes.Retry(context.Background())
		if err := errors.Join(err, store.Close()); err != nil {
			s.t.Fatal(err)
		}
		ended = s.check(s.run(calm()))
	}
	if ended != 'R' {
		s.t.Errorf("with a sound server it ended %c\n%s", ended, s.calls())
	}
}

// check checks the invariants of every run, and returns its result.
func (s *session) check(ended error) byte {
	s.t.Helper()
	ctx := context.Background()
	db, err := storage.Open(ctx, s.db)
	if err != nil {
		s.t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	s.verify(db)
	run, err := db.Run.Status(ctx)
	if err != nil {
		s.t.Fatal(err)
	}
	n, err := strconv.Atoi(s.lines(`SELECT count(*) FROM call`)[0])
	if err != nil || n > s.asked || n < s.asked-s.unanswered { // a call on a closed connection is sent again
		s.t.Errorf("%d calls are on record, %d were made, %d of them not answered: %v", n, s.asked, s.unanswered, err)
	}
	for _, call := range s.lines(`SELECT id FROM call WHERE outcome = 'open' OR outcome <> 'ok' AND decision = ''`) {
		s.t.Errorf("call %s has no end, or nothing is decided about it", call)
	}
	for _, scene := range s.lines(`SELECT n || ': ' || reason FROM scene WHERE state = 'quarantined'
		AND length(coalesce(raw, '')) = 0
		AND (SELECT outcome = 'ok' AND reason NOT LIKE 'too long%' OR length(raw) > 0 FROM call WHERE scene = n
			ORDER BY id DESC LIMIT 1)`) {
		s.t.Errorf("nothing is kept of what the server sent for scene %s", scene)
	}
	refused, err := db.Scenes.Quarantined(ctx)
	if err != nil {
		s.t.Fatal(err)
	}
	for _, q := range refused {
		if q.Reason == "" {
			s.t.Errorf("scene %d is quarantined without a reason", q.N)
		}
	}
	switch {
	case ended == nil && run.Recorded == run.Corpus.Scenes:
		return 'R'
	case len(refused) > 0 && (errors.Is(ended, annotator.Quarantined) || errors.Is(ended, annotator.NoCalls)) &&
		run.Recorded+len(refused) == run.Corpus.Scenes:
		return 'Q'
	case errors.Is(ended, annotator.Halted) && run.Halted != "":
		return 'H'
	}
	s.t.Errorf("%d recorded, %d quarantined, halted %q: %v", run.Recorded, len(refused), run.Halted, ended)
	return '?'
}

// verifyAll opens the database to verify it.
func (s *session) verifyAll() {
	s.t.Helper()
	db, err := storage.Open(context.Background(), s.db)
	if err != nil {
		s.t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	s.verify(db)
}

// verify checks the invariants of the database, including quotations.
func (s *session) verify(db *storage.DB) {
	s.t.Helper()
	ctx := context.Background()
	source, err := corpus.Open(ctx, s.corpus)
	if err != nil {
		s.t.Fatal(err)
	}
	defer func() { _ = source.Close() }()
	identity, err := source.Identity(ctx)
	if err != nil {
		s.t.Fatal(err)
	}
	findings, err := db.Maintenance.Verify(ctx, &storage.Source{
		Body: func(ctx context.Context, id int64) (string, error) {
			p, err := source.Post(ctx, id)
			if err != nil {
				return "", err
			}
			return p.Body, nil
		},
		Story: source, Identity: identity,
		Finder: entries.FindMentions,
	})
	if err != nil {
		s.t.Fatal(err)
	}
	for _, f := range findings {
		for _, v := range f.Violations {
			s.t.Errorf("verify: %s: %s", f.Check, v)
		}
	}
}

// reasons returns why scenes were quarantined.
func (s *session) reasons() string {
	return strings.Join(s.lines(`SELECT reason FROM scene WHERE reason <> ''`), "\n")
}

// calls lists the calls, for the message of a failed test.
func (s *session) calls() string {
	return strings.Join(s.lines(`SELECT concat_ws(' | ', scene, purpose, attempt, outcome, decision, status, fault) `+
		`FROM call ORDER BY id`), "\n")
}

// journal formats the journal, the scenes and the threads of the database, without times.
func (s *session) journal() []string {
	return s.lines(`SELECT concat_ws(' | ', turn, seq, kind, scene, call_id, tool, arguments,
			content, attached, reasoning, error, tokens)
		FROM trace
		UNION ALL SELECT concat_ws(' | ', 'scene', n, state, turn, reason) FROM scene
		UNION ALL SELECT concat_ws(' | ', 'thread', thread_id, status) FROM thread_state`)
}

// codex formats the entries and revisions of the database.
func (s *session) codex() []string {
	return s.lines(`SELECT concat_ws(' | ', e.term, field, old_value, new_value, at, actor)
		FROM history JOIN glossary_entry e ON e.id = entry_id
		UNION ALL SELECT concat_ws(' | ', term, status, definition, first_at, last_at, revisions)
		FROM glossary_entry ORDER BY 1`)
}

// lines queries the database directly.
func (s *session) lines(query string) (all []string) {
	s.t.Helper()
	if s.aside == nil {
		var err error
		if s.aside, err = sql.Open("sqlite", "file:"+(&url.URL{Path: s.db}).EscapedPath()+"?mode=ro"); err != nil {
			s.t.Fatal(err)
		}
		s.t.Cleanup(func() { _ = s.aside.Close() })
	}
	rows, err := s.aside.Query(query)
	if err != nil {
		s.t.Fatal(err)
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		var line string
		if err := rows.Scan(&line); err != nil {
			s.t.Fatal(err)
		}
		all = append(all, line)
	}
	if err := rows.Err(); err != nil {
		s.t.Fatal(err)
	}
	return all
}
