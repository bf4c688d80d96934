package storage

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"strings"

	"annotator"
	"annotator/codex"
	"annotator/internal/sqlite"
)

// Mention is a name of an entry in a post.
type Mention struct {
	Entry int64
	Place annotator.Place // of the post
	Start int             // in code points of the post's body
	End   int             // exclusive; a possessive ending belongs to the name
}

// SceneMentions are the mentions in a scene, by the names that the live entries have now.
type SceneMentions struct {
	Scene    int
	Words    []string           // of the scene, folded, each once
	Mentions map[Mention]string // with the text of the name
}

// maxPendingScenes is how many scenes are read at once whose names were never looked for.
const maxPendingScenes = 200

// Pending returns the scenes with an outcome in which names were not looked for, at most some hundred of them, and the
// normalised names that were added to the codex or given up since the mentions were brought up to date.
func (s *Mentions) Pending(ctx context.Context) (scenes []int, names []string, err error) {
	scenes, err = readAll(ctx, s.db, "read the scenes", scanValue[int],
		`SELECT n FROM scene WHERE mentioned = 0 AND state IN ('recorded', 'quarantined') ORDER BY n LIMIT ?`, maxPendingScenes)
	if err != nil {
		return nil, nil, err
	}
	names, err = readAll(ctx, s.db, "read the names", scanValue[string], `WITH made AS MATERIALIZED (SELECT id, entry_id, field, seen FROM revision
		    WHERE id > (SELECT mentions FROM run_state) AND field IN ('alias', 'status', 'retired', 'merge')),
		  changed (entry_id) AS (SELECT DISTINCT r.entry_id FROM made r`+revisionValues+`
		    WHERE r.field <> 'alias' AND coalesce(o.key IN ('retired', 'merged'), 0) <> (n.key IN ('retired', 'merged')))
		SELECT v.key FROM changed CROSS JOIN value v ON v.entry_id = changed.entry_id AND v.field = 'alias'
		UNION SELECT n.key FROM made r`+revisionValues+` WHERE r.field = 'alias' AND n.key IS NOT NULL
		UNION SELECT o.key FROM made r`+revisionValues+` WHERE r.field = 'alias' AND o.key IS NOT NULL`)
	return scenes, names, err
}

// ScenesWith returns the scenes among those in which names were looked for that have the words of a name; the last may go
// on, as a possessive does.
func (s *Mentions) ScenesWith(ctx context.Context, words []string) ([]int, error) {
	if len(words) == 0 {
		return nil, nil
	}
	terms := make([]string, len(words))
	for i, word := range words {
		terms[i] = matchWord(word)
	}
	return readAll(ctx, s.db, "look for a name", scanValue[int], `SELECT rowid FROM scene_word WHERE scene_word MATCH ? ORDER BY rowid`,
		strings.Join(terms, " ")+"*")
}

// matchWord returns the query of FTS5 for a word.
func matchWord(word string) string { return `"` + strings.ReplaceAll(word, `"`, `""`) + `"` }

// Update brings the mentions in scenes up to date, outside of a checkpoint.
func (s *Mentions) Update(ctx context.Context, scenes []SceneMentions) error {
	return s.db.update(ctx, "look for names", func(tx *tx) { tx.setMentions(scenes) })
}

// knownSince is when something came to be known.
type knownSince struct{ revision, seen int64 }

// setMentions brings the mentions in scenes up to date: what is no longer found ends, and what is new begins, with the
// newest revision; what is found in a scene for the first time begins with its name.
func (tx *tx) setMentions(scenes []SceneMentions) {
	var former int64
	now := knownSince{revision: tx.head.revision}
	tx.scan([]any{&former}, `SELECT mentions FROM run_state`)
	tx.scan([]any{&now.seen}, `SELECT coalesce(max(seen), 0) FROM revision WHERE id > ?`, former)
	names := aliasesSince{}
	for i := range scenes {
		tx.setSceneMentions(&scenes[i], former, now, names)
	}
	tx.execOne(`UPDATE run_state SET mentions = ? WHERE id = 1`, tx.head.revision)
}

func (tx *tx) setSceneMentions(s *SceneMentions, former int64, now knownSince, names aliasesSince) {
	var again bool
	tx.scan([]any{&again}, `SELECT mentioned FROM scene WHERE n = ?`, s.Scene)
	held := map[Mention]bool{}
	added := map[int64]int{} // by entry; 0 where one has ended
	if again {
		for _, m := range tx.mentionsOf(s.Scene) {
			held[m] = true
			if _, found := s.Mentions[m]; !found {
				added[m.Entry] += 0
				tx.execOne(`UPDATE mention SET until_seen = ?, ended_by = ? WHERE entry_id = ? AND place = ? AND start_at = ? AND ended_by IS NULL`,
					now.seen, now.revision, m.Entry, m.Place, m.Start)
			}
		}
	}
	for m, text := range s.Mentions {
		if held[m] {
			continue
		}
		added[m.Entry]++
		since := names.of(tx, m.Entry, text)
		if again && since.revision <= former { // another entry's longer name stood there, or the entry was not live
			since = knownSince{now.revision, max(now.seen, since.seen)}
		}
		tx.execOne(`INSERT INTO mention (entry_id, place, start_at, end_at, set_by, from_seen) VALUES (?, ?, ?, ?, ?, ?)`,
			m.Entry, m.Place, m.Start, m.End, since.revision, since.seen)
	}
	tx.countMentions(s.Scene, added)
	if !again {
		tx.execOne(`INSERT INTO scene_word (rowid, words) VALUES (?, ?)`, s.Scene, strings.Join(s.Words, " "))
		tx.execOne(`UPDATE scene SET mentioned = 1 WHERE n = ?`, s.Scene)
	}
}

// mentionsOf returns the mentions in a scene that have not ended.
func (tx *tx) mentionsOf(scene int) []Mention {
	found, err := collect(tx.ctx, tx, scanMention, `SELECT entry_id, place, start_at, end_at FROM mention
		WHERE place BETWEEN ? AND ? AND ended_by IS NULL`, annotator.PlaceAt(scene, 0), annotator.PlaceAt(scene+1, 0)-1)
	tx.fail(err)
	return found
}

// aliasesSince are the names of entries, normalised, with when they came to be known.
type aliasesSince map[int64]map[string]knownSince

// of returns when the name of an entry that a text is came to be known. The text may have an ending, and other signs
// between the words; where no name is the beginning of the text, it is the newest that counts.
func (a aliasesSince) of(tx *tx, entry int64, text string) knownSince {
	if a[entry] == nil {
		a[entry] = map[string]knownSince{}
		tx.fail(sqlite.Each(tx.ctx, tx, func(rows *sql.Rows) error {
			var key string
			var since knownSince
			err := rows.Scan(&key, &since.revision, &since.seen)
			a[entry][key] = since
			return err
		}, `SELECT key, set_by, from_seen FROM value WHERE entry_id = ? AND field = 'alias' AND ended_by IS NULL`, entry))
	}
	text = codex.Normalize(text)
	var newest, longest knownSince
	length := 0
	for key, since := range a[entry] {
		if since.revision > newest.revision {
			newest = since
		}
		if len(key) > length && strings.HasPrefix(text, key) {
			longest, length = since, len(key)
		}
	}
	return cmp.Or(longest, newest)
}

func scanMention(rows *sql.Rows, m *Mention) error {
	return rows.Scan(&m.Entry, &m.Place, &m.Start, &m.End)
}

// SharedMention is a mention with the other entries that the same name stands for there.
type SharedMention struct {
	Mention
	Others []int64
}

// visible is a condition on rows of table mention: the post is within the limit, and so is what makes the name stand for
// the entry. A name that is revealed later must not be found in earlier posts: it would tell who is meant. The place is no
// bound of an index, because SQLite would take it for the only one.
func (v *View) visible(table string) string {
	return fmt.Sprintf(`%s AND +%s.place <= %d`, v.limit.inForce(table), table, v.lastPlace())
}

// lastPlace returns the place of the last post within the limit.
func (v *View) lastPlace() int64 {
	if v.m.IsZero() {
		return 1<<63 - 1
	}
	return int64(v.m.reach)
}

// Mentions returns the mentions of an entry, in the story's order, and how many there are without offset and limit.
func (v *View) Mentions(ctx context.Context, entry int64, offset, limit int) (found []SharedMention, total int, err error) {
	where := fmt.Sprintf(` FROM mention m WHERE m.entry_id = ?2 AND m.place <= %d AND %s`, v.lastPlace(), v.visible("m"))
	if total, err = readValue[int](ctx, v.db, "count the mentions", `SELECT count(*)`+where, v.limit.bound, entry); err != nil {
		return nil, 0, err
	}
	found, err = v.mentions(ctx, where+` ORDER BY m.place, m.start_at LIMIT iif(?3 > 0, ?3, -1) OFFSET ?4`, v.limit.bound, entry, limit, offset)
	return found, total, err
}

// MentionsIn returns the mentions in some consecutive scenes, in the story's order.
func (v *View) MentionsIn(ctx context.Context, first, last int) ([]Mention, error) {
	return v.mentionsIn(ctx, first, last, v.limit.inForce("m"))
}

// MentionsThen returns the mentions in some consecutive scenes as their readers know them: of each scene, what MentionsIn
// returns within a limit at its end.
func (v *View) MentionsThen(ctx context.Context, first, last int) ([]Mention, error) {
	return v.mentionsIn(ctx, first, last, v.limit.known("m")+` AND `+inForceThen)
}

func (v *View) mentionsIn(ctx context.Context, first, last int, condition string) ([]Mention, error) {
	return readAll(ctx, v.db, "read the mentions", scanMention, fmt.Sprintf(`SELECT entry_id, place, start_at, end_at FROM mention m
		WHERE m.place BETWEEN ?2 AND ?3 AND +m.place <= %d AND %s ORDER BY m.place, m.start_at, m.entry_id`, v.lastPlace(), condition),
		v.limit.bound, annotator.PlaceAt(first, 0), annotator.PlaceAt(last+1, 0)-1)
}

func (v *View) mentions(ctx context.Context, rest string, args ...any) ([]SharedMention, error) {
	scan := func(rows *sql.Rows, m *SharedMention) error {
		var others string
		if err := rows.Scan(&m.Entry, &m.Place, &m.Start, &m.End, &others); err != nil {
			return err
		}
		return json.Unmarshal([]byte(others), &m.Others)
	}
	return readAll(ctx, v.db, "read the mentions", scan, `SELECT m.entry_id, m.place, m.start_at, m.end_at, (SELECT json_group_array(o.entry_id)
		FROM mention o WHERE o.place = m.place AND o.start_at = m.start_at AND o.end_at = m.end_at AND o.entry_id <> m.entry_id AND `+v.visible("o")+`)`+
		rest, args...)
}
