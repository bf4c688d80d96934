package storage

import (
	"cmp"
	"context"
	"database/sql"
	"maps"
	"slices"
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
	Scene    int                // its number
	Words    []string           // of the scene, folded, each once
	Mentions map[Mention]string // with the text of the name
}

// maxPendingScenes is the most scenes without mentions that are read at once.
const maxPendingScenes = 200

// Pending returns the scenes in which names are to be looked for, in the order of their numbers. These are scenes with
// an outcome in which it was not done, at most maxPendingScenes. And they are those with the words of a name that was
// added or removed since the mentions were last updated.
func (s *Mentions) Pending(ctx context.Context, words func(name string) []string) ([]int, error) {
	scenes, err := readAll(ctx, s.db, "read the scenes", ScanValue[int],
		`SELECT n FROM scene WHERE mentioned = 0 AND state IN ('recorded', 'quarantined') ORDER BY n LIMIT ?`,
		maxPendingScenes)
	if err != nil {
		return nil, err
	}
	names, err := readAll(ctx, s.db, "read the names", ScanValue[string],
		`WITH made AS MATERIALIZED (SELECT id, entry_id, field, seen FROM revision
		    WHERE id > (SELECT mentions FROM run_state) AND field IN ('alias', 'status', 'retired', 'merge')),
		  changed (entry_id) AS (SELECT DISTINCT r.entry_id FROM made r`+revisionValues+`
		    WHERE r.field <> 'alias'
		      AND coalesce(o.key IN ('retired', 'merged'), 0) <> (n.key IN ('retired', 'merged')))
		SELECT v.key FROM changed CROSS JOIN value v ON v.entry_id = changed.entry_id AND v.field = 'alias'
		UNION SELECT n.key FROM made r`+revisionValues+` WHERE r.field = 'alias' AND n.key IS NOT NULL
		UNION SELECT o.key FROM made r`+revisionValues+` WHERE r.field = 'alias' AND o.key IS NOT NULL`)
	for i := 0; err == nil && i < len(names); i++ {
		var found []int
		found, err = s.scenesWith(ctx, words(names[i]))
		scenes = append(scenes, found...)
	}
	slices.Sort(scenes)
	return slices.Compact(scenes), err
}

// scenesWith returns the scenes that have the words of a name, among those in which names were looked for. The last
// word may have an ending, for example that of a possessive.
func (s *Mentions) scenesWith(ctx context.Context, words []string) ([]int, error) {
	if len(words) == 0 {
		return nil, nil
	}
	terms := make([]string, len(words))
	for i, word := range words {
		terms[i] = matchWord(word)
	}
	return readAll(ctx, s.db, "look for a name", ScanValue[int],
		`SELECT rowid FROM scene_word WHERE scene_word MATCH ? AND rowid NOT IN `+withdrawn+` ORDER BY rowid`,
		strings.Join(terms, " ")+"*")
}

// matchWord returns the query of FTS5 for a word.
func matchWord(word string) string { return `"` + strings.ReplaceAll(word, `"`, `""`) + `"` }

// Update brings the mentions in scenes up to date, outside of a checkpoint.
func (s *Mentions) Update(ctx context.Context, scenes []SceneMentions) error {
	return s.db.update(ctx, "look for names", func(tx *tx) { tx.setMentions(scenes) })
}

// knownSince is the time when something became known.
type knownSince struct {
	revision int64
	seen     annotator.Order
}

// learned is when a revision r became known to the run, which has read the story to the scene ?1. A person's edit may
// be seen from an earlier scene. Its mentions are not, because what names mean is decided in the order of
// the revisions.
const learned = `iif(r.actor = 'person', max(r.seen, ?1), r.seen)`

// setMentions updates the mentions in scenes. A mention that is no longer found ends with the newest revision, and a
// new one begins with it. In a scene that is searched for the first time, a mention begins when its name became known.
func (tx *tx) setMentions(scenes []SceneMentions) {
	u := tx.newMentionUpdate()
	tx.scan([]any{&u.now.seen}, `SELECT coalesce((SELECT max(`+learned+`) FROM revision r WHERE id > ?2),
		(SELECT `+learned+` FROM revision r WHERE id = ?3), 0)`, tx.head.seen, u.former, u.now.revision)
	u.update(scenes)
	tx.execOne(`UPDATE run_state SET mentions = ? WHERE id = 1`, tx.head.revision)
}

func (tx *tx) newMentionUpdate() *mentionUpdate {
	u := &mentionUpdate{
		tx: tx, now: knownSince{tx.head.revision, tx.head.seen}, names: aliasesSince{}, fresh: map[Mention]int64{},
		gone:  map[annotator.Place]bool{},
		added: map[annotator.Order]map[int64]int{}, held: map[annotator.Order][]heldMention{},
	}
	tx.scan([]any{&u.former}, `SELECT mentions FROM run_state`)
	gone, err := collect(tx.ctx, tx, ScanValue[annotator.Place], `SELECT place FROM scene_post WHERE former = 1`)
	tx.fail(err)
	for _, place := range gone {
		u.gone[place] = true
	}
	return u
}

func (u *mentionUpdate) update(scenes []SceneMentions) {
	for i := range scenes {
		u.setScene(&scenes[i])
	}
	u.resolve()
	for _, scene := range slices.Sorted(maps.Keys(u.added)) {
		u.countMentions(scene, u.added[scene])
	}
}

// endFormerMentions ends the mentions in some former posts, and those in the scenes of some posts that are back, which
// are searched for names again.
func (tx *tx) endFormerMentions(former, back []int64) {
	scenes := func(posts []int64) []listedMentions {
		found, err := collect(tx.ctx, tx, scanListedMentions, `SELECT DISTINCT s.n, s.ord FROM scene_post p
			JOIN scene s ON s.ord = p.place / 1000000
			WHERE s.mentioned = 1 AND p.post_id IN (SELECT value FROM json_each(?)) ORDER BY s.ord`, List(posts))
		tx.fail(err)
		return found
	}
	var ended []SceneMentions
	again := scenes(back)
	for _, s := range again {
		ended = append(ended, SceneMentions{Scene: s.n})
	}
	for _, s := range scenes(former) {
		held := SceneMentions{Scene: s.n, Mentions: map[Mention]string{}} // setScene leaves out former posts
		for _, m := range tx.mentionsOf(s.order) {
			held.Mentions[m] = ""
		}
		if !slices.Contains(again, s) {
			ended = append(ended, held)
		}
	}
	if tx.err == nil {
		tx.newMentionUpdate().update(ended)
	}
	for _, s := range again {
		tx.exec(`DELETE FROM scene_word WHERE rowid = ?`, s.n)
		tx.exec(`UPDATE scene SET mentioned = 0 WHERE n = ?`, s.n)
	}
}

// listedMentions is a scene that was searched for names.
type listedMentions struct {
	n     int
	order annotator.Order
}

func scanListedMentions(rows *sql.Rows, s *listedMentions) error { return rows.Scan(&s.n, &s.order) }

func (u *mentionUpdate) setScene(s *SceneMentions) {
	var order annotator.Order
	var again bool
	u.scan([]any{&order, &again}, `SELECT ord, mentioned FROM scene WHERE n = ?`, s.Scene)
	held := map[Mention]bool{}
	if again {
		for _, m := range u.mentionsOf(order) {
			held[m] = true
			if _, found := s.Mentions[m]; !found || u.gone[m.Place] {
				u.count(&m, 0)
				u.execOne(`UPDATE mention SET until_seen = ?, ended_by = ?
					WHERE entry_id = ? AND place = ? AND start_at = ? AND ended_by IS NULL`,
					u.now.seen, u.now.revision, m.Entry, m.Place, m.Start)
			}
		}
	}
	for m, text := range s.Mentions {
		if held[m] || u.gone[m.Place] {
			continue
		}
		since := u.names.of(u.tx, m.Entry, text)
		if again && since.revision <= u.former { // a longer name was there, or the entry was not live
			since = knownSince{u.now.revision, max(u.now.seen, since.seen)}
		}
		u.fresh[m] = since.revision
		u.insert(&m, since, 1)
	}
	if !again {
		u.execOne(`INSERT INTO scene_word (rowid, words) VALUES (?, ?)`, s.Scene, strings.Join(s.Words, " "))
		u.execOne(`UPDATE scene SET mentioned = 1 WHERE n = ?`, s.Scene)
	}
}

// mentionsOf returns the mentions in a scene that have not ended.
func (tx *tx) mentionsOf(scene annotator.Order) []Mention {
	found, err := collect(tx.ctx, tx, ScanMention, `SELECT entry_id, place, start_at, end_at FROM mention
		WHERE place BETWEEN ? AND ? AND ended_by IS NULL`, annotator.PlaceAt(scene, 0), annotator.PlaceAt(scene+1, 0)-1)
	tx.fail(err)
	return found
}

// aliasesSince are the normalised names of entries, with the time when each became known.
type aliasesSince map[int64]map[string]knownSince

// of returns when the name of an entry in a text became known. The text may have an ending, and other characters
// between the words. If the text begins with no name, the newest name counts.
func (a aliasesSince) of(tx *tx, entry int64, text string) knownSince {
	if a[entry] == nil {
		a[entry] = map[string]knownSince{}
		tx.fail(sqlite.Each(tx.ctx, tx, func(rows *sql.Rows) error {
			var key string
			var since knownSince
			err := rows.Scan(&key, &since.revision, &since.seen)
			a[entry][key] = since
			return err
		}, `SELECT v.key, v.set_by, `+learned+` FROM value v JOIN revision r ON r.id = v.set_by
			WHERE v.entry_id = ?2 AND v.field = 'alias' AND v.ended_by IS NULL`, tx.head.seen, entry))
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

// ScanMention scans the entry, the place, the start and the end of a mention.
func ScanMention(rows *sql.Rows, m *Mention) error {
	return rows.Scan(&m.Entry, &m.Place, &m.Start, &m.End)
}
