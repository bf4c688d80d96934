package storage

import (
	"context"
	"database/sql"
	"iter"

	"annotator"
	"annotator/internal/sqlite"
)

// viewPage is how many rows a view reads at a time: a reader that holds the database for long keeps its log from being folded.
const viewPage = 500

// JournalRow is a row of the journal with when it was written.
type JournalRow struct {
	annotator.Trace
	At int64 // unix milliseconds
}

// Journal yields the rows of the journal in order: those of one turn, or all where it is 0.
func (db *DB) Journal(ctx context.Context, turn int64) iter.Seq2[*JournalRow, error] {
	scan := func(rows *sql.Rows, e *JournalRow) error { return scanTraceAnd(rows, &e.Trace, &e.At) }
	return paged(func(last int64) ([]JournalRow, error) {
		found, err := collect(ctx, db.read, scan, `SELECT `+traceColumns+`, at FROM trace WHERE id > ? AND (?2 = 0 OR turn = ?2) ORDER BY id LIMIT ?`,
			last, turn, viewPage)
		return found, sqlite.Wrap(err, "read the journal in %s", db.path)
	}, func(e *JournalRow) int64 { return e.ID })
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
func (db *DB) Interactions(ctx context.Context, turn int64) iter.Seq2[*Interaction, error] {
	scan := func(rows *sql.Rows, i *Interaction) error {
		return rows.Scan(&i.Trace, &i.CallID, &i.Turn, &i.Scene, &i.Tool, &i.Arguments, &i.Result, &i.Error, &i.Status)
	}
	return paged(func(last int64) ([]Interaction, error) {
		found, err := collect(ctx, db.read, scan, `SELECT call_trace, call_id, turn, scene, tool_name, arguments, coalesce(result, ''), coalesce(error, ''), status
			FROM tool_interaction WHERE call_trace > ? AND (?2 = 0 OR turn = ?2) ORDER BY call_trace LIMIT ?`, last, turn, viewPage)
		return found, sqlite.Wrap(err, "read the tool calls in %s", db.path)
	}, func(i *Interaction) int64 { return i.Trace })
}

// paged yields rows that are read some hundreds at a time, each page after the id that the former ended with.
func paged[T any](read func(last int64) ([]T, error), id func(*T) int64) iter.Seq2[*T, error] {
	return func(yield func(*T, error) bool) {
		for last := int64(0); ; {
			rows, err := read(last)
			if err != nil {
				yield(nil, err)
				return
			}
			for i := range rows {
				last = id(&rows[i])
				if !yield(&rows[i], nil) {
					return
				}
			}
			if len(rows) < viewPage {
				return
			}
		}
	}
}

// Making says in which turns a claim came to be what it is, its evidence included, and when it last changed.
type Making struct {
	Turns   []int64 // in order, each once
	Changed int64   // unix milliseconds
}

// ClaimKey names a claim: the entry's id, and the claim's within it.
type ClaimKey struct{ Entry, Claim int64 }

// Makings tells of every claim how it was made.
func (db *DB) Makings(ctx context.Context) (map[ClaimKey]Making, error) {
	makings := map[ClaimKey]Making{}
	err := each(ctx, db.read, func(rows *sql.Rows) error {
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
	return makings, sqlite.Wrap(err, "read the revisions in %s", db.path)
}
