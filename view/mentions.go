package view

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"

	"annotator"
	"annotator/internal/sqlite"
	"annotator/storage"
)

// SharedMention is a mention with the other entries that have the same name there.
type SharedMention struct {
	storage.Mention
	Others    []int64
	Ambiguous bool // what comes before does not say which of them is meant
}

// visible is a condition on rows of table mention: the post and the revision that gives the entry the name are within
// the limit. A name that is revealed later must not be found in earlier posts, because it would reveal who is meant.
// The + keeps SQLite from using the place as the only bound of an index.
func (v *View) visible(table string) string {
	return fmt.Sprintf(`%s AND +%s.place <= %d`, v.r.Limit.InForce(table), table, v.lastPlace())
}

// lastPlace returns the place of the last post within the limit.
func (v *View) lastPlace() int64 {
	if v.m.IsZero() {
		return 1<<63 - 1
	}
	return int64(v.m.reach)
}

// Mentions returns the mentions of an entry, in the story's order, and how many there are without offset and limit.
// Those that are ambiguous are among them, and those that mean another entry are not.
func (v *View) Mentions(ctx context.Context, entry int64,
	offset, limit int,
) (found []SharedMention, total int, err error) {
	where := fmt.Sprintf(` FROM mention m WHERE m.entry_id = ?2 AND m.place <= %d AND %s AND (m.meant OR NOT %s)`,
		v.lastPlace(), v.visible("m"), v.sameName(`o.meant`))
	if err := v.r.Row(ctx, `SELECT count(*)`+where, v.r.Limit.Bound(), entry).Scan(&total); err != nil {
		return nil, 0, sqlite.Wrap(err, "count the mentions in %s", v.db.Path())
	}
	found, err = v.mentions(ctx, where+` ORDER BY m.place, m.start_at LIMIT iif(?3 > 0, ?3, -1) OFFSET ?4`,
		v.r.Limit.Bound(), entry, limit, offset)
	return found, total, err
}

// Span is where a story mentions an entry, or tells a fact of it.
type Span struct{ First, Last annotator.Place }

// Seen returns where the story first and last mentions entries or tells facts of them, by their ids. Entries without a
// fact and without a mention that means them are left out.
func (v *View) Seen(ctx context.Context, entries []int64) (map[int64]Span, error) {
	end := func(order, which string) string {
		return fmt.Sprintf(`(SELECT %[1]s(place) FROM (SELECT * FROM (SELECT m.place AS place FROM mention m
			WHERE m.entry_id = c.value AND m.place <= %[3]d AND m.meant AND %[4]s ORDER BY m.place %[2]s LIMIT 1)
			UNION ALL SELECT %[1]s(v.json ->> 'from') FROM value v WHERE v.entry_id = c.value AND v.field = 'claim'
			AND v.json ->> 'from' BETWEEN 1 AND %[3]d AND %[5]s AND %[6]s))`,
			which, order, v.lastPlace(), v.visible("m"), v.r.Limit.InForce("v"), told)
	}
	found := map[int64]Span{}
	err := v.r.Each(ctx, func(rows *sql.Rows) error {
		var entry int64
		var first, last sql.Null[int64]
		err := rows.Scan(&entry, &first, &last)
		if first.Valid && last.Valid {
			found[entry] = Span{annotator.Place(first.V), annotator.Place(last.V)}
		}
		return err
	}, `SELECT c.value, `+end("ASC", "min")+`, `+end("DESC", "max")+` FROM json_each(?2) c`,
		v.r.Limit.Bound(), storage.List(entries))
	return found, sqlite.Wrap(err, "read the mentions in %s", v.db.Path())
}

// sameName is a condition on mentions m: another entry has the name there, in a row o that the condition selects.
func (v *View) sameName(condition string) string {
	return `EXISTS (SELECT 1 FROM ` + v.others() + ` AND ` + condition + `)`
}

// others are the rows o of the other entries that have the name of a mention m.
func (v *View) others() string {
	return `mention o WHERE o.place = m.place AND o.start_at = m.start_at AND o.end_at = m.end_at
		AND o.entry_id <> m.entry_id AND ` + v.visible("o")
}

// MentionsIn returns the mentions in some consecutive scenes, in the story's order. An ambiguous name has several.
func (v *View) MentionsIn(ctx context.Context, first, last annotator.Order) ([]storage.Mention, error) {
	return v.mentionsIn(ctx, first, last, v.r.Limit.InForce("m"))
}

// MentionsThen returns the mentions in some consecutive scenes as they were known when each scene was read. For each
// scene they are those that MentionsIn returns within a limit at its end.
func (v *View) MentionsThen(ctx context.Context, first, last annotator.Order) ([]storage.Mention, error) {
	return v.mentionsIn(ctx, first, last, v.r.Limit.Known("m")+` AND `+inForceThen)
}

func (v *View) mentionsIn(ctx context.Context, first, last annotator.Order,
	condition string,
) ([]storage.Mention, error) {
	type row struct {
		storage.Mention
		meant bool
	}
	scan := func(rows *sql.Rows, m *row) error {
		return rows.Scan(&m.Entry, &m.Place, &m.Start, &m.End, &m.meant)
	}
	rows, err := readAll(ctx, v, "read the mentions", scan,
		fmt.Sprintf(`SELECT entry_id, place, start_at, end_at, meant FROM mention m
		WHERE m.place BETWEEN ?2 AND ?3 AND +m.place <= %d AND %s
		ORDER BY m.place, m.start_at, m.end_at, m.meant DESC, m.entry_id`, v.lastPlace(), condition),
		v.r.Limit.Bound(), annotator.PlaceAt(first, 0), annotator.PlaceAt(last+1, 0)-1)
	var found []storage.Mention
	for i := range rows {
		m := &rows[i]
		if last := len(found) - 1; !m.meant && last >= 0 && rows[i-1].meant && sameName(&found[last], &m.Mention) {
			m.meant = true // so is the next one left out
			continue
		}
		found = append(found, m.Mention)
	}
	return found, err
}

// sameName reports whether two mentions are of the same words.
func sameName(a, b *storage.Mention) bool {
	return a.Place == b.Place && a.Start == b.Start && a.End == b.End
}

func (v *View) mentions(ctx context.Context, rest string, args ...any) ([]SharedMention, error) {
	scan := func(rows *sql.Rows, m *SharedMention) error {
		var others string
		var meant bool
		if err := rows.Scan(&m.Entry, &m.Place, &m.Start, &m.End, &meant, &others); err != nil {
			return err
		}
		m.Ambiguous = !meant
		return json.Unmarshal([]byte(others), &m.Others)
	}
	return readAll(ctx, v, "read the mentions", scan,
		`SELECT m.entry_id, m.place, m.start_at, m.end_at, m.meant,
		(SELECT json_group_array(o.entry_id) FROM `+v.others()+`)`+rest, args...)
}

// inForceThen is a condition on rows m of table mention that were in force at the end of the scene of their post.
const inForceThen = `m.from_seen <= m.place / 1000000 AND (m.until_seen IS NULL OR m.until_seen > m.place / 1000000)`
