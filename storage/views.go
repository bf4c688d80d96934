package storage

import (
	"context"
	"database/sql"
	"iter"

	"annotator"
	"annotator/internal/sqlite"
)

// span is how many rows of the journal a view reads at a time: a reader that holds the database for long keeps its log from
// being folded.
const journalPage = 1000

// JournalRow is a row of the journal with when it was written.
type JournalRow struct {
	annotator.Trace
	At int64 // unix milliseconds
}

// Rows yields the rows of the journal in order: those of one turn, or all where it is 0.
func (s *Journal) Rows(ctx context.Context, turn int64) iter.Seq2[*JournalRow, error] {
	scan := func(rows *sql.Rows, e *JournalRow) error { return scanTraceAnd(rows, &e.Trace, &e.At) }
	return pages(ctx, s.db, turn, scan, `SELECT `+traceColumns+`, at FROM trace WHERE id BETWEEN ? AND ? AND (?3 = 0 OR turn = ?3) ORDER BY id`)
}

// EpisodeRow is an episode with when it was written, and whether it stands in the window now.
type EpisodeRow struct {
	annotator.Episode
	At      int64 // unix milliseconds
	InForce bool
}

// Rows returns all episodes that ever were, oldest first.
func (s *Episodes) Rows(ctx context.Context) ([]EpisodeRow, error) {
	scan := func(rows *sql.Rows, e *EpisodeRow) error { return scanEpisodeAnd(rows, &e.Episode, &e.At, &e.InForce) }
	all, err := collect(ctx, s.db.read, scan, `SELECT `+episodeColumns+`, created_at, gone IS NULL FROM episode ORDER BY id`)
	return all, sqlite.Wrap(err, "read the episodes in %s", s.db.path)
}

// InteractionStatus says what came of a tool call.
type InteractionStatus string

// The states of an interaction.
const (
	Pending InteractionStatus = "PENDING" // it has no result yet
	Success InteractionStatus = "SUCCESS"
	Failed  InteractionStatus = "ERROR"
)

// Interaction is a tool call together with its result.
type Interaction struct {
	Trace     int64             `json:"id"` // of the call's row
	CallID    string            `json:"tool_call_id"`
	Turn      int64             `json:"turn_id"`
	Scene     int               `json:"scene"`
	Tool      string            `json:"tool_name"`
	Arguments string            `json:"arguments"` // as the model wrote them
	Result    string            `json:"result"`    // empty while there is none
	Error     string            `json:"error"`     // the error's code; empty where there is none
	Status    InteractionStatus `json:"status"`
}

// Interactions yields the tool calls with their results, in order: those of one turn, or all where it is 0. What a text reply
// asked for counts as a call.
func (s *Journal) Interactions(ctx context.Context, turn int64) iter.Seq2[*Interaction, error] {
	scan := func(rows *sql.Rows, i *Interaction) error {
		return rows.Scan(&i.Trace, &i.CallID, &i.Turn, &i.Scene, &i.Tool, &i.Arguments, &i.Result, &i.Error, &i.Status)
	}
	return pages(ctx, s.db, turn, scan, `SELECT call_trace, call_id, turn, scene, tool_name, arguments, coalesce(result, ''), coalesce(error, ''), status
		FROM tool_interaction WHERE call_trace BETWEEN ? AND ? AND (?3 = 0 OR turn = ?3) ORDER BY call_trace`)
}

// spans yields what a query finds in the journal: in the rows of one turn, or in all where it is 0. The query takes the first
// and the last row of a span, the turn, and the arguments.
func pages[T any](ctx context.Context, db *DB, turn int64, scan func(*sql.Rows, *T) error, query string, arguments ...any) iter.Seq2[*T, error] {
	return func(yield func(*T, error) bool) {
		var first, last int64
		err := db.read.QueryRowContext(ctx, `SELECT coalesce(min(id), 1), coalesce(max(id), 0) FROM trace WHERE turn = ?1 OR ?1 = 0`, turn).Scan(&first, &last)
		for ; err == nil && first <= last; first += journalPage {
			var rows []T
			rows, err = collect(ctx, db.read, scan, query, append([]any{first, min(first+journalPage-1, last), turn}, arguments...)...)
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

// Provenance says in which turns a claim came to be what it is, its evidence included, and when it last changed.
type Provenance struct {
	Turns   []int64 // in order, each once
	Changed int64   // unix milliseconds
}

// ClaimKey names a claim: the entry's id, and the claim's within it.
type ClaimKey struct{ Entry, Claim int64 }

// ClaimProvenance tells of every claim how it was made.
func (s *History) ClaimProvenance(ctx context.Context) (map[ClaimKey]Provenance, error) {
	makings := map[ClaimKey]Provenance{}
	err := each(ctx, s.db.read, func(rows *sql.Rows) error {
		var key ClaimKey
		var turn, changed int64
		if err := rows.Scan(&key.Entry, &key.Claim, &turn, &changed); err != nil {
			return err
		}
		m := makings[key]
		if n := len(m.Turns); n == 0 || m.Turns[n-1] != turn {
			m.Turns = append(m.Turns, turn)
		}
		m.Changed = changed
		makings[key] = m
		return nil
	}, `SELECT entry_id, coalesce(new_value ->> 'claim', new_value ->> 'id'), turn, changed_at FROM revision
		WHERE field IN ('claim', 'evidence') AND new_value <> '' ORDER BY id`)
	return makings, sqlite.Wrap(err, "read the revisions in %s", s.db.path)
}
