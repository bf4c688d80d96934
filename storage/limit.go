package storage

import "fmt"

// limit is what of table value, or of one with the same columns of periods, is in force at a moment. Its SQL takes ?1 as
// the bound.
type limit struct {
	bound    any    // nil: none
	revision string // the column of table revision that the bound is compared with
	from     string // the columns of table value
	until    string
	end      int64 // the ids of table value are less
}

func (m *Moment) limit() limit {
	end := int64(m.reach.Scene()+1) << revisionBits
	switch {
	case m.snapshot != 0:
		return limit{m.revision, "id", "set_by", "ended_by", end}
	case !m.IsZero():
		return limit{int64(m.whole), "seen", "from_seen", "until_seen", end}
	}
	return limit{until: "ended_by", end: 1<<63 - 1}
}

// made is a condition on revisions that had been made.
func (l *limit) made(table string) string { return l.before(table, l.revision) }

// known is a condition on rows that have begun.
func (l *limit) known(table string) string { return l.before(table, l.from) }

func (l *limit) before(table, column string) string {
	if l.bound == nil {
		return `?1 IS NULL`
	}
	return fmt.Sprintf(`%s.%s <= ?1`, table, column)
}

// inForce is a condition on rows that have begun and not ended.
func (l *limit) inForce(table string) string {
	if l.bound == nil {
		return fmt.Sprintf(`?1 IS NULL AND %s.ended_by IS NULL`, table)
	}
	return fmt.Sprintf(`%[1]s.%[2]s <= ?1 AND (%[1]s.%[3]s IS NULL OR %[1]s.%[3]s > ?1)`, table, l.from, l.until)
}

// inForceThen is a condition on rows m of table mention that were in force at the end of the scene of their post.
const inForceThen = `m.from_seen <= m.place / 1000000 AND (m.until_seen IS NULL OR m.until_seen > m.place / 1000000)`
