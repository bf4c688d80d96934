package storage

import (
	"context"
	"database/sql"
	"iter"

	"annotator"
)

// Verdict is what was decided of a tool call.
type Verdict string

// The verdicts.
const (
	Allow     Verdict = "allow"
	Deny      Verdict = "deny"       // it did not run
	WouldDeny Verdict = "would_deny" // it ran, since the policy is only observed
)

// ToolDecision is what was decided of a tool call before it ran. It commits with the row of the result.
type ToolDecision struct {
	Mode    string  `json:"mode"`
	Intent  string  `json:"intent"` // that was in force; empty for none
	Verdict Verdict `json:"verdict"`
	Rule    string  `json:"rule"`   // the code of a denial; empty where the call is allowed
	Reason  string  `json:"reason"` // why, in the words that the model got
}

// insertDecision writes down what was decided of the call that a row answers; nothing where nothing was.
func (tx *tx) insertDecision(row *annotator.Trace, d *ToolDecision) error {
	if d == nil || d.Verdict == "" {
		return nil
	}
	return tx.execOne(`INSERT INTO tool_decision (trace_id, mode, intent, verdict, rule, reason) VALUES (?, ?, ?, ?, ?, ?)`,
		row.ID, d.Mode, d.Intent, d.Verdict, d.Rule, d.Reason)
}

// appendResult writes the row that answers a call, with what was decided of it.
func (tx *tx) appendResult(row *annotator.Trace, d *ToolDecision) error {
	if err := tx.append(row); err != nil {
		return err
	}
	return tx.insertDecision(row, d)
}

// Audited is a tool call with its result, what was decided of it, and what it changed.
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
	Denied bool   // only calls that were denied, or would have been
}

// Audit yields the tool calls in order, as Interactions does for the whole journal.
func (s *Journal) Audit(ctx context.Context, f AuditFilter) iter.Seq2[*Audited, error] {
	calls := pages(ctx, s.db, 0, scanAudited, `SELECT call_trace, call_id, i.turn, i.scene, tool_name, arguments, coalesce(result, ''), coalesce(error, ''), status,
		coalesce(result_trace, 0), coalesce(mode, ''), coalesce(intent, ''), coalesce(verdict, ''), coalesce(rule, ''), coalesce(reason, '')
		FROM tool_interaction i LEFT JOIN tool_decision d ON d.trace_id = i.result_trace
		WHERE call_trace BETWEEN ? AND ? AND (?3 = 0 OR i.turn = ?3) AND (?4 = 0 OR i.scene = ?4) AND (?5 = '' OR i.tool_name = ?5)
		  AND (?6 = 0 OR verdict <> 'allow') ORDER BY call_trace`, f.Scene, f.Tool, f.Denied)
	return func(yield func(*Audited, error) bool) {
		for call, err := range calls {
			if err == nil && call.Status == Success {
				call.Revisions, err = s.madeBy(ctx, call.result)
			}
			if !yield(call, err) || err != nil {
				return
			}
		}
	}
}

func scanAudited(rows *sql.Rows, a *Audited) error {
	var d ToolDecision
	err := rows.Scan(&a.Trace, &a.CallID, &a.Turn, &a.Scene, &a.Tool, &a.Arguments, &a.Result, &a.Error, &a.Status,
		&a.result, &d.Mode, &d.Intent, &d.Verdict, &d.Rule, &d.Reason)
	if d.Verdict != "" {
		a.Decision = &d
	}
	return err
}

// madeBy returns the revisions that committed with a row of the journal.
func (s *Journal) madeBy(ctx context.Context, row int64) ([]annotator.Revision, error) {
	return collect(ctx, s.db.read, scanRevision, `SELECT `+revisionColumns+` FROM revision WHERE trace_id = ? ORDER BY id`, row)
}

// OfScene returns the revisions that a scene has made so far, in order: those of the turn at hand, and of earlier ones in which it was
// refused.
func (g *Glossary) OfScene(ctx context.Context, scene int, turn int64) ([]annotator.Revision, error) {
	return collect(ctx, g.q, scanRevision, `SELECT `+revisionColumns+` FROM revision
		WHERE turn = ?2 OR turn IN (SELECT turn FROM refusal WHERE scene = ?1 AND turn > 0) ORDER BY id`, scene, turn)
}
