package storage

import (
	"encoding/json"
	"fmt"
	"strconv"

	"annotator"
	"annotator/codex"
)

// value is a value of an entry: the field, which of the field's values, and whether it is in force.
type value struct {
	field annotator.Field
	key   string
	holds bool // not a claim that no longer does
}

// valuesOf returns the value that a revision ends, and the one that it sets. Either may be nil: a decision of the
// curator is a record only.
func valuesOf(r *annotator.Revision) (ended, set *value, err error) {
	if ended, err = valueOf(r.Field, r.Old); err == nil {
		set, err = valueOf(r.Field, r.New)
	}
	if err != nil {
		err = fmt.Errorf("revision %d: %w", r.ID, err)
	}
	return ended, set, err
}

func valueOf(field annotator.Field, text string) (*value, error) {
	v := &value{field: field, holds: true}
	if text == "" && field != annotator.FieldPresent { // an empty statement is dated as well
		return nil, nil
	}
	switch field {
	case annotator.FieldCuratorDecision:
		return nil, nil
	case annotator.FieldRetired, annotator.FieldMerge:
		v.field = annotator.FieldStatus
	case annotator.FieldTag:
		v.key = text
	case annotator.FieldAlias, annotator.FieldClaim, annotator.FieldEvidence:
		var parts struct {
			Name     string
			ID, Post int64
			Until    annotator.Place
		}
		if err := json.Unmarshal([]byte(text), &parts); err != nil {
			return nil, err
		}
		v.holds = parts.Until == 0
		if v.key = codex.Normalize(parts.Name); field != annotator.FieldAlias {
			v.key = strconv.FormatInt(parts.ID+parts.Post, 10) // a claim has an id, evidence a post
		}
	}
	return v, nil
}

// validityID returns the id of a value in table validity. It sorts by how far the story was read, so that a limit is a range
// of ids, and the full-text index reads no row after it. Revisions of one scene differ by less than the second factor.
func validityID(r *annotator.Revision) int64 { return int64(r.Seen)<<20 | r.ID&(1<<20-1) }

// setValidity records what a revision sets, and the end of what was in its place.
func (tx *tx) setValidity(r *annotator.Revision) {
	ended, set, err := valuesOf(r)
	tx.fail(err)
	if ended != nil {
		tx.exec(`UPDATE validity SET until_seen = ?, until_id = ? WHERE entry_id = ? AND field = ? AND key = ? AND until_id IS NULL`,
			r.Seen, r.ID, r.Entry, ended.field, ended.key)
	}
	if set != nil {
		tx.exec(`INSERT INTO validity (id, revision_id, entry_id, field, key, holds, from_seen) VALUES (?, ?, ?, ?, ?, ?, ?)`,
			validityID(r), r.ID, r.Entry, set.field, set.key, set.holds, r.Seen)
	}
}

// listed is what lists of entries are sorted and filtered by.
type listed struct {
	term   string // normalised, with the disambiguator
	status annotator.Status
}

func listedOf(e *annotator.Entry) listed { return listed{codex.Normalize(e.Name()), e.Status} }

// setVersion records what a revision makes of an entry, if lists show it otherwise than before. The zero listed is that
// of an entry that was not there.
func (tx *tx) setVersion(former, now listed, r *annotator.Revision) {
	if now == former {
		return
	}
	if former != (listed{}) {
		tx.execOne(`UPDATE entry_version SET until_seen = ?, until_id = ? WHERE entry_id = ? AND until_id IS NULL`, r.Seen, r.ID, r.Entry)
	}
	tx.exec(`INSERT INTO entry_version (entry_id, revision_id, term_normalized, status, from_seen) VALUES (?, ?, ?, ?, ?)`,
		r.Entry, r.ID, now.term, now.status, r.Seen)
}
