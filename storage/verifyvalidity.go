package storage

import (
	"context"
	"database/sql"
	"fmt"

	"annotator"
	"annotator/codex"
	"annotator/internal/sqlite"
)

// period is from when to when a value was in force.
type period struct {
	from           int64 // scenes, as Revision.Seen
	until, untilID sql.NullInt64
}

// endedBy reports whether the period ends with a revision.
func (p period) endedBy(r *annotator.Revision) bool {
	return p.until == sql.NullInt64{Int64: int64(r.Seen), Valid: true} && p.untilID == sql.NullInt64{Int64: r.ID, Valid: true}
}

// validities compares the tables of validity with the revisions, which it is given in order.
type validities struct {
	entries  map[int64]*annotator.Entry
	values   map[entryValue]period // that no revision has ended so far
	versions map[int64]version     // all that are stored, by the id of their revision
	newest   map[int64]period      // of the versions of each entry
}

type entryValue struct {
	entry int64
	value
}

type version struct {
	entry int64
	listed
	period
}

// validityRow is a row of table validity beside its revision.
type validityRow struct {
	id, entry sql.NullInt64 // NULL where the revision has no row
	value
	period
}

// verifyValidity replays the revisions, and compares what was in force from when to when.
func (v *verifier) verifyValidity(ctx context.Context, f *Finding) error {
	c := validities{map[int64]*annotator.Entry{}, map[entryValue]period{}, map[int64]version{}, map[int64]period{}}
	err := sqlite.Each(ctx, v.q, func(rows *sql.Rows) error {
		var revision int64
		var stored version
		err := rows.Scan(&revision, &stored.entry, &stored.term, &stored.status, &stored.from, &stored.until, &stored.untilID)
		c.versions[revision] = stored
		return err
	}, `SELECT revision_id, entry_id, term_normalized, status, from_seen, until_seen, until_id FROM entry_version`)
	if err != nil {
		return err
	}
	err = sqlite.Each(ctx, v.q, func(rows *sql.Rows) error {
		var r annotator.Revision
		var stored validityRow
		err := rows.Scan(&r.ID, &r.Entry, &r.Field, &r.Old, &r.New, &r.At, &r.Seen, &r.Actor, &r.Turn, &r.Trace, &r.Changed, &stored.id, &stored.entry,
			&stored.field, &stored.key, &stored.holds, &stored.from, &stored.until, &stored.untilID)
		if err == nil && (!c.addValue(&r, &stored) || !c.addVersion(&r)) {
			f.add(fmt.Sprintf("what revision %d of entry %d sets or ends is in force at other times", r.ID, r.Entry))
		}
		return err
	}, `SELECT `+revisionColumnsOf("r")+`, v.id, v.entry_id, coalesce(v.field, ''), coalesce(v.key, ''), coalesce(v.holds = 1, 0), coalesce(v.from_seen, 0),
		v.until_seen, v.until_id FROM revision r LEFT JOIN validity v ON v.revision_id = r.id ORDER BY r.id`)
	c.addRest(f)
	return err
}

// addValue reports whether a row is what its revision sets, and the one that the revision ends says so.
func (c *validities) addValue(r *annotator.Revision, stored *validityRow) bool {
	ended, set, err := valuesOf(r)
	ok := err == nil
	if ended != nil {
		key := entryValue{r.Entry, *ended}
		key.holds = false
		if former, open := c.values[key]; open {
			ok = ok && former.endedBy(r)
			delete(c.values, key)
		}
	}
	if set == nil {
		return ok && !stored.id.Valid
	}
	if set.field != annotator.FieldEvidence || stored.untilID.Valid {
		c.values[entryValue{r.Entry, value{field: set.field, key: set.key}}] = stored.period
	}
	return ok && stored.id == sql.NullInt64{Int64: validityID(r), Valid: true} && stored.entry.Int64 == r.Entry && stored.value == *set &&
		stored.from == int64(r.Seen)
}

// addVersion reports whether the versions of an entry say what a revision makes of it.
func (c *validities) addVersion(r *annotator.Revision) bool {
	e, former := c.entries[r.Entry], listed{}
	if e == nil {
		e = &annotator.Entry{ID: r.Entry, Status: annotator.Tentative}
		c.entries[r.Entry] = e
	} else {
		former = listedOf(e)
	}
	if codex.Apply(e, r) != nil {
		return false
	}
	stored, there := c.versions[r.ID]
	delete(c.versions, r.ID)
	now := listedOf(e)
	if now == former {
		return !there
	}
	before, was := c.newest[r.Entry]
	c.newest[r.Entry] = stored.period
	return there && stored.entry == r.Entry && stored.listed == now && stored.from == int64(r.Seen) && (!was || before.endedBy(r))
}

// addRest adds what is left when all revisions are replayed.
func (c *validities) addRest(f *Finding) {
	for key, p := range c.values {
		if p.untilID.Valid || p.until.Valid {
			f.add(fmt.Sprintf("the %s %q of entry %d is in force, and has an end", key.field, key.key, key.entry))
		}
	}
	for entry, p := range c.newest {
		if p.untilID.Valid || p.until.Valid {
			f.add(fmt.Sprintf("the newest version of entry %d has an end", entry))
		}
	}
	for revision := range c.versions {
		f.add(fmt.Sprintf("revision %d made no version of an entry", revision))
	}
}
