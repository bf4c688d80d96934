package storage_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"annotator"
	"annotator/codex"
	"annotator/internal/sqlite"
	"annotator/migrations"
	"annotator/runner/entries"
	"annotator/storage"
	"annotator/view"
)

// damages are statements that damage a database. Each violates a law, and the check of this law must fail.
var damages = []struct {
	check, name, sql string
}{
	{
		"log", "the file says that a log follows, and there is none",
		fmt.Sprintf(`PRAGMA user_version = %d`, 1<<30|len(migrations.All())),
	},
	{
		"integrity", "a value that the schema forbids",
		`PRAGMA ignore_check_constraints = 1; UPDATE scene SET state = 'half' WHERE n = 1`,
	},
	{
		"join", "a step that does not begin where the part begins",
		`UPDATE trace SET kind = 'join', content = '{"part":1,"path":"gone","snapshot":1,"after":5,"through":9}'
			WHERE id = 1`,
	},
	{"schema", "a trigger from outside", `CREATE TRIGGER undo AFTER INSERT ON trace BEGIN DELETE FROM claim; END`},
	{"schema", "a view from outside", `CREATE VIEW word AS SELECT content FROM trace`},
	{"schema", "somebody's trigger", `CREATE TRIGGER theirs AFTER INSERT ON trace BEGIN DELETE FROM revision; END`},
	{"schema", "somebody's view", `CREATE VIEW theirs AS SELECT 1`},
	{"foreign keys", "a snapshot of a prompt that is gone", `UPDATE snapshot SET context_id = 99 WHERE id = 1`},
	{"journal order", "a row is gone", `DELETE FROM trace WHERE kind = 'note'`},
	{"journal order", "a turn leaves a number out", `UPDATE trace SET seq = seq + 7 WHERE kind = 'close'`},
	{"digests", "a time", `UPDATE call SET started_at = started_at + 1 WHERE id = 1`},
	{
		"digests", "a row too many",
		`INSERT INTO summon (snapshot_id, asker, turn, opened_at, dismissed_at) VALUES (1, 'person', 0, 1, 1)`,
	},
	{"digests", "a digest", `UPDATE digest SET hash = zeroblob(32) WHERE name = 'call'`},
	{"prompts", "another word", `UPDATE snapshot_context SET system_prompt = replace(system_prompt, 'keep', 'kept')`},
	{"prompts", "other tools", `UPDATE snapshot_context SET tools = '[{}]'`},
	{"corpus hash", "another scene", `UPDATE scene SET hash = zeroblob(32) WHERE n = 2`},
	{"corpus hash", "another corpus", `UPDATE run_state SET corpus_hash = upper(corpus_hash)`},
	{"corpus", "another post", `UPDATE scene SET posts = '[20,22]' WHERE n = 2`},
	{"corpus", "another number of words", `UPDATE scene SET words = words + 1 WHERE n = 2`},
	{
		"corpus", "one scene more",
		`INSERT INTO scene (n, ord, block, thread_id, posts, words, hash) SELECT 7, 7000000, 7000000, thread_id, posts, words, hash FROM scene WHERE n = 6`,
	},
	{"replay", "dated to another scene", `UPDATE revision SET at = at + 1000000000000 WHERE id = 1`},
	{
		"replay", "dated to a post that is not there",
		`UPDATE revision SET at = at + 7 WHERE id = (SELECT max(id) FROM revision)`,
	},
	{"replay", "dated before what was there", `UPDATE revision SET at = 1 WHERE id = 2`},
	{
		"replay", "a value that another revision ended",
		`UPDATE value SET ended_by = (SELECT max(id) FROM revision) WHERE ended_by = (SELECT min(ended_by) FROM value WHERE field = 'claim')`,
	},
	{"replay", "a snapshot's number of entries", `UPDATE snapshot SET entries = entries + 1 WHERE id = 1`},
	{"digests", "when an entry was changed", `UPDATE revision SET changed_at = changed_at + 1 WHERE id = (SELECT ` +
		`max(id) FROM revision)`},
	{
		"replay", "a name is looked up as another",
		`UPDATE value SET key = 'dusk' WHERE field = 'alias' AND entry_id = 1`,
	},
	{"snapshots", "of another moment of the codex", `UPDATE snapshot SET revision_id = revision_id - 1 WHERE id = 2`},
	{"snapshots", "of a question that is none", `UPDATE snapshot SET type = 'curator_fork' WHERE id = 1`},
	{"snapshots", "with a part of the window", `UPDATE snapshot SET before_turn = 1 WHERE id = 1`},
	{"snapshots", "of another thread", `UPDATE snapshot SET thread_id = 998 WHERE id = 1`},
	{"snapshots", "of another prompt", `INSERT INTO snapshot_context VALUES (2, 'h', '', '', '', '', 0);
		UPDATE snapshot SET context_id = 2 WHERE id = 1`},
	{"compactions", "another tier", `UPDATE compaction SET tier = '4' WHERE epoch = 1`},
	{"compactions", "other turns", `UPDATE compaction SET through_turn = through_turn + 1 WHERE epoch = 2`},
	{"threads", "out of order", `UPDATE thread_state SET ord = 9 WHERE thread_id = 1000`},
	{
		"journal chain", "a changed word",
		`UPDATE trace SET content = replace(content, 'see', 'sea') WHERE kind = 'reply'`,
	},
	{"journal chain", "a changed estimate", `UPDATE trace SET tokens = tokens + 1 WHERE id = 3`},
	{"journal chain", "a changed hash", `UPDATE trace SET hash = zeroblob(32) WHERE id = 3`},
	{
		"journal chain", "two rows in each other's place",
		`UPDATE trace SET content = (SELECT content FROM trace WHERE id = 4) WHERE id = 2`,
	},
	{"turns", "a row of another scene", `UPDATE trace SET scene = 3 WHERE kind = 'note'`},
	{"turns", "a turn without its scene", `UPDATE trace SET kind = 'note' WHERE turn = 1 AND seq = 0`},
	{"turns", "more turns than there are", `UPDATE run_state SET turn = turn + 1`},
	{"call and result", "a result is gone", `DELETE FROM trace WHERE kind = 'tool_result' AND turn = 1`},
	{"call and result", "an answer to nothing", `UPDATE trace SET call_id = 'other' || id WHERE kind = 'tool_result'`},
	{
		"decisions", "about no result",
		`INSERT INTO tool_decision SELECT id, 'annotate', '', 'allow', '', '' FROM trace WHERE kind = 'scene' LIMIT 1`,
	},
	{
		"decisions", "denied, and done",
		`INSERT INTO tool_decision SELECT trace_id, 'annotate', '', 'deny', 'EDIT_CAP', 'no' FROM revision WHERE actor = 'model' LIMIT 1`,
	},
	{"decisions", "none is there", `UPDATE snapshot_context SET tools = '[{"name":"select_active_intent"}]'`},
	{
		"effects", "a change by a tool that failed",
		`UPDATE trace SET error = 'DUPLICATE' WHERE id = (SELECT max(trace_id) FROM revision WHERE actor = 'model')`,
	},
	{
		"decisions", "an edit that is not in the journal",
		`UPDATE decision SET edits = '[{"operation":{"do":"lock","entry":1},"row":999}]' WHERE id = 2`,
	},
	{"effects", "a row that is not there", `UPDATE revision SET actor = 'rule', trace_id = 999 WHERE id = 1`},
	{"effects", "a change in another turn", `UPDATE revision SET turn = turn + 1 WHERE id = 1`},
	{"effects", "a decision of a curator who was not asked", `UPDATE revision SET actor = 'curator' WHERE id = 1`},
	{
		"merges", "into nothing",
		`UPDATE value SET key = 'merged', json = '"99"' WHERE field = 'status' AND ended_by IS NULL; UPDATE entry SET status = 'merged', name = NULL
		WHERE id IN (SELECT entry_id FROM value WHERE key = 'merged')`,
	},
	{"entries", "merged into nobody knows what", `UPDATE entry SET status = 'merged', name = NULL WHERE id = 1`},
	{"revisions", "one is gone", `DELETE FROM revision WHERE id = 2`},
	{"replay", "the newest revision is gone", `DELETE FROM revision WHERE id = (SELECT max(id) FROM revision)`},
	{"replay", "an unreadable value", `PRAGMA ignore_check_constraints = 1; UPDATE value SET json = '{' WHERE field ` +
		`= 'claim'`},
	{"replay", "another term", `UPDATE value SET json = '"Dusk"' WHERE field = 'term' AND entry_id = 1`},
	{"replay", "another status", `UPDATE value SET key = 'tentative' WHERE field = 'status'`},
	{"replay", "a value is gone", `DELETE FROM value WHERE field = 'evidence'`},
	{"replay", "a claim does not hold", `UPDATE value SET holds = 1 - holds WHERE field = 'claim'`},
	{"replay", "a tag is gone", `DELETE FROM value WHERE field = 'tag'`},
	{"entries", "another name", `UPDATE entry SET name = 'dusk' WHERE id = 1`},
	{"entries", "another status", `UPDATE entry SET status = 'confirmed' WHERE id = 1`},
	{"entries", "another place", `UPDATE entry SET last_at = last_at + 1 WHERE id = 1`},
	{"entries", "another number of claims", `UPDATE entry SET claims = claims + 1 WHERE id = 1`},
	{"entries", "other changes", `UPDATE entry SET changes = changes + 1 WHERE id = 1`},
	{"foreign keys", "an entry is gone", `DELETE FROM entry WHERE id = 1`},
	{"replay", "an entry without revisions", `DELETE FROM revision WHERE entry_id = 1`},
	{"mention counts", "a count is another", `UPDATE mention_count SET mentions = mentions + 1`},
	{"mention counts", "a scene has none", `UPDATE mention_count SET scenes = 0`},
	{"mention counts", "a count is gone", `DELETE FROM mention_count WHERE entry_id = (SELECT min(entry_id) FROM ` +
		`mention)`},
	{"mention counts", "a total is another", `UPDATE mention_total SET mentions = mentions + 1`},
	{"mention counts", "a total is gone", `DELETE FROM mention_total WHERE entry_id = (SELECT min(entry_id) FROM ` +
		`mention)`},
	{"mentions", "one is gone", `DELETE FROM mention WHERE place = (SELECT min(place) FROM mention)`},
	{"mentions", "one stands elsewhere", `UPDATE mention SET end_at = end_at + 1`},
	{"mentions", "one that was not looked for", `UPDATE scene SET mentioned = 0`},
	{"words", "those of a scene are gone", `DELETE FROM scene_word WHERE rowid = 1`},
	{"words", "other words", `DELETE FROM scene_word WHERE rowid = 1; INSERT INTO scene_word (rowid,` +
		` words) VALUES (1, 'ghost')`},
	{"words", "of a scene that is not there", `INSERT INTO scene_word (rowid, words) VALUES (99, 'ghost')`},
	{"replay", "a value ends too early", `UPDATE value SET until_seen = from_seen,` +
		` ended_by = set_by WHERE field = 'term' AND entry_id = 1`},
	{"values", "a value ends too late", `UPDATE value SET until_seen = until_seen + 1 WHERE ended_by <> set_by`},
	{"values", "a value is known too early", `UPDATE value SET from_seen = 0 WHERE field = 'claim'`},
	{"values", "two at once", `INSERT INTO value SELECT id + 1000, entry_id, field, key || 'x', json, holds, set_by, NULL, from_seen, NULL FROM value WHERE field = 'tag' LIMIT 1;
		UPDATE value SET field = 'tag' WHERE key = 'x'`},
	{"full-text index", "a name that cannot be found", `INSERT INTO glossary_fts_name (glossary_fts_name, rowid, name)
		SELECT 'delete', id, name FROM name_text LIMIT 1`},
	{
		"full-text index", "a claim that cannot be found",
		`INSERT INTO glossary_fts_claim (glossary_fts_claim, rowid, claim)
		SELECT 'delete', id, claim FROM claim_text LIMIT 1`,
	},
	{"full-text index", "words that nobody wrote", `INSERT INTO glossary_fts_name (rowid, name) VALUES (1, 'ghost')`},
	{"scenes", "one is gone", `DELETE FROM scene WHERE n = 2`},
	{"scenes", "a thread that ends too late", `UPDATE thread_state SET last_scene = last_scene + 1`},
	{
		"former posts", "a pending scene with one",
		`UPDATE scene SET state = 'pending', recorded_at = NULL WHERE n = 6; UPDATE scene_post SET former = 1`,
	},
	{
		"former posts", "a scene that was read is withdrawn",
		`UPDATE scene SET state = 'withdrawn', recorded_at = NULL WHERE n = 1`,
	},
	{"former text", "a mark on a post of the source", `UPDATE scene_post SET former = 1 WHERE place < 2000000000000`},
	{"recorded once", "left out", `UPDATE scene SET state = 'pending', recorded_at = NULL, attempts = 0 WHERE n = 1`},
	{"recorded once", "counted twice", `UPDATE run_state SET recorded = recorded + 1`},
	{"recorded once", "ended by a foreign turn", `UPDATE scene SET turn = 3 WHERE n = 1`},
	{"recorded once", "two ended by one turn", `UPDATE scene SET turn = 1 WHERE n = 2`},
	{"follow-ups", "of a scene that is not read", `UPDATE scene SET follow_up = 'nothing' WHERE state = 'pending'`},
	{
		"follow-ups", "one without a second reply",
		`UPDATE scene SET follow_up = 'edits' WHERE turn = (SELECT min(turn) FROM trace WHERE turn > 0
		GROUP BY turn HAVING sum(kind = 'reply') < 2)`,
	},
	{"follow-ups", "left out after a reply in text", `UPDATE scene SET follow_up = 'left out' WHERE n = 1`},
	{"open scene", "two", `UPDATE scene SET state = 'open' WHERE n = 6`},
	{"checkpoints", "none", `DELETE FROM snapshot WHERE id = 1`},
	{"checkpoints", "two", `INSERT INTO snapshot SELECT 99, type, created_at, scene, thread_id, trace_id, revision_id, context_id, entries, tokens, '', 0, 0
		FROM snapshot WHERE id = (SELECT max(id) FROM snapshot)`},
	{"checkpoints", "of a scene that was not read", `UPDATE snapshot SET scene = 6 WHERE scene = 4`},
	{"refusals", "one is gone", `UPDATE refusal SET nth = 2`},
	{"refusals", "of a foreign turn", `UPDATE refusal SET turn = 1`},
	{"refusals", "in the window again", `DELETE FROM compaction WHERE only_turn <> 0`},
	{"refusals", "quarantined for nothing", `UPDATE scene SET state = 'quarantined' WHERE n = 1; UPDATE scene SET ` +
		`reason = '' WHERE n = 1`},
	{"refusals", "recorded, and to blame", `UPDATE scene SET fault = 'unreachable' WHERE n = 1`},
	{"calls", "two at a time", `INSERT INTO call (turn, scene, purpose, attempt, outcome, estimate, started_at)
		VALUES (1, 1, 'annotate', 1, 'open', 1, 1), (1, 1, 'annotate', 2, 'open', 1, 1)`},
	{"calls", "failed for nothing", `UPDATE call SET fault = '' WHERE outcome = 'transient'`},
	{"calls", "nobody knows what was done", `UPDATE call SET decision = '' WHERE outcome = 'transient'`},
	{"snapshots", "past the end of the journal", `UPDATE snapshot SET trace_id = 9999`},
	{"snapshots", "past the end of the revisions", `UPDATE snapshot SET revision_id = 9999`},
	{"snapshots", "going back", `UPDATE snapshot SET trace_id = 1 WHERE id = 2`},
	{"threads", "completed too early", `UPDATE thread_state SET status = 'completed' WHERE thread_id = 998`},
	{"threads", "never completed", `UPDATE thread_state SET status = 'in_progress' WHERE thread_id = 1000`},
	{"token sums", "tokens that no call cost", `UPDATE run_state SET prompt_tokens = prompt_tokens + 1`},
	{"token sums", "a call is gone", `DELETE FROM call WHERE outcome = 'transient'`},
	{"replies", "from no call", `DELETE FROM call WHERE trace_id = (SELECT min(id) FROM trace WHERE kind = 'reply')`},
	{
		"replies", "a call that wrote a note",
		`UPDATE call SET trace_id = (SELECT id FROM trace WHERE kind = 'note') WHERE trace_id IS NOT NULL`,
	},
	{"compactions", "without a reason", `DELETE FROM compaction WHERE epoch = 1`},
	{"compactions", "turns come back", `UPDATE compaction SET through_turn = 0 WHERE epoch = 2`},
	{"compactions", "by a note", `UPDATE compaction SET trace_id = (SELECT id FROM trace WHERE kind = 'note') WHERE ` +
		`epoch = 1`},
	{"conversations", "one that did not end with its scene", `UPDATE summon SET dismissed_at = NULL`},
	{"conversations", "a question is lost", `DELETE FROM summon_exchange WHERE seq = 0`},
	{"conversations", "an answer to something else", `UPDATE call SET outcome = 'transient' WHERE purpose = 'ask'`},
	{"conversations", "an answer that is gone", `DELETE FROM summon_exchange WHERE seq = 1`},
	{"findings", "one of another call", `UPDATE finding SET call_id = 1`},
	{"findings", "about a claim that never was", `UPDATE finding SET claim = 99`},
	{"live entries", "one too many", `UPDATE run_state SET entries = entries + 1`},
	{"summaries", "none of a thread", finished +
		`INSERT INTO episode SELECT 900, 'cumulative', 0, 0, 1, 6, 1, 9, 'x', 'rule', NULL, 1, 1, NULL, NULL, 0`},
	{
		"summaries", "two of a thread",
		strings.Repeat(`INSERT INTO episode (kind, thread_id, idx, from_scene, to_scene, from_turn, to_turn, summary,
		author, tokens, trace_id, created_at) VALUES ('thread', 1000, 0, 1, 2, 1, 2, 'x', 'rule', 1, 1, 0);`, 2),
	},
	{"summaries", "a story so far that ends too early", finished +
		`INSERT INTO episode (kind, thread_id, idx, from_scene, to_scene, from_turn, to_turn,
		summary, author, tokens, trace_id, created_at) SELECT 'thread', thread_id, 0, 1, 2, 1, 2, 'x', 'rule', 1, 1, 0 FROM thread_state`},
	{
		"facts", "replaced, and open",
		`UPDATE value SET json = json_set(json, '$.replaced_by', 2) WHERE field = 'claim' AND entry_id = 1 AND key = '1'`,
	},
	{"facts", "replaced by nothing", `UPDATE value SET json = json_set(json, '$.replaced_by',` +
		` 99) WHERE field = 'claim' AND holds = 0`},
	{
		"facts", "a narration with a speaker",
		`UPDATE value SET json = json_set(json, '$.speaker', 'Mik') WHERE field = 'claim' AND json ->> 'kind' = 'narrated'`,
	},
	{
		"facts", "a narration in a document",
		`UPDATE value SET json = json_set(json, '$.document', 'a letter') WHERE field = 'claim' AND json ->> 'kind' = 'narrated'`,
	},
	{"facts", "an ending that is none", `UPDATE value SET json = json_set(json, '$.ended', 'dead') WHERE field = ` +
		`'claim' AND json ->> 'ended' = 'wrong'`},
	{"facts", "ended, and open", `UPDATE value SET json = json_set(json, '$.ended', 'over') WHERE field = 'claim' ` +
		`AND json ->> 'state'`},
	{"facts", "an object without a relation", `UPDATE value SET json = json_set(json, '$.object', 'Mik') ` +
		`WHERE field = 'claim'`},
	{"facts", "a state of an earlier time", `UPDATE value SET json = json_set(json, '$.state', json('true')) ` +
		`WHERE json ->> 'earlier'`},
	{"facts", "from an entry without a name", `UPDATE value SET json = json_set(json, '$.as', '') WHERE field = ` +
		`'claim'`},
	{"facts", "moved, and nobody knows where", `UPDATE value SET json = json_remove(json, '$.moved_to')`},
	{"facts", "moved, and still there", `UPDATE value SET json = json_remove(json, '$.ended') WHERE json ->> ` +
		`'moved_to'`},
	{
		"replay", "moved to an entry that does not have it",
		`UPDATE value SET json = json_set(json, '$.moved_to', 2) WHERE json ->> 'moved_to'`,
	},
	{
		"outgrown states", "one that nobody asked about",
		`UPDATE value SET json = json_set(json, '$.states', json('[1]')) WHERE field = 'curator_decision'`,
	},
	{
		"outgrown states", "one that was not open",
		`UPDATE value SET json = json_set(json, '$.states', json('[2]'), '$.ended[0].state', 2) WHERE field = 'curator_decision'`,
	},
	{
		"outgrown states", "by a fact that is not there",
		`UPDATE value SET json = json_set(json, '$.ended[0].by', 99) WHERE field = 'curator_decision'`,
	},
	{
		"outgrown states", "by a fact that is told later",
		`UPDATE value SET json = json_set(json, '$.until', 1) WHERE field = 'claim' AND entry_id = 1 AND json ->> 'state' AND holds = 0`,
	},
	{"digests", "another statement", `UPDATE value SET json = '"She lies at anchor."' WHERE field = 'present'`},
	{"evidence", "a range too long", `UPDATE value SET json = json_set(json, '$.end',` +
		` json ->> 'end' + 1) WHERE field = 'evidence'`},
	{
		"quotations", "another range",
		`UPDATE value SET json = json_set(json, '$.start', json ->> 'start' + 1, '$.end', json ->> 'end' + 1) WHERE field = 'evidence'`,
	},
	{
		"quotations", "from a post that is not there",
		`UPDATE value SET json = json_set(json, '$.post', 404) WHERE field = 'evidence'`,
	},
}

// finished ends the run with all scenes read.
const finished = `UPDATE scene SET state = 'recorded', started_at = 1, recorded_at = 1 WHERE state = 'pending';
	UPDATE run_state SET state = 'NO_MORE', recorded = (SELECT count(*) FROM scene WHERE state = 'recorded');`

// sound makes a database that has some of everything, closed, and returns its bytes.
func sound(t *testing.T) []byte {
	t.Helper()
	s := newStory(t, t.TempDir(), scenesOf(2, 2, 2))
	s.read(creates("Dawn (ship)", "Dawn is a ship. She sails.", "ship"), reads)
	s.begin("scene 2", annotator.Shown{Entry: 1, Revision: 1})
	s.fail(annotator.Transient)
	s.reply("Let me see.", "tool")
	s.decided(&storage.ToolDecision{Mode: "annotate", Verdict: storage.Allow}, creates("Mik", "Mik is a sailor."))
	s.note("Go on.")
	s.record(annotator.SceneRecorded)
	chunk := annotator.Episode{
		Kind: annotator.EpisodeChunk, Thread: 1000, FromScene: 1, ToScene: 1, FromTurn: 1,
		ToTurn: 1, Summary: "She sails.", By: annotator.AuthorRule,
	}
	s.compact(1, chunk)
	s.checkpoint()
	definition := "Dawn is a ship. She sails. She sinks."
	s.read(revises(1, codex.Edit{Facts: factsOf(definition, nil)}), revises(1, codex.Edit{
		Facts: []codex.Fact{{Text: "She lies deep.", State: true}, {Text: "Mik dived.", Speaker: "Mik"}},
		Close: []codex.Closing{{Fact: 2, By: 4}},
	}), restates(1, "She is a wreck."), inTurn(retires(2), creates("Quay", "It is of stone. It was of wood."),
		revises(3, codex.Edit{Facts: []codex.Fact{
			{Text: "Once it was a wall.", Earlier: true, Identity: true}, {Text: "It is wet.", State: true},
		}}),
		rewords(3, 1, "It is of granite."), moves(3, 1, 2)))
	s.outgrows(1, 4, 1, 5)
	chunk.Kind, chunk.Thread, chunk.Supersedes = annotator.EpisodeCumulative, 0, 1
	s.compact(2, chunk)
	s.begin("scene 4")
	s.record(annotator.SceneQuarantined)
	s.checkpoint()
	s.begin("scene 5")
	s.reply("Let me ask.", "summon_snapshot", "summon_continue")
	s.summon(storage.ConversationChange{Open: 1}, "What was it?")
	s.summon(storage.ConversationChange{}, "And then?")
	s.reply("Nothing more.")
	s.record(annotator.SceneRecorded)
	s.checkpoint()
	s.retry()
	s.decides(annotator.Operation{Do: annotator.DeedRetag, Entry: 1, Tags: []string{"ship", "wreck"}})
	s.begin("scene 4, read late")
	s.record(annotator.SceneQuarantined)
	s.checkpoint()
	s.ok(storage.FileEdit(s.ctx, s.path, clock, &annotator.Operation{Do: annotator.DeedUndo}))
	s.ok(storage.FileProposal(s.ctx, s.path, clock, &annotator.Proposal{
		Operation: annotator.Operation{Do: annotator.DeedLock, Entry: 1}, Why: "It is right.", Seen: orderOf(2),
	}))
	for range 2 {
		d := &annotator.Decision{Key: "state/1/4", Digest: "0a", Verdict: annotator.VerdictLater, Seen: orderOf(2)}
		s.ok(storage.FileDecision(s.ctx, s.path, clock, d))
		if d.ID == 1 {
			s.ok(storage.TakeBackDecision(s.ctx, s.path, clock, d.ID))
		}
	}
	s.checks(1)
	s.checks(2)
	s.clean()
	s.ok(s.db.Close())
	bytes, err := os.ReadFile(s.path)
	s.ok(err)
	return bytes
}

// outgrows stores an answer about states, by which one of an entry has ended by a fact.
func (s *story) outgrows(entry, state, byEntry, fact int64) {
	s.Helper()
	at := annotator.PlaceAt(orderOf(s.scene), 0)
	revisions, err := codex.Revise(s.entry(entry), codex.Edit{
		Actor: annotator.ActorCurator, At: at, Close: []codex.Closing{{Fact: state}},
	})
	s.ok(err)
	record := annotator.Revision{
		Entry: entry, Field: annotator.FieldCuratorDecision, At: at, Actor: annotator.ActorRule,
		New: fmt.Sprintf(`{"decision":"STATES","thread":1000,"states":[%d],`+
			`"ended":[{"state":%d,"by_entry":%d,"by":%d}]}`, state, state, byEntry, fact),
	}
	call := s.curates()
	s.ok(s.db.Curation.Decide(s.ctx, call, &annotator.Trace{Kind: annotator.TraceReply, Content: "<ended/>"},
		append([]annotator.Revision{record}, revisions...), nil))
}

// failing opens the database in some bytes, damages it, and returns the checks that find it wrong.
func failing(t *testing.T, bytes []byte, sql string, source *storage.Source) []string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "annotator.db")
	if err := os.WriteFile(path, bytes, 0o600); err != nil {
		t.Fatal(err)
	}
	pool, err := sqlite.Open(t.Context(), path, sqlite.ReadWrite, 1)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := pool.ExecContext(t.Context(), `PRAGMA foreign_keys = 0; `+sql); err != nil {
		t.Fatal(err)
	}
	if err := pool.Close(); err != nil {
		t.Fatal(err)
	}
	return findingsOf(t, path, source)
}

// findingsOf returns the checks that find a database wrong.
func findingsOf(t *testing.T, path string, source *storage.Source) []string {
	t.Helper()
	db, err := storage.Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	findings, err := db.Maintenance.Verify(t.Context(), source)
	if err != nil {
		t.Fatal(err)
	}
	var checks []string
	for _, f := range findings {
		if len(f.Violations) > 0 {
			checks = append(checks, f.Check)
		}
	}
	return checks
}

func TestVerifyFindsDamage(t *testing.T) {
	t.Parallel()
	bytes := sound(t)
	if checks := failing(t, bytes, `SELECT 1`, soundSource); checks != nil {
		t.Fatalf("without any damage: %v", checks)
	}
	for _, d := range damages {
		t.Run(d.check+"/"+d.name, func(t *testing.T) {
			t.Parallel()
			if checks := failing(t, bytes, d.sql, soundSource); !slices.Contains(checks, d.check) {
				t.Errorf("found by %v", checks)
			}
		})
	}
}

// soundSource is the corpus of the database that sound makes.
var soundSource = &storage.Source{
	Body: bodyOrNotFound, Story: storyOf(scenesOf(2, 2, 2)...), Identity: "1", Finder: entries.FindMentions,
}

func bodyOrNotFound(_ context.Context, id int64) (string, error) {
	if id == 404 {
		return "", annotator.Errorf(annotator.NotFound, "there is no post %d", id)
	}
	return bodyOf(id), nil
}

// TestVerifyChecksAreProven fails unless there is a damage for every law.
func TestVerifyChecksAreProven(t *testing.T) {
	t.Parallel()
	s := newStory(t, t.TempDir(), scenesOf(1))
	findings, err := s.db.Maintenance.Verify(t.Context(), sourceOf(s.scenes))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range findings {
		if !slices.ContainsFunc(damages, func(d struct{ check, name, sql string }) bool { return d.check == f.Check }) {
			t.Errorf("no damage is known that %q finds", f.Check)
		}
	}
}

// TestVerifyFindsBitRot changes a byte where SQLite does not look.
func TestVerifyFindsBitRot(t *testing.T) {
	t.Parallel()
	whole := sound(t)
	said := []byte("Let me see.")
	for at := range strings.Count(string(whole), string(said)) {
		rotten := slices.Clone(whole)
		place := nth(rotten, said, at)
		rotten[place] ^= 0x20
		if checks := failing(t, rotten, `SELECT 1`, nil); !slices.Equal(checks, []string{"digests", "journal chain"}) {
			t.Errorf("a bit at byte %d: found by %v", place, checks)
		}
	}
}

func nth(text, part []byte, n int) int {
	at := bytes.Index(text, part)
	for range n {
		at += 1 + bytes.Index(text[at+1:], part)
	}
	return at
}

// TestVerifyBesideAStoppedWriter: another process holds the lock for writing, and is stopped.
func TestVerifyBesideAStoppedWriter(t *testing.T) {
	t.Parallel()
	s := newStory(t, t.TempDir(), scenesOf(1))
	s.read(creates("Dawn (ship)", "Dawn is a ship.", "ship"))
	pool, err := sqlite.Open(t.Context(), s.path, sqlite.ReadWrite, 1)
	s.ok(err)
	defer func() { _ = pool.Close() }()
	stopped, err := pool.BeginTx(t.Context(), nil)
	s.ok(err)
	defer func() { _ = stopped.Rollback() }()
	_, err = stopped.ExecContext(t.Context(), `UPDATE run_state SET title = 'changed'`)
	s.ok(err)
	findings, err := s.db.Maintenance.Verify(t.Context(), sourceOf(s.scenes))
	s.ok(err)
	unchecked := map[string]string{}
	for _, f := range findings {
		if len(f.Violations) > 0 {
			t.Errorf("%s: %v", f.Check, f.Violations)
		}
		if f.Unchecked != "" {
			unchecked[f.Check] = f.Unchecked
		}
	}
	if len(unchecked) != 2 || !strings.Contains(unchecked["full-text index"],
		"since another program is writing to it") {
		t.Errorf("not checked: %v", unchecked)
	}
}

// TestDigestsSurviveMigrations adds columns to existing rows, and changes such rows afterwards. Earlier damage is also
// found after the migration.
func TestDigestsSurviveMigrations(t *testing.T) {
	t.Parallel()
	const step = `ALTER TABLE call ADD COLUMN more TEXT NOT NULL DEFAULT 'x'; ALTER TABLE call ADD COLUMN less INTEGER NOT NULL DEFAULT 7;
		ALTER TABLE scene ADD COLUMN note TEXT; ALTER TABLE refusal ADD COLUMN note TEXT NOT NULL DEFAULT 'y'; UPDATE summon SET summary = 'z'`
	whole := sound(t)
	for damage, want := range map[string]string{
		`SELECT 1`: "", `UPDATE call SET started_at = 9 WHERE id = 1`: "call",
		`DELETE FROM tool_decision; UPDATE scene SET words = 9 WHERE n = 1`: "scene tool_decision",
	} {
		for _, change := range []string{
			`UPDATE call SET fault = 'x'`, `UPDATE refusal SET retried_at = 5`,
			`UPDATE scene SET note = 'z', words = words + 1`, `DELETE FROM refusal`,
			`UPDATE call SET less = 8, more = 'b' WHERE id = 2`, `DELETE FROM summon_exchange`,
			`INSERT OR REPLACE INTO snapshot_context SELECT id, hash, 'other', tools, settings, workarounds, created_at FROM snapshot_context`,
		} {
			path := filepath.Join(t.TempDir(), "annotator.db")
			if err := os.WriteFile(path, whole, 0o600); err != nil {
				t.Fatal(err)
			}
			pool, err := sqlite.Open(t.Context(), path, sqlite.ReadWrite, 1)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := pool.ExecContext(t.Context(), damage); err != nil {
				t.Fatal(err)
			}
			if err := pool.Close(); err != nil {
				t.Fatal(err)
			}
			if tables, err := storage.Differing(t.Context(), path, step, change); err != nil ||
				strings.Join(tables, " ") != want {
				t.Errorf("after %s, the migration and %s: %q differ (%v)", damage, change, tables, err)
			}
		}
	}
}

func TestRebuildIndex(t *testing.T) {
	t.Parallel()
	s := newStory(t, t.TempDir(), scenesOf(1))
	s.read(creates("Dawn (ship)", "Dawn is a ship.", "ship"))
	pool, err := sqlite.Open(t.Context(), s.path, sqlite.ReadWrite, 1)
	s.ok(err)
	_, err = pool.ExecContext(t.Context(), `INSERT INTO glossary_fts_name (glossary_fts_name) VALUES ('delete-all');
		INSERT INTO glossary_fts_claim (glossary_fts_claim) VALUES ('delete-all')`)
	s.ok(err)
	s.ok(pool.Close())
	if found, err := (view.Glossary{Glossary: s.db.Glossary}).Search(t.Context(),
		annotator.Query{Text: "sails ship"}); err != nil || len(found) > 0 {
		t.Fatalf("an emptied index finds %v, %v", found, err)
	}
	s.ok(s.db.Maintenance.RebuildIndex(t.Context()))
	s.clean()
}

// TestVerifyToldInPart: a check finds more violations than it lists.
func TestVerifyToldInPart(t *testing.T) {
	t.Parallel()
	s := newStory(t, t.TempDir(), scenesOf(30))
	pool, err := sqlite.Open(t.Context(), s.path, sqlite.ReadWrite, 1)
	s.ok(err)
	_, err = pool.ExecContext(t.Context(), `UPDATE scene SET state = 'open'`)
	s.ok(err)
	s.ok(pool.Close())
	findings, err := s.db.Maintenance.Verify(t.Context(), nil)
	s.ok(err)
	for _, f := range findings {
		if f.Check == "open scene" && (len(f.Violations) != 20 || f.More != 10) {
			t.Errorf("%d violations and %d more, of 30", len(f.Violations), f.More)
		}
	}
	if storage.Clean(findings) {
		t.Error("taken for clean")
	}
}
