package storage

import (
	"context"

	"annotator"
	"annotator/internal/sqlite"
)

// Yield is what the scenes that were read have brought, over the whole run.
type Yield struct {
	Scenes  int  // recorded, for which the model was asked
	Left    int  // scenes without an outcome
	Offline bool // by the offline model, which makes no call only where a text has no names
	Replied int  // scenes in which the model replied, refused ones included; counted only while there is no call
	Entries int  // ever made
	// Called reports whether a reply made a tool call or had an element in codex_updates, with success or without.
	Called   bool
	Accepted bool   // a tool call succeeded; the declaration of an intent is not counted
	Refused  int    // tool calls that failed; counted only while none succeeded
	Code     string // of the newest of these
}

// Yield reads it. Offline is the name of the offline model's endpoint.
func (s *Run) Yield(ctx context.Context, offline string) (Yield, error) {
	var y Yield
	const calls = `FROM trace WHERE kind IN ('tool_result', 'update') AND tool <> 'select_active_intent'`
	err := s.db.read.QueryRowContext(ctx, `SELECT (SELECT count(*) FROM scene WHERE state = 'recorded' AND turn > 0),
		(SELECT count(*) FROM scene WHERE state IN ('pending', 'open')), (SELECT count(*) FROM entry),
		(SELECT endpoint = ? FROM run_state), EXISTS (SELECT 1 FROM trace WHERE kind IN ('tool_call', 'update')),
		EXISTS (SELECT 1 `+calls+` AND error = '')`,
		offline).Scan(&y.Scenes, &y.Left, &y.Entries, &y.Offline, &y.Called, &y.Accepted)
	if err == nil && !y.Called {
		err = s.db.read.QueryRowContext(ctx, `SELECT count(DISTINCT scene) FROM trace
			WHERE kind = 'reply'`).Scan(&y.Replied)
	}
	if err == nil && !y.Accepted {
		err = s.db.read.QueryRowContext(ctx,
			`SELECT count(*), coalesce((SELECT error `+calls+` ORDER BY id DESC LIMIT 1), '') `+calls).
			Scan(&y.Refused, &y.Code)
	}
	return y, sqlite.Wrap(err, "read what the run has brought in %s", s.db.path)
}

// How much is read before a run is said to bring nothing.
const (
	suspiciousRefusals = 3 // tool calls
	suspiciousScenes   = 20
	suspiciousReplies  = 3 // scenes with replies, none of which makes a call; a story of one or two may need none
)

// Warning returns what shows that the run brings nothing, with the reason; nil while there is no sign of that.
func (y *Yield) Warning() error {
	switch {
	case y.silent():
		return annotator.Errorf(annotator.NoCalls,
			"no reply of the model has made a tool call, in %d scenes of this run", y.Replied)
	case !y.Accepted && (y.Refused >= suspiciousRefusals || y.Refused > 0 && y.Left == 0):
		return annotator.Errorf(annotator.NoCalls,
			"every tool call of this run was refused: %d so far, the newest with %s", y.Refused, y.Code).
			WithReason(annotator.ReasonCallsRefused)
	case y.Entries == 0 && y.Scenes >= suspiciousScenes:
		return annotator.Errorf(annotator.NoCalls, "%d scenes were read, and no entry was made", y.Scenes).
			WithReason(annotator.ReasonNoEntries)
	}
	return nil
}

// NoCalls reports whether the run has read its story to the end, and the model replied in a few scenes and never made a
// call. Scenes that needed no reply do not count, and neither do those for which the server gave none.
func (y *Yield) NoCalls() bool { return y.Left == 0 && y.silent() }

func (y *Yield) silent() bool { return y.Replied >= suspiciousReplies && !y.Called && !y.Offline }

// Sound reports whether Warning stays nil whatever comes.
func (y *Yield) Sound() bool { return y.Accepted && y.Entries > 0 }
