package storage

import "fmt"

// limit is what of a table with the columns of table validity is in force at a moment. Its SQL takes ?1 as the bound.
type limit struct {
	bound any    // nil: none
	from  string // the column that the bound is compared with
	until string
	reach int64 // ids of table validity are less
}

func (m *Moment) limit() limit {
	reach := int64(m.reach.Scene()+1) << 20
	switch m.bound {
	case "id":
		return limit{m.last, "revision_id", "until_id", reach}
	case "seen":
		return limit{m.last, "from_seen", "until_seen", reach}
	}
	return limit{nil, "", "until_id", 1<<63 - 1}
}

// known is a condition on rows that have begun.
func (l *limit) known(table string) string {
	if l.bound == nil {
		return `?1 IS NULL`
	}
	return fmt.Sprintf(`%s.%s <= ?1`, table, l.from)
}

// inForce is a condition on rows that have begun and not ended.
func (l *limit) inForce(table string) string {
	if l.bound == nil {
		return fmt.Sprintf(`?1 IS NULL AND %s.until_id IS NULL`, table)
	}
	return fmt.Sprintf(`%[1]s.%[2]s <= ?1 AND (%[1]s.%[3]s IS NULL OR %[1]s.%[3]s > ?1)`, table, l.from, l.until)
}

// inForceThen is a condition on rows m of table mention that were in force at the end of the scene of their post.
const inForceThen = `m.from_seen <= m.place / 1000000 AND (m.until_seen IS NULL OR m.until_seen > m.place / 1000000)`
