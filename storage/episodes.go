package storage

import (
	"context"
	"database/sql"
	"encoding/json"
	"iter"

	"annotator"
	"annotator/internal/sqlite"
)

// Compact records one step of compaction, which begins an epoch: the reply, the state of the window, the episodes.
func (s *Episodes) Compact(ctx context.Context, c *annotator.Compaction) error {
	return s.db.update(ctx, "compact the window", func(tx *tx) {
		if c.Reply != nil {
			tx.append(c.Reply)
			c.Call.Outcome = annotator.CallOK
			tx.endCall(c.Call, &c.Reply.ID)
		}
		tx.compact(c, 0)
	})
}

// compact commits a compaction. Only is a single turn that leaves the window, 0 for none.
func (tx *tx) compact(c *annotator.Compaction, only int64) {
	row := annotator.Trace{Kind: annotator.TraceCompaction, Content: annotator.EncodeJSON(c.State)}
	tx.append(&row)
	tx.exec(`INSERT INTO compaction (trace_id, epoch, tier, through_turn, only_turn, tokens_before, tokens_after,
		reason)
		SELECT ?, coalesce(max(epoch), 0) + 1, ?, ?, ?, ?, ?, ?
		FROM (SELECT epoch FROM compaction ORDER BY trace_id DESC LIMIT 1)`,
		row.ID, c.State.Tier, c.State.Through, only, c.Before, c.After, c.Reason)
	for _, id := range c.Gone {
		tx.execOne(`UPDATE episode SET gone = ? WHERE id = ? AND gone IS NULL`, row.ID, id)
	}
	for _, id := range c.Entered {
		tx.execOne(`UPDATE episode SET entered = ? WHERE id = ? AND entered IS NULL`, row.ID, id)
	}
	for i := range c.Episodes {
		e := &c.Episodes[i]
		e.Trace = row.ID
		tx.insertEpisode(e, e.Kind != annotator.EpisodeThread)
	}
}

// summarise records summaries that were made with a row of the journal.
func (tx *tx) summarise(s *annotator.Summaries, row int64) {
	for i := range s.Episodes {
		s.Episodes[i].Trace = row
		tx.insertEpisode(&s.Episodes[i], false)
	}
	for _, thread := range s.Missing {
		tx.execOne(`UPDATE thread_state SET unanswered = unanswered + 1 WHERE thread_id = ?`, thread)
	}
}

// dropTurn removes a single turn from the window, and changes nothing else in it.
func (tx *tx) dropTurn(turn int64, reason string) {
	c := annotator.Compaction{Reason: reason}
	content := "{}"
	tx.scan([]any{&content}, `SELECT coalesce((SELECT content FROM trace
		WHERE id = (SELECT max(trace_id) FROM compaction)), '{}')`)
	tx.fail(json.Unmarshal([]byte(content), &c.State))
	c.State.Tier = "quarantine"
	tx.compact(&c, turn)
}

// insertEpisode records an episode. It enters the window with the compaction that made it, or later.
func (tx *tx) insertEpisode(e *annotator.Episode, enters bool) {
	var entered *int64
	if enters {
		entered = &e.Trace
	}
	tx.scan([]any{&e.ID}, `INSERT INTO episode (kind, thread_id, idx, from_scene, to_scene, from_turn, to_turn, summary,
		author, supersedes, tokens, trace_id, entered, created_at)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, nullif(?, 0), ?, ?, ?, ?) RETURNING id`,
		e.Kind, e.Thread, e.Index, e.FromScene, e.ToScene, e.FromTurn, e.ToTurn, e.Summary, e.By,
		e.Supersedes, e.Tokens, e.Trace, entered, tx.now)
	if e.Kind == annotator.EpisodeThread {
		tx.exec(`UPDATE thread_state SET summary_due = 0 WHERE thread_id = ? AND summary_due = 1`, e.Thread)
	}
}

// WindowState returns the state of the window after the newest compaction up to a row of the journal (0: all). The
// compaction is unfinished if no row of a turn follows: more steps may have been due when the process ended.
func (s *Episodes) WindowState(ctx context.Context,
	through int64,
) (state annotator.WindowState, unfinished bool, err error) {
	var content string
	var row int64
	err = s.db.read.QueryRowContext(ctx, `SELECT t.id, t.content, c.tier <> 'quarantine' AND NOT EXISTS
		  (SELECT 1 FROM trace WHERE id > c.trace_id AND id <= ?1 AND turn > 0)
		FROM compaction c JOIN trace t ON t.id = c.trace_id WHERE c.trace_id <= ?1 ORDER BY c.trace_id DESC LIMIT 1`,
		RowOrLast(through)).
		Scan(&row, &content, &unfinished)
	if err == nil {
		err = json.Unmarshal([]byte(content), &state)
		state.Row = row
	}
	return state, unfinished, sqlite.Wrap(orNone(err), "read the newest compaction in %s", s.db.path)
}

// RowOrLast returns the row up to which to read; 0 means the last.
func RowOrLast(through int64) int64 {
	if through == 0 {
		return 1<<63 - 1
	}
	return through
}

// EpisodeColumns are the columns of a row that ScanEpisode scans.
const EpisodeColumns = `id, kind, thread_id, idx, from_scene, to_scene, from_turn, to_turn, summary, author,
	coalesce(supersedes, 0), tokens, trace_id,
	coalesce((SELECT ord FROM scene WHERE n = from_scene), 0), coalesce((SELECT ord FROM scene WHERE n = to_scene), 0)`

// The entries of an episode e, as a JSON array, follow from the revisions. The entries of a story so far are those with
// a revision up to its last turn, because it begins with the story. Table made has the first turn of each entry.
const (
	madeEntries = `WITH made AS MATERIALIZED (SELECT entry_id, min(turn) AS turn FROM revision WHERE turn > 0
		GROUP BY entry_id) `
	turnEntries = `(SELECT json_group_array(id ORDER BY id)
		FROM (SELECT DISTINCT r.entry_id AS id FROM revision r JOIN trace t ON t.turn = r.turn AND t.seq = 0
		JOIN scene s ON s.n = t.scene WHERE r.turn BETWEEN e.from_turn AND e.to_turn
		AND s.ord BETWEEN (SELECT ord FROM scene WHERE n = e.from_scene)
		  AND (SELECT ord FROM scene WHERE n = e.to_scene)))`
	anyEntries = `iif(e.kind = 'cumulative', (SELECT json_group_array(entry_id ORDER BY entry_id) FROM made
		WHERE turn <= e.to_turn), ` + turnEntries + `)`
)

// ScanEpisode scans a row with the columns of EpisodeColumns, without the entries.
func ScanEpisode(rows *sql.Rows, e *annotator.Episode) error { return scanEpisodeAnd(rows, e) }

// scanEpisodeAnd scans a row with more columns after those of EpisodeColumns.
func scanEpisodeAnd(rows *sql.Rows, e *annotator.Episode, more ...any) error {
	columns := []any{
		&e.ID, &e.Kind, &e.Thread, &e.Index, &e.FromScene, &e.ToScene, &e.FromTurn, &e.ToTurn, &e.Summary, &e.By,
		&e.Supersedes, &e.Tokens, &e.Trace, &e.From, &e.To,
	}
	return rows.Scan(append(columns, more...)...)
}

// scanListed scans a row with the columns of EpisodeColumns and the entries, and more columns after them.
func scanListed(rows *sql.Rows, e *annotator.Episode, more ...any) error {
	var entries string
	if err := scanEpisodeAnd(rows, e, append([]any{&entries}, more...)...); err != nil {
		return err
	}
	return json.Unmarshal([]byte(entries), &e.Entries)
}

// InForce returns the episodes in the window: the story so far, nil before the first, and the chunks, oldest first. The
// entries of the story so far are not read, because their number grows with the story.
func (s *Episodes) InForce(ctx context.Context) (story *annotator.Episode, chunks []annotator.Episode, err error) {
	const inWindow = ` FROM episode e WHERE entered IS NOT NULL AND gone IS NULL AND kind = ? ORDER BY id`
	story, err = first(readAll(ctx, s.db, "read the episodes", ScanEpisode,
		`SELECT `+EpisodeColumns+inWindow, annotator.EpisodeCumulative))
	if err != nil {
		return nil, nil, err
	}
	scan := func(rows *sql.Rows, e *annotator.Episode) error { return scanListed(rows, e) }
	chunks, err = readAll(ctx, s.db, "read the episodes", scan,
		`SELECT `+EpisodeColumns+`, `+turnEntries+inWindow, annotator.EpisodeChunk)
	return story, chunks, err
}

// At returns the episodes that the context of a snapshot has, oldest first.
func (s *Episodes) At(ctx context.Context, at *annotator.Snapshot) ([]annotator.Episode, error) {
	if at.Alone {
		return nil, nil
	}
	scan := func(rows *sql.Rows, e *annotator.Episode) error { return scanListed(rows, e) }
	return readAll(ctx, s.db, "read the episodes", scan, madeEntries+`SELECT `+EpisodeColumns+`, `+anyEntries+`
		FROM episode e
		WHERE entered <= ?1 AND (gone IS NULL OR gone > ?1) ORDER BY entered, id`, at.Trace)
}

// Newest returns the newest episode of a kind in a thread, without its entries; nil before the first. It may have left
// the window. The story so far has thread 0.
func (s *Episodes) Newest(ctx context.Context, kind annotator.EpisodeKind, thread int64) (*annotator.Episode, error) {
	return first(readAll(ctx, s.db, "read the summaries", ScanEpisode, `SELECT `+EpisodeColumns+` FROM episode
		WHERE id = (SELECT max(id) FROM episode WHERE kind = ? AND thread_id = ?)`, kind, thread))
}

// NeedNoSummary returns those of some threads that have a summary, or have not ended.
func (s *Episodes) NeedNoSummary(ctx context.Context, threads []int64) ([]int64, error) {
	return readAll(ctx, s.db, "read the summaries", ScanValue[int64], `SELECT thread_id FROM thread_state
		WHERE thread_id IN (SELECT value FROM json_each(?))
		  AND (`+summarised+`
		    OR EXISTS (SELECT 1 FROM scene l WHERE l.n = last_scene AND l.state NOT IN ('recorded', 'quarantined')))
		ORDER BY ord`, List(threads))
}

// EpisodeRow is an episode with its time, and whether it is in the window now.
type EpisodeRow struct {
	annotator.Episode
	At      int64 // unix milliseconds
	InForce bool
}

// episodePage is the number of episodes that are read at once: each story so far lists all entries.
const episodePage = 100

// All yields the episodes of a kind, or all where it is empty, also those that left the window, oldest first.
func (s *Episodes) All(ctx context.Context, kind annotator.EpisodeKind) iter.Seq2[*EpisodeRow, error] {
	scan := func(rows *sql.Rows, e *EpisodeRow) error { return scanListed(rows, &e.Episode, &e.At, &e.InForce) }
	return func(yield func(*EpisodeRow, error) bool) {
		for last, more := int64(0), true; more; {
			page, err := readAll(ctx, s.db, "read the episodes", scan,
				madeEntries+`SELECT `+EpisodeColumns+`, `+anyEntries+`, created_at,
				entered IS NOT NULL AND gone IS NULL FROM episode e WHERE id > ?1 AND (?2 = '' OR kind = ?2) ORDER BY id
				LIMIT ?3`, last, kind, episodePage)
			if err != nil {
				yield(nil, err)
				return
			}
			for i := range page {
				if last = page[i].ID; !yield(&page[i], nil) {
					return
				}
			}
			more = len(page) == episodePage
		}
	}
}

func first(found []annotator.Episode, err error) (*annotator.Episode, error) {
	if err != nil || len(found) == 0 {
		return nil, err
	}
	return &found[0], nil
}
