package main

import (
	"fmt"

	"annotator"
	"annotator/codex"
)

// step is what the bare loop does next: a request, or else a transaction.
type step struct {
	request    bool
	sceneEnds  bool // with this transaction
	statements []statement
}

// scripter walks the journal of a finished run and writes down the transactions in which a loop that knew all beforehand
// would leave the same rows behind, with the requests between them. The transactions are the program's; each has one
// statement for a row that it makes or changes, and one for the row of totals.
type scripter struct {
	*record
	entries map[int64]*annotator.Entry // as of the revisions taken so far
	totals  row                        // of run_state
	steps   []step
}

func scriptOf(r *record) ([]step, error) {
	s := scripter{record: r, entries: map[int64]*annotator.Entry{}, totals: row{
		"id": int64(1), "open_scene": int64(0), "turn": int64(0), "recorded": int64(0), "calls": int64(0), "prompt_tokens": int64(0),
		"cached_tokens": int64(0), "completion_tokens": int64(0), "entries": int64(0),
	}}
	for s.trace.more() {
		if err := s.next(); err != nil {
			return nil, err
		}
	}
	s.endScene()
	return s.steps, nil
}

// next takes the journal's next row, with those that were written together with it.
func (s *scripter) next() error {
	t := s.trace.peek()
	if t["turn"] != s.totals["turn"] && t["kind"] != string(annotator.TraceClose) {
		s.endScene()
	}
	switch kind := annotator.TraceKind(t["kind"].(string)); kind {
	case annotator.TraceScene:
		s.openScene(s.trace.take())
	case annotator.TraceReply:
		s.reply()
	case annotator.TraceResult, annotator.TraceUpdate:
		return s.toolRan(s.trace.take())
	case annotator.TraceCompaction:
		s.commit(s.trace.take(), insert("compaction", s.compactions.take()))
	case annotator.TraceClose:
		s.endScene()
	default:
		return fmt.Errorf("the bare loop does not know journal rows of kind %q", kind)
	}
	return nil
}

// commit ends a transaction that writes a row of the journal.
func (s *scripter) commit(t row, others ...statement) {
	s.end(t["at"], append([]statement{insert("trace", t)}, others...)...)
}

func (s *scripter) end(at any, statements ...statement) {
	s.totals["updated_at"] = at
	s.steps = append(s.steps, step{statements: append(statements, update("run_state", s.totals, "id"))})
}

func (s *scripter) count(total string, n any) {
	s.totals[total] = s.totals[total].(int64) + n.(int64)
}

func (s *scripter) openScene(t row) {
	s.totals["turn"], s.totals["open_scene"] = t["turn"], t["scene"]
	scene := s.scenes.peek()
	s.commit(t,
		update("scene", row{"n": scene["n"], "state": "open", "attempts": int64(1), "started_at": scene["started_at"]}, "n"),
		update("thread_state", row{"thread_id": scene["thread_id"], "status": "in_progress", "started_at": scene["thread_started_at"]}, "thread_id"))
}

// reply is the call as it begins, the request, and the call as it ends, with the reply and its tool calls.
func (s *scripter) reply() {
	call := s.calls.take()
	begun := row{"outcome": "open"}
	for _, column := range []string{"id", "turn", "scene", "purpose", "attempt", "estimate", "started_at"} {
		begun[column] = call[column]
	}
	s.end(call["started_at"], insert("call", begun))
	s.steps = append(s.steps, step{request: true})

	t := s.trace.take()
	var statements []statement
	for s.trace.more() && s.trace.peek()["kind"] == string(annotator.TraceCall) {
		statements = append(statements, insert("trace", s.trace.take()))
	}
	s.count("calls", int64(1))
	for _, tokens := range []string{"prompt_tokens", "cached_tokens", "completion_tokens"} {
		s.count(tokens, call[tokens])
	}
	s.commit(t, append(statements, update("call", call, "id"))...)
}

// toolRan is a tool's result with what the tool changed.
func (s *scripter) toolRan(t row) error {
	var statements []statement
	var e *annotator.Entry
	created := false
	for s.revisions.more() && s.revisions.peek()["trace_id"] == t["id"] {
		r := revisionOf(s.revisions.peek())
		if e = s.entries[r.Entry]; e == nil {
			e, created = &annotator.Entry{ID: r.Entry, Status: annotator.Tentative}, true
			s.entries[r.Entry] = e
		}
		if err := codex.Apply(e, r); err != nil {
			return fmt.Errorf("replay revision %d: %w", r.ID, err)
		}
		part, err := partOf(r)
		if err != nil {
			return err
		}
		statements = append(append(statements, insert("revision", s.revisions.take())), part...)
	}
	if e != nil {
		statements = append([]statement{s.entry(e, created, t["at"])}, statements...)
	}
	s.commit(t, statements...)
	return nil
}

// entry is an entry's own row.
func (s *scripter) entry(e *annotator.Entry, created bool, at any) statement {
	r := entryRow(e)
	r["updated_at"] = at
	if !created {
		return update("glossary_entry", r, "id")
	}
	s.count("entries", int64(1))
	r["created_at"] = at
	return insert("glossary_entry", r)
}

// endScene records the scene that is open, with the journal's closing row if it has one, and makes its checkpoint.
func (s *scripter) endScene() {
	if s.totals["open_scene"] == int64(0) {
		return
	}
	scene, snapshot := s.scenes.take(), s.snapshots.take()
	outcome := update("scene", row{"n": scene["n"], "state": scene["state"], "turn": scene["turn"], "recorded_at": scene["recorded_at"]}, "n")
	s.count("recorded", int64(1))
	if s.trace.more() && s.trace.peek()["kind"] == string(annotator.TraceClose) {
		s.commit(s.trace.take(), outcome)
	} else {
		s.end(scene["recorded_at"], outcome)
	}
	s.totals["open_scene"] = int64(0)
	statements := []statement{insert("snapshot", snapshot)}
	if scene["n"] == scene["last_scene"] {
		thread := row{"thread_id": scene["thread_id"], "status": "completed", "completed_at": scene["completed_at"]}
		statements = append(statements, update("thread_state", thread, "thread_id"))
	}
	s.end(snapshot["created_at"], statements...)
	s.steps[len(s.steps)-1].sceneEnds = true
}
