package storage_test

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"testing"

	"annotator"
	"annotator/internal/sqlite"
	"annotator/storage"
)

const (
	demandText = "Your reply calls no tool, and one has to be called now."
	otherText  = "Your codex_updates could not be read."
)

// chained gives the hash of a row as schema 6 has it: of the row before, and of the row.
func chained(former []byte, id, turn, seq, scene int64, kind, content string) []byte {
	h := sha256.New()
	h.Write(former)
	var b [8]byte
	for _, n := range []int64{id, turn, seq, scene, 0} {
		binary.BigEndian.PutUint64(b[:], uint64(n))
		h.Write(b[:])
	}
	for _, text := range []string{kind, content, "", "", "", "", "", ""} {
		binary.BigEndian.PutUint64(b[:], uint64(len(text)))
		h.Write(b[:])
		h.Write([]byte(text))
	}
	return h.Sum(nil)
}

// TestCodesFromTexts has a database of schema 6, where decisions and a note were known by their texts.
func TestCodesFromTexts(t *testing.T) {
	t.Parallel()
	rows := []string{
		`INSERT INTO run_state (id, state, title, corpus_path, corpus_hash, corpus_identity, scene_bytes, endpoint, model, started_at, updated_at,
		  open_scene, turn) VALUES (1, 'CALLING', 'x', 'x', '66687aadf862bd776c8fc18b8e9f8e20089714856ee233b3902a591d0d5f2925', 'x', 1, 'x', 'x', 1, 1, 1, 1)`,
		`INSERT INTO thread_state (thread_id, ord, title, first_scene, last_scene, status) VALUES (1, 1, 'x', 1, 1, 'in_progress')`,
		`INSERT INTO scene (n, thread_id, idx, posts, words, hash, state, attempts) VALUES (1, 1, 0, '[1]', 1, zeroblob(32), 'open', 1)`,
	}
	var hash []byte
	for i, row := range [][2]string{{"scene", "One."}, {"note", otherText}, {"note", demandText + " Declare it again."}} {
		id := int64(i + 1)
		hash = chained(hash, id, 1, id-1, 1, row[0], row[1])
		rows = append(rows, fmt.Sprintf(`INSERT INTO trace (id, turn, seq, kind, scene, content, hash, at) VALUES (%d, 1, %d, '%s', 1, '%s', x'%s', 1)`,
			id, id-1, row[0], row[1], hex.EncodeToString(hash)))
	}
	type want struct{ outcome, text, decision, reason string }
	wants := []want{
		{"transient", "retry: attempt 2 of 4 in 1s", "retry", "attempt 2 of 4 in 1s"},
		{"gone", "wait: 3s, then: probe", "wait", "3s, then: probe"},
		{"shrink", "shrink reply: the prompt fits", "shrink reply", "the prompt fits"},
		{"malformed", "not used", "discarded", "not used"},
		{"gone", "quarantine: 4 attempts failed", "quarantine", "4 attempts failed"},
		{"interrupted", "stopped by a signal", "interrupted", "stopped by a signal"},
		{"refused", "the server is there", "answered", "the server is there"},
		{"gone", "the request waits", "wait", "the request waits"},
		{"lost", "the program ended during the call", "", "the program ended during the call"},
		{"gone", "quarantine: 4 attempts failed", "quarantine", "4 attempts failed"},
		{"malformed", "not used", "discarded", "not used"},
		{"gone", "quarantine: 4 attempts failed", "quarantine", "4 attempts failed"},
	}
	for i, w := range wants {
		rows = append(rows, fmt.Sprintf(`INSERT INTO call (id, turn, scene, purpose, attempt, outcome, decision, fault, estimate, started_at, signs)
			VALUES (%d, 1, 1, 'summarise', 1, '%s', '%s', 'broken', 10, 1, '[1,2,3,4]')`, i+1, w.outcome, w.text))
	}
	rows = append(rows, fmt.Sprintf(`UPDATE run_state SET calls = %d`, len(wants)-1))
	path := atVersion(t, 6, rows...)
	db, err := storage.OpenWriter(t.Context(), path, "the test", clock)
	if err != nil {
		t.Fatal(err)
	}
	for i, w := range wants {
		got := ask[string](t, path, fmt.Sprintf(`SELECT decision || '|' || reason || '|' || characters FROM call WHERE id = %d`, i+1))
		if got != w.decision+"|"+w.reason+"|[1,2,3,4]" {
			t.Errorf("%q became %q", w.text, got)
		}
	}
	if n, _, err := db.Calls.ConsecutiveFailures(t.Context(), annotator.PurposeSummarise, 9); err != nil || n != 1 {
		t.Errorf("%d consecutive failures (%v)", n, err)
	}
	turn, err := db.Journal.Turn(t.Context(), 1)
	if err != nil || len(turn) != 3 || turn[1].Error != "" || turn[2].Error != annotator.CallRequired {
		t.Errorf("the notes have other codes: %+v (%v)", turn, err)
	}
	next := &annotator.Trace{Turn: 1, Seq: 3, Kind: annotator.TraceNote, Scene: 1, Content: demandText, Error: annotator.CallRequired}
	if err := db.Journal.Append(t.Context(), next); err != nil {
		t.Fatal(err)
	}
	intact(t, db, "")
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	tampered(t, path, `UPDATE trace SET error = '' WHERE id = 4`)
}

// intact demands that the laws hold, but for the one of a check.
func intact(t *testing.T, db *storage.DB, broken string) {
	t.Helper()
	findings, err := db.Maintenance.Verify(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range findings {
		if (len(f.Violations) > 0) != (f.Check == broken || broken != "" && f.Check == "digests") {
			t.Errorf("%s: %v", f.Check, f.Violations)
		}
	}
}

// tampered demands that a change of the journal shows.
func tampered(t *testing.T, path, change string) {
	t.Helper()
	pool, err := sqlite.Open(t.Context(), path, sqlite.ReadWrite, 1)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = pool.Close() }()
	if _, err := pool.ExecContext(t.Context(), change); err != nil {
		t.Fatal(err)
	}
	db, err := storage.Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	intact(t, db, "journal chain")
}
