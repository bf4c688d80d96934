package view

import (
	"cmp"
	"context"
	"database/sql"
	"slices"
	"strings"

	"annotator/codex"
	"annotator/internal/sqlite"
	"annotator/storage"
)

// TagCount is a tag with the number of the entries that have it.
type TagCount struct {
	Tag   string
	Count int
}

// Tags counts the entries of the codex by tag, those with the most entries first. It returns at most limit tags.
func (v *View) Tags(ctx context.Context, limit int) ([]TagCount, error) {
	scan := func(rows *sql.Rows, c *TagCount) error { return rows.Scan(&c.Tag, &c.Count) }
	return readAll(ctx, v, "count the tags", scan, `SELECT v.key, count(*) FROM value v WHERE v.field = 'tag'
		AND `+v.r.Limit.InForce("v")+` AND v.entry_id NOT IN
		  (SELECT g.entry_id FROM value g WHERE `+v.r.Limit.Gone("g")+`)
		GROUP BY v.key ORDER BY 2 DESC, 1 LIMIT ?2`, v.r.Limit.Bound(), limit)
}

// Letters returns the first letters of the terms, as codex.Normalize writes them, in their order. It looks up one term
// for each.
func (v *View) Letters(ctx context.Context) ([]string, error) {
	first := `SELECT substr(min(v.key), 1, 1) FROM value v WHERE v.field = 'term' AND ` + v.r.Limit.InForce("v")
	return readAll(ctx, v, "read the letters", storage.ScanValue[string], `WITH RECURSIVE letter (l) AS (
		  SELECT (`+first+`)
		  UNION ALL SELECT (`+first+` AND v.key > letter.l || char(1114111)) FROM letter WHERE letter.l IS NOT NULL)
		SELECT l FROM letter WHERE l IS NOT NULL AND l <> ''`, v.r.Limit.Bound())
}

// NamesBeginning returns names in the codex of which a word begins with a text. Names that begin with it come first,
// then those of entries that the story mentions most. It returns at most limit names.
func (v *View) NamesBeginning(ctx context.Context, text string, limit int) ([]string, error) {
	const candidates = 300 // the first in the story
	text = codex.Visible(text)
	if !codex.HasWord(text) {
		return nil, nil
	}
	names := map[string]int64{}
	err := v.r.Each(ctx, func(rows *sql.Rows) error {
		var entry int64
		var name string
		err := rows.Scan(&entry, &name)
		names[name] = entry
		return err
	}, `SELECT v.entry_id, v.json ->> 'name' FROM glossary_fts_name f CROSS JOIN value v ON v.id = f.rowid
		WHERE glossary_fts_name MATCH ?2 AND f.rowid < ?3 AND v.field = 'alias' AND `+v.r.Limit.InForce("v")+`
		AND `+v.r.Limit.Live("v.entry_id")+` ORDER BY f.rowid LIMIT ?4`,
		v.r.Limit.Bound(), storage.Phrase(codex.Clean(text))+" *", v.r.Limit.End(), candidates)
	if err != nil {
		return nil, sqlite.Wrap(err, "look for names in %s", v.db.Path())
	}
	list, of := make([]string, 0, len(names)), make([]int64, 0, len(names))
	for name, entry := range names {
		list, of = append(list, name), append(of, entry)
	}
	weights, err := v.Weights(ctx, of)
	begins := func(name string) int {
		switch key := codex.Normalize(name); {
		case key == codex.Normalize(text):
			return 0
		case strings.HasPrefix(key, codex.Normalize(text)):
			return 1
		}
		return 2
	}
	slices.SortFunc(list, func(a, b string) int {
		return cmp.Or(begins(a)-begins(b), weights[names[b]]-weights[names[a]], cmp.Compare(a, b))
	})
	return list[:min(limit, len(list))], err
}

// MentionsOf returns how often the story mentions entries, by their ids.
func (v *View) MentionsOf(ctx context.Context, entries []int64) (map[int64]int, error) {
	return v.sums(ctx, `SELECT entry_id, mentions FROM (`+v.blocks()+`)`, entries)
}

// Weights returns how much the story has of entries, by their ids: how often it mentions them, and how many facts it
// tells of them. Narration calls some persons "you" or "I", and seldom by a name.
func (v *View) Weights(ctx context.Context, entries []int64) (map[int64]int, error) {
	return v.sums(ctx, `SELECT entry_id, mentions FROM (`+v.blocks()+`) UNION ALL SELECT v.entry_id, 1
		FROM json_each(?2) c CROSS JOIN value v INDEXED BY value_entry ON v.entry_id = c.value AND v.field = 'claim'
		WHERE v.holds = 1 AND `+v.r.Limit.InForce("v"), entries)
}

// sums adds the numbers up that a query has for each of some entries. An entry may be listed twice.
func (v *View) sums(ctx context.Context, query string, entries []int64) (map[int64]int, error) {
	sums := map[int64]int{}
	entries = slices.Clone(entries)
	slices.Sort(entries)
	entries = slices.Compact(entries)
	err := v.r.Each(ctx, func(rows *sql.Rows) error {
		var entry int64
		var n int
		err := rows.Scan(&entry, &n)
		sums[entry] += n
		return err
	}, query, v.r.Limit.Bound(), storage.List(entries))
	return sums, sqlite.Wrap(err, "count the mentions in %s", v.db.Path())
}

// Foremost returns the entries with the most weight, at most limit of them. It weighs those with the most mentions or
// facts in the whole story, until no other can have more within the limit.
func (v *View) Foremost(ctx context.Context, limit int) ([]EntryCount, error) {
	for looked := 2 * limit; ; looked *= 2 {
		mentioned, err := v.everMentioned(ctx, 0, looked)
		if err != nil {
			return nil, err
		}
		told, err := readAll(ctx, v, "count the facts", scanEntryCount,
			`SELECT id, claimed FROM entry ORDER BY claimed DESC, id LIMIT ?`, looked)
		if err != nil {
			return nil, err
		}
		others := 0 // the most weight that another entry can have
		for _, list := range [][]EntryCount{mentioned, told} {
			if len(list) == looked {
				others += list[looked-1].Count
			}
		}
		weights, err := v.Weights(ctx, ids(append(mentioned, told...)))
		var most []EntryCount
		for id, n := range weights {
			most = append(most, EntryCount{id, n})
		}
		slices.SortFunc(most, compareCounts)
		most = most[:min(limit, len(most))]
		if err != nil || others == 0 || len(most) == limit && most[limit-1].Count > others {
			return most, err
		}
	}
}
