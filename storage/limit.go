package storage

import (
	"fmt"

	"annotator"
)

// Limit is what of the codex was known at a moment. The zero Limit is none.
type Limit struct {
	ByRevision bool            // Last is a revision; else it is the order of the scene until which the story was read
	Last       int64           // the last revision, or scene, within the limit
	Reach      annotator.Order // of the furthest scene that was read; 0: no limit
}

// isNone reports whether there is no limit.
func (l Limit) isNone() bool { return l.Reach == 0 }

// Bound is the argument ?1 of the conditions; nil where there is no limit.
func (l Limit) Bound() any {
	if l.isNone() {
		return nil
	}
	return l.Last
}

// columns returns the columns that the bound is compared with. The first is of table revision. The others are the
// beginning and the end of a period in table value, or in a table with the same columns.
func (l Limit) columns() (revision, from, until string) {
	if l.ByRevision {
		return "id", "set_by", "ended_by"
	}
	return "seen", "from_seen", "until_seen"
}

// End is a number that the ids of the values within the limit are less than.
func (l Limit) End() int64 {
	if l.isNone() {
		return 1<<63 - 1
	}
	return int64(l.Reach+1) << revisionBits
}

// Made is a condition on rows of table revision: they had been made.
func (l Limit) Made(table string) string {
	revision, _, _ := l.columns()
	return l.before(table, revision)
}

// Known is a condition on rows that have begun.
func (l Limit) Known(table string) string {
	_, from, _ := l.columns()
	return l.before(table, from)
}

func (l Limit) before(table, column string) string {
	if l.isNone() {
		return `?1 IS NULL`
	}
	return fmt.Sprintf(`%s.%s <= ?1`, table, column)
}

// InForce is a condition on rows that have begun and not ended.
func (l Limit) InForce(table string) string { return l.inForce(table, "IS NULL") }

// Counted is InForce for table mention_count, where 0 means no end.
func (l Limit) Counted(table string) string { return l.inForce(table, "= 0") }

func (l Limit) inForce(table, never string) string {
	if l.isNone() {
		return fmt.Sprintf(`?1 IS NULL AND %s.ended_by %s`, table, never)
	}
	_, from, until := l.columns()
	return fmt.Sprintf(`%[1]s.%[2]s <= ?1 AND (%[1]s.ended_by %[4]s OR %[1]s.%[3]s > ?1)`, table, from, until, never)
}

// Live is a condition on the id of an entry: no status in force removes it from the codex.
func (l Limit) Live(entry string) string {
	return `NOT EXISTS (SELECT 1 FROM value s WHERE s.entry_id = ` + entry + ` AND ` + l.Gone("s") + `)`
}

// Gone is a condition on values that are in force: the status of an entry that is no longer in the codex.
func (l Limit) Gone(table string) string {
	return table + `.field = 'status' AND ` + table + `.key IN ('retired', 'merged') AND ` + l.InForce(table)
}
