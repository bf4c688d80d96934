package main

import (
	"database/sql"
	"testing"
)

// replayFigure is a figure of a replayed run that needs no judge, with its bound.
type replayFigure struct {
	name  string
	query string // of a share, or of an amount per something
	least bool   // the bound is the least value, else the most
	bound float64
}

// quotedTwice are facts whose quotation and text a live entry's fact has, too.
const quotedTwice = `SELECT count(DISTINCT c.entry_id || '/' || c.id) FROM claim c
	JOIN evidence v ON v.entry_id = c.entry_id AND v.claim_id = c.id
	JOIN evidence w ON w.post_id = v.post_id AND w.start_at = v.start_at AND w.end_at = v.end_at
	  AND w.entry_id <> v.entry_id
	JOIN claim d ON d.entry_id = w.entry_id AND d.id = w.claim_id AND d.text = c.text
	JOIN entry e ON e.id = c.entry_id AND e.name IS NOT NULL JOIN entry f ON f.id = d.entry_id AND f.name IS NOT NULL
	WHERE c.until_at = 0 AND d.until_at = 0`

// endedHolders are open states that link an entry that was retired, by a name that no live entry has.
const endedHolders = `SELECT count(*) FROM claim c JOIN entry e ON e.id = c.entry_id AND e.name IS NOT NULL
	WHERE c.state AND c.until_at = 0 AND EXISTS (SELECT 1 FROM glossary_alias a JOIN entry g ON g.id = a.entry_id
	  WHERE g.status = 'retired' AND (c.text LIKE '%[[' || a.name || ']]%' OR c.text LIKE '%[[' || a.name || '|%')
	    AND NOT EXISTS (SELECT 1 FROM glossary_alias b JOIN entry h ON h.id = b.entry_id
	      WHERE b.name_normalized = a.name_normalized AND h.name IS NOT NULL))`

const editCalls = `FROM trace c JOIN trace r ON r.call_id = c.call_id AND r.kind = 'tool_result' AND r.call_id <> ''
	WHERE c.kind = 'tool_call' AND c.tool IN ('glossary_create', 'glossary_update', 'glossary_delete')`

// replayFigures are those of the recording in testdata. The bounds leave little room: a change that moves a figure
// beyond one is to be looked at.
var replayFigures = []replayFigure{
	{"scenes with edits of which one says done", `SELECT (SELECT count(DISTINCT c.turn) ` + editCalls + `
		AND json_valid(c.arguments) AND c.arguments ->> '$.done') * 1.0 /
		(SELECT count(DISTINCT c.turn) ` + editCalls + `)`, true, .95},
	{"edits that were refused", `SELECT (SELECT count(*) ` + editCalls + ` AND r.error <> '') * 1.0 /
		(SELECT count(*) ` + editCalls + `)`, false, .02},
	{"edits of which a part was not taken", `SELECT (SELECT count(*) ` + editCalls + `
		AND r.content ->> '$.not_taken' IS NOT NULL) * 1.0 / (SELECT count(*) ` + editCalls + `)`, false, .02},
	{"facts with a quotation", `SELECT (SELECT count(DISTINCT entry_id || '/' || claim_id) FROM evidence) * 1.0 /
		(SELECT count(*) FROM claim)`, true, .95},
	{"quotations with no word of their fact", `SELECT (SELECT count(*) FROM evidence WHERE weak) * 1.0 /
		(SELECT count(*) FROM evidence)`, false, .06},
	{"facts that another entry has by the same quotation", `SELECT (` + quotedTwice + `) * 1.0 /
		(SELECT count(*) FROM claim WHERE until_at = 0)`, false, .15},
	{"open states of retired entries", endedHolders, false, 0},
	{"requests a scene, for scenes", `SELECT (SELECT count(*) FROM call WHERE purpose = 'annotate') * 1.0 /
		(SELECT count(*) FROM scene)`, false, 1.2},
	{"requests a scene, in all, of those that were recorded", `SELECT (SELECT count(*) FROM call WHERE outcome = 'ok')
		* 1.0 / (SELECT count(*) FROM scene)`, false, 1.35},
	{"output tokens a fact, in all", `SELECT (SELECT sum(completion_tokens) FROM call) * 1.0 /
		(SELECT count(*) FROM claim)`, false, 85},
	{"output tokens a fact, of scenes", `SELECT (SELECT sum(completion_tokens) FROM call WHERE purpose = 'annotate')
		* 1.0 / (SELECT count(*) FROM claim)`, false, 75},
}

// TestReplayFigures replays the recording of the sample story, and prints what it shows without a judge.
func TestReplayFigures(t *testing.T) {
	t.Parallel()
	path := replayDemo(t)
	db, err := sql.Open("sqlite", "file:"+path+"?mode=ro")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	for _, f := range replayFigures {
		var value float64
		if err := db.QueryRowContext(t.Context(), f.query).Scan(&value); err != nil {
			t.Fatalf("%s: %v", f.name, err)
		}
		word, failed := "at most", value > f.bound
		if f.least {
			word, failed = "at least", value < f.bound
		}
		t.Logf("%-52s %8.3f   %s %g", f.name, value, word, f.bound)
		if failed {
			t.Errorf("%s: %.3f, not %s %g", f.name, value, word, f.bound)
		}
	}
}
