package storage

import (
	"cmp"
	"context"
	"database/sql"
	"iter"

	"annotator"
	"annotator/internal/sqlite"
)

// InteractionStatus is how far a tool call is.
type InteractionStatus string

// The states of an interaction.
const (
	Pending InteractionStatus = "PENDING" // it has no result yet
	Success InteractionStatus = "SUCCESS"
	Failed  InteractionStatus = "ERROR"
)

// Interaction is a tool call with its result.
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

// Interactions yields the tool calls with their results, in order. They are those of one turn, or all if turn is 0. The
// items of a text reply's codex updates count as calls.
func (s *Journal) Interactions(ctx context.Context, turn int64) iter.Seq2[*Interaction, error] {
	scan := func(rows *sql.Rows, i *Interaction) error {
		return rows.Scan(&i.Trace, &i.CallID, &i.Turn, &i.Scene, &i.Tool, &i.Arguments, &i.Result, &i.Error, &i.Status)
	}
	return pages(ctx, s.db, turn, scan,
		`SELECT call_trace, call_id, turn, scene, tool_name, arguments, coalesce(result, ''), coalesce(error, ''),
			status
		FROM tool_interaction WHERE call_trace BETWEEN ? AND ? AND (?3 = 0 OR turn = ?3) ORDER BY call_trace`)
}

// Verdict is the decision of the policy about a tool call.
type Verdict string

// The verdicts.
const (
	Allow     Verdict = "allow"
	Deny      Verdict = "deny"       // it did not run
	WouldDeny Verdict = "would_deny" // it ran, since the policy is only observed
)

// ToolDecision is what the policy decided about a tool call before it ran. It commits with the row of the result.
type ToolDecision struct {
	Mode    string  `json:"mode"`
	Intent  string  `json:"intent"` // that was in force; empty for none
	Verdict Verdict `json:"verdict"`
	Rule    string  `json:"rule"`   // the code of a denial; empty where the call is allowed
	Reason  string  `json:"reason"` // why, in the words that the model got
}

// appendResult appends the result of a call, with the decision about the call, if there is one.
func (tx *tx) appendResult(row *annotator.Trace, d *ToolDecision) {
	tx.append(row)
	if d != nil && d.Verdict != "" {
		tx.execOne(`INSERT INTO tool_decision (trace_id, mode, intent, verdict, rule, reason)
			VALUES (?, ?, ?, ?, ?, ?)`,
			row.ID, d.Mode, d.Intent, d.Verdict, d.Rule, d.Reason)
	}
}

// RunTool runs a tool in the transaction that records its result: both commit, or neither. The caller sets kind, turn,
// seq, scene, call id and tool of the row. The tool sets the rest, and works on the given glossary. If the tool breaks
// a constraint of the schema, its transaction is rolled back. Then fallback completes the row, and another transaction
// records it. A savepoint is not used, because SQLite would copy every page that a tool changes. The decision about the
// call, which the tool may still change, commits with the row; nil for none.
func (s *Journal) RunTool(ctx context.Context, row *annotator.Trace, decision *ToolDecision,
	run func(*Glossary, *annotator.Trace) error, fallback func(*annotator.Trace, error),
) error {
	asked := *row
	var cause error
	err := s.db.update(ctx, "run "+row.Tool, func(tx *tx) {
		cause = run(&Glossary{q: tx, path: s.db.path, tx: tx, turn: row.Turn}, row)
		tx.fail(cause)
		tx.appendResult(row, decision)
	})
	if !sqlite.IsConstraint(err) {
		return err
	}
	*row = asked
	fallback(row, cmp.Or(cause, err))
	return s.db.update(ctx, "record the failure of "+row.Tool, func(tx *tx) { tx.appendResult(row, decision) })
}

// Audited is a tool call with its result, the decision about it, and the revisions that it made.
type Audited struct {
	Interaction
	Decision  *ToolDecision // nil where nothing governed it
	Revisions []annotator.Revision

	result int64 // id of the result's row; 0 where there is none
}

// AuditFilter narrows an audit. The zero value narrows nothing.
type AuditFilter struct {
	Scene  int    // only its calls
	Tool   string // only calls of the tool of this name
	Intent string // only calls under the declared intent of this name; NoIntent: only those without one
	Denied bool   // only calls that were denied, or would have been
}

// NoIntent selects calls before which no intent was declared.
const NoIntent = "-"

const (
	// AuditQuery is a query whose rows ScanAudited scans.
	AuditQuery = `SELECT call_trace, call_id, i.turn, i.scene, tool_name, arguments, coalesce(result, ''),
		coalesce(error, ''), status, coalesce(result_trace, 0),
		coalesce(mode, ''), coalesce(intent, ''), coalesce(verdict, ''), coalesce(rule, ''), coalesce(reason, '')
		FROM tool_interaction i LEFT JOIN tool_decision d ON d.trace_id = i.result_trace`
	// AuditConditions holds for the calls that an AuditFilter lets through. ?4 to ?7 are its fields.
	AuditConditions = `(?4 = 0 OR i.scene = ?4) AND (?5 = '' OR i.tool_name = ?5) AND (?6 = 0 OR verdict <> 'allow')
		AND (?7 = '' OR coalesce(intent, '') = iif(?7 = '` + NoIntent + `', '', ?7))`
)

// Audit yields the tool calls in order, as Interactions does for the whole journal.
func (s *Journal) Audit(ctx context.Context, f AuditFilter) iter.Seq2[*Audited, error] {
	calls := pages(ctx, s.db, 0, ScanAudited, AuditQuery+` WHERE call_trace BETWEEN ? AND ? AND (?3 = 0 OR i.turn = ?3)
		AND `+AuditConditions+` ORDER BY call_trace`, f.Scene, f.Tool, f.Denied, f.Intent)
	return func(yield func(*Audited, error) bool) {
		for call, err := range calls {
			if err == nil {
				err = s.RevisionsOf(ctx, call)
			}
			if !yield(call, err) || err != nil {
				return
			}
		}
	}
}

// RevisionsOf reads the revisions that a call made.
func (s *Journal) RevisionsOf(ctx context.Context, call *Audited) (err error) {
	if call.Status == Success {
		call.Revisions, err = collect(ctx, s.db.read, ScanRevision,
			Revisions+` WHERE r.turn = ? AND r.trace_id = ? ORDER BY r.id`, call.Turn, call.result)
	}
	return err
}

// ScanAudited scans a row of AuditQuery.
func ScanAudited(rows *sql.Rows, a *Audited) error {
	var d ToolDecision
	err := rows.Scan(&a.Trace, &a.CallID, &a.Turn, &a.Scene, &a.Tool, &a.Arguments, &a.Result, &a.Error, &a.Status,
		&a.result, &d.Mode, &d.Intent, &d.Verdict, &d.Rule, &d.Reason)
	if d.Verdict != "" {
		a.Decision = &d
	}
	return err
}
