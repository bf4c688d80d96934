package storage

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"strconv"

	"annotator"
	"annotator/internal/sqlite"
)

// append appends a row to the journal. The row gets the next id, and the hash that chains it to the row before.
func (tx *tx) append(row *annotator.Trace) {
	row.ID = tx.head.trace + 1
	if row.Turn == 0 {
		row.Seq = int(row.ID) // outside a turn nothing else numbers the rows
	}
	shows, err := encodeShows(row.Shows)
	tx.fail(err)
	parsed := encodeParsed(row)
	hash := chain(tx.head.hash, row, shows, parsed)
	tx.exec(`INSERT INTO trace (id, turn, seq, kind, scene, content, attached, reasoning, call_id, tool, arguments,
		error, tokens, shows, parsed, hash, at)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
		row.ID, row.Turn, row.Seq, row.Kind, row.Scene, row.Content, row.Attached, row.Reasoning, row.CallID, row.Tool,
		row.Arguments, row.Error, row.Tokens, shows, parsed, hash, tx.now)
	tx.head.trace, tx.head.hash = row.ID, hash
	if row.Turn > 0 && row.Seq == 0 {
		tx.see(row.Scene)
	}
}

// see records that a scene was read.
func (tx *tx) see(scene int) {
	var order annotator.Order
	tx.scan([]any{&order}, `SELECT ord FROM scene WHERE n = ?`, scene)
	tx.head.seen = max(tx.head.seen, order)
}

// chain returns the hash of a row and of all rows before it. It detects a changed byte, which SQLite's check does not.
func chain(former []byte, row *annotator.Trace, shows, parsed string) []byte {
	h := sha256.New()
	h.Write(former)
	var b [8]byte
	for _, n := range []int64{row.ID, row.Turn, int64(row.Seq), int64(row.Scene), int64(row.Tokens)} {
		binary.BigEndian.PutUint64(b[:], uint64(n))
		h.Write(b[:])
	}
	for _, text := range []string{
		string(row.Kind), row.Content, row.Attached, row.Reasoning, row.CallID, row.Tool, row.Arguments, row.Error,
		shows, parsed,
	} {
		binary.BigEndian.PutUint64(b[:], uint64(len(text)))
		h.Write(b[:])
		h.Write([]byte(text))
	}
	return h.Sum(nil)
}

func encodeShows(shows []annotator.Shown) (string, error) {
	if len(shows) == 0 {
		return "", nil
	}
	text, err := json.Marshal(shows)
	return string(text), err
}

// TraceColumns are the columns of a row of the journal that ScanTrace scans.
const TraceColumns = `id, turn, seq, kind, scene, content, attached, reasoning, call_id, tool, arguments, error, tokens,
	shows, parsed`

// ScanTrace scans a row with the columns TraceColumns.
func ScanTrace(rows *sql.Rows, t *annotator.Trace) error { return scanTraceAnd(rows, t) }

// scanTraceAnd scans a row with more columns after those of TraceColumns.
func scanTraceAnd(rows *sql.Rows, t *annotator.Trace, more ...any) error {
	var shows, parsed string
	columns := []any{
		&t.ID, &t.Turn, &t.Seq, &t.Kind, &t.Scene, &t.Content, &t.Attached, &t.Reasoning, &t.CallID, &t.Tool,
		&t.Arguments, &t.Error, &t.Tokens, &shows, &parsed,
	}
	err := rows.Scan(append(columns, more...)...)
	if err == nil && shows != "" {
		err = json.Unmarshal([]byte(shows), &t.Shows)
	}
	if err == nil && parsed != "" {
		err = decodeParsed(t, parsed)
	}
	return err
}

// Window returns the rows of the turns that are in the window, in order, up to row through (0: all). The cost depends
// on the size of the window, not of the journal.
func (s *Journal) Window(ctx context.Context, through int64) ([]annotator.Trace, error) {
	// The bounds on turn are what makes it a read of an index's range; only_turn <> 0 lets the partial index be used.
	return readAll(ctx, s.db, "read the journal", ScanTrace, `SELECT `+TraceColumns+` FROM trace t
		WHERE id <= ?1
		  AND turn > coalesce((SELECT through_turn FROM compaction WHERE trace_id <= ?1
		    ORDER BY trace_id DESC LIMIT 1), 0)
		  AND turn <= (SELECT turn FROM trace WHERE id <= ?1 AND turn > 0 ORDER BY id DESC LIMIT 1)
		  AND NOT EXISTS (SELECT 1 FROM compaction WHERE only_turn = t.turn AND only_turn <> 0 AND trace_id <= ?1)
		ORDER BY turn, seq`, RowOrLast(through))
}

// Turn returns the rows of one turn, in order.
func (s *Journal) Turn(ctx context.Context, turn int64) ([]annotator.Trace, error) {
	return readAll(ctx, s.db, fmt.Sprintf("read turn %d", turn), ScanTrace,
		`SELECT `+TraceColumns+` FROM trace WHERE turn = ? ORDER BY seq`, turn)
}

// Prompt is a system prompt with its tools, as they are sent to the model.
type Prompt struct {
	ID           int64
	Hash         string // of all but the settings
	SystemPrompt string
	Tools        string // as tools.EncodeDefinitions writes them
	Workarounds  string // that the chat template needs, as model.Workarounds.Rendering names them
	Settings     string // what the user chose that shapes both, as JSON
}

// HashPrompt is the SHA-256 of a system prompt with its recorded tools and the workarounds, in 64 hexadecimal digits.
func HashPrompt(system, tools, workarounds string) string {
	hash := sha256.New()
	fmt.Fprintf(hash, "%d %s%s", len(system), system, tools)
	if workarounds != "" { // none adds nothing to the hash
		fmt.Fprintf(hash, "\n%s", workarounds)
	}
	return hex.EncodeToString(hash.Sum(nil))
}

// UsePrompt records the system prompt and tools that are in use from here on, unless they are already.
func (s *Journal) UsePrompt(ctx context.Context, p Prompt) error {
	run, err := s.db.Run.Status(ctx)
	if err != nil || run.Prompt.Hash == p.Hash && run.Prompt.Settings == p.Settings {
		return err
	}
	return s.db.update(ctx, "record the prompt", func(tx *tx) {
		id := tx.insertPrompt(&p)
		if run.Prompt.Hash != p.Hash {
			tx.execOne(`UPDATE run_state SET context_id = ?`, id)
			tx.append(&annotator.Trace{Kind: annotator.TracePrompt, Content: strconv.FormatInt(id, 10)})
		}
	})
}

// insertPrompt records a prompt unless there is one of its hash, and returns its id.
func (tx *tx) insertPrompt(p *Prompt) (id int64) {
	tx.scan([]any{&id}, `INSERT INTO snapshot_context (hash, system_prompt, tools, workarounds, settings, created_at)
		VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (hash) DO UPDATE SET settings = excluded.settings RETURNING id`,
		p.Hash, p.SystemPrompt, p.Tools, p.Workarounds, p.Settings, tx.now)
	return id
}

// Append appends a row to the journal that is neither a reply nor the result of a tool. It sets the row's id.
func (s *Journal) Append(ctx context.Context, row *annotator.Trace) error {
	return s.db.update(ctx, "write the journal", func(tx *tx) { tx.append(row) })
}

// AppendOnce appends a row outside any turn, unless the journal ends with it because a killed process has appended it.
func (s *Journal) AppendOnce(ctx context.Context, row *annotator.Trace) error {
	ends, err := s.endsWith(ctx, row)
	if err != nil || ends {
		return err
	}
	return s.Append(ctx, row)
}

// endsWith reports whether the newest row of the journal is a row outside any turn, and then sets the row's id.
func (s *Journal) endsWith(ctx context.Context, row *annotator.Trace) (bool, error) {
	var kind annotator.TraceKind
	var content string
	err := s.db.read.QueryRowContext(ctx, `SELECT kind, content FROM trace WHERE id = ? AND turn = 0`,
		s.db.head.trace).Scan(&kind, &content)
	if err == nil && kind == row.Kind && content == row.Content {
		row.ID = s.db.head.trace
		return true, nil
	}
	return false, sqlite.Wrap(orNone(err), "read the end of the journal in %s", s.db.path)
}

// AnswerTo returns a question outside any turn by its row, and the reply to it; empty where there is none.
func (s *Journal) AnswerTo(ctx context.Context, question int64) (text, reply string, err error) {
	err = s.db.read.QueryRowContext(ctx, `SELECT q.content, coalesce(a.content, '') FROM trace q
		LEFT JOIN trace a ON a.kind = 'reply'
		AND a.id = (SELECT id FROM trace WHERE id > q.id AND turn = 0 AND kind IN ('reply', 'note') ORDER BY id LIMIT 1)
		WHERE q.id = ?`, question).
		Scan(&text, &reply)
	return text, reply, sqlite.Wrap(err, "read row %d in %s", question, s.db.path)
}

// Prompt returns a system prompt with its tools; NotFound if there is none of that id.
func (s *Journal) Prompt(ctx context.Context, id int64) (Prompt, error) {
	c := Prompt{ID: id}
	err := s.db.read.QueryRowContext(ctx, `SELECT hash, system_prompt, tools, workarounds FROM snapshot_context
		WHERE id = ?`, id).
		Scan(&c.Hash, &c.SystemPrompt, &c.Tools, &c.Workarounds)
	if errors.Is(err, sql.ErrNoRows) {
		return c, annotator.Errorf(annotator.NotFound, "there is no prompt %d in %s", id, s.db.path)
	}
	return c, sqlite.Wrap(err, "read prompt %d in %s", id, s.db.path)
}

// journalPage is the number of rows of a page. A reader with one statement open for long would stop CheckpointWAL.
const journalPage = 1000

// JournalRow is a row of the journal with its time.
type JournalRow struct {
	annotator.Trace
	At int64 // unix milliseconds
}

// Rows yields the rows of the journal in order: those of one turn, or all where it is 0.
func (s *Journal) Rows(ctx context.Context, turn int64) iter.Seq2[*JournalRow, error] {
	scan := func(rows *sql.Rows, e *JournalRow) error { return scanTraceAnd(rows, &e.Trace, &e.At) }
	return pages(ctx, s.db, turn, scan, `SELECT `+TraceColumns+`, at FROM trace
		WHERE id BETWEEN ? AND ? AND (?3 = 0 OR turn = ?3) ORDER BY id`)
}

// pages runs a query for one page of the journal after another, and yields its results. It reads the rows of one turn;
// for turn 0, all rows. The parameters of the query are the first and last row of the page, the turn, and the
// arguments.
func pages[T any](ctx context.Context, db *DB, turn int64, scan func(*sql.Rows, *T) error, query string,
	arguments ...any,
) iter.Seq2[*T, error] {
	return func(yield func(*T, error) bool) {
		var first, last int64
		err := db.read.QueryRowContext(ctx, `SELECT coalesce(min(id), 1), coalesce(max(id), 0) FROM trace
			WHERE turn = ?1 OR ?1 = 0`, turn).Scan(&first, &last)
		for ; err == nil && first <= last; first += journalPage {
			var rows []T
			rows, err = collect(ctx, db.read, scan, query,
				append([]any{first, min(first+journalPage-1, last), turn}, arguments...)...)
			for i := range rows {
				if !yield(&rows[i], nil) {
					return
				}
			}
		}
		if err != nil {
			yield(nil, sqlite.Wrap(err, "read the journal in %s", db.path))
		}
	}
}

// SeveralCalls reports whether a reply has several calls. It looks at the given number of turns before a turn.
func (s *Journal) SeveralCalls(ctx context.Context, turn int64, turns int) (bool, error) {
	found, err := readAll(ctx, s.db, "read the newest turns", ScanValue[int64], `SELECT a.turn FROM trace a
		JOIN trace b ON b.turn = a.turn AND b.seq = a.seq + 1
		WHERE a.turn BETWEEN ?1 - ?2 AND ?1 - 1 AND a.turn > 0 AND a.kind = 'tool_call' AND b.kind = 'tool_call'
		LIMIT 1`, turn, turns)
	return len(found) > 0, err
}
