package runner_test

import (
	"crypto/sha256"
	"database/sql"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"annotator"
	"annotator/internal/longtest"
	"annotator/internal/scripted"
	"annotator/migrations"
	"annotator/policy"
)

// TestOlderDatabaseResumes interrupts a run at each of its transitions, turns its database into one of schema 6, which knew decisions and
// demands by their texts, and resumes it.
func TestOlderDatabaseResumes(t *testing.T) {
	t.Parallel()
	s := governed(t, policy.Enforce, saying(calls(creates("Door")), scripted.Reply{Text: "So be it."},
		calls(declares("PROPOSE")), calls(creates("Door"))), "The door creaked.")
	s.config.NoThreadSummaries = true // which the older version did not make
	if err := s.run("calm"); err != nil {
		t.Fatal(err)
	}
	if n := s.count("calm", `SELECT count(*) FROM trace WHERE kind = 'note' AND error = '`+annotator.CallRequired+`'`); n != 1 {
		t.Fatalf("%d notes demand a call, not 1", n)
	}
	calm := s.journal("calm")
	at, step, demanded := 1, longtest.Pick(2, 1), 0
	for ; s.interrupted(annotator.NoticeTransition, at); at += step {
		name := fmt.Sprintf("interrupted at %s %d", annotator.NoticeTransition, at)
		s.bus = nil
		demanded += s.count(name, `SELECT count(*) FROM trace WHERE kind = 'note' AND id = (SELECT max(id) FROM trace)`)
		older(t, s.db(name))
		if err := s.run(name); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		s.verify(name)
		if diff := cmp.Diff(calm, s.journal(name)); diff != "" {
			t.Errorf("%s (-calm +this):\n%s", name, diff)
		}
	}
	if at < 20 || demanded == 0 {
		t.Errorf("there are %d transitions, %d after a demand", at, demanded)
	}
}

// journal returns the rows of a journal, and the revisions, without hashes and times.
func (s *stage) journal(name string) []string {
	s.t.Helper()
	rows := slices.DeleteFunc(dump(s.t, s.db(name)), func(line string) bool { return !strings.HasPrefix(line, "revision ") })
	for row, err := range s.open(name).Journal.Rows(s.t.Context(), 0) {
		if err != nil {
			s.t.Fatal(err)
		}
		rows = append(rows, fmt.Sprintf("%+v", row.Trace))
	}
	return rows
}

// older puts in a database's place one of schema 6 with the same rows.
func older(t *testing.T, path string) {
	t.Helper()
	newer := path + ".newer"
	if err := os.Rename(path, newer); err != nil {
		t.Fatal(err)
	}
	db, err := sql.Open("sqlite", "file:"+path)
	if err != nil {
		t.Fatal(err)
	}
	db.SetMaxOpenConns(1)
	defer func() { _ = db.Close() }()
	exec := func(query string, args ...any) {
		t.Helper()
		if _, err := db.ExecContext(t.Context(), query, args...); err != nil {
			t.Fatalf("%s: %v", query, err)
		}
	}
	for _, step := range migrations.All()[:6] {
		exec(step)
	}
	exec(`PRAGMA user_version = 6`)
	exec(`PRAGMA application_id = 0x416e6e6f`)
	exec(`ATTACH ? AS newer`, newer)
	former := map[string]string{
		"call.signs":           "characters",
		"call.decision":        `CASE WHEN decision IN ('', 'interrupted', 'discarded', 'answered') THEN reason ELSE decision || ': ' || reason END`,
		"glossary_entry.names": `''`, // a later migration drops it
		"episode.entries":      `'[]'`,
		"episode.scenes":       `'[]'`,
		"trace.error":          `iif(kind = 'note', '', error)`,
	}
	for _, table := range columnOf(t, db, `SELECT name FROM main.sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%' AND name NOT LIKE 'glossary_fts%'`) {
		columns := columnOf(t, db, `SELECT name FROM pragma_table_info(?)`, table)
		values := slices.Clone(columns)
		for i, column := range columns {
			if value, ok := former[table+"."+column]; ok {
				values[i] = value
			}
		}
		exec(fmt.Sprintf(`INSERT INTO main.%s (%s) SELECT %s FROM newer.%[1]s`, table, strings.Join(columns, ", "), strings.Join(values, ", ")))
	}
	rechain(t, db)
}

// columnOf returns the texts that a query yields.
func columnOf(t *testing.T, db *sql.DB, query string, args ...any) (all []string) {
	t.Helper()
	rows, err := db.QueryContext(t.Context(), query, args...)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		var text string
		if err := rows.Scan(&text); err != nil {
			t.Fatal(err)
		}
		all = append(all, text)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return all
}

// rechain computes the hashes of a journal again.
func rechain(t *testing.T, db *sql.DB) {
	t.Helper()
	hash := []byte{}
	for id := int64(1); ; id++ {
		var n [4]int64
		var text [8]string
		err := db.QueryRowContext(t.Context(), `SELECT turn, seq, scene, tokens, kind, content, reasoning, call_id, tool, arguments, error, shows FROM trace
			WHERE id = ?`, id).Scan(&n[0], &n[1], &n[2], &n[3], &text[0], &text[1], &text[2], &text[3], &text[4], &text[5], &text[6], &text[7])
		if errors.Is(err, sql.ErrNoRows) {
			return
		}
		h := sha256.New()
		h.Write(hash)
		for _, n := range append([]int64{id}, n[:]...) {
			h.Write(binary.BigEndian.AppendUint64(nil, uint64(n)))
		}
		for _, text := range text {
			h.Write(binary.BigEndian.AppendUint64(nil, uint64(len(text))))
			h.Write([]byte(text))
		}
		hash = h.Sum(nil)
		if err == nil {
			_, err = db.ExecContext(t.Context(), `UPDATE trace SET hash = ? WHERE id = ?`, hash, id)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}
