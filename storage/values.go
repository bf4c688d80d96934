package storage

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"

	"annotator"
	"annotator/codex"
)

// value is a value of an entry: a row of table value without its period.
type value struct {
	field annotator.Field
	key   string // which of the field's values
	json  string
	holds bool // not a claim that was closed
}

// valuesOf returns the value that a revision ends and the one that it sets. Either may be nil.
func valuesOf(r *annotator.Revision) (ended, set *value, err error) {
	if ended, err = valueOf(r.Field, r.Old); err == nil {
		set, err = valueOf(r.Field, r.New)
	}
	switch r.Field {
	case annotator.FieldStatus, annotator.FieldRetired, annotator.FieldMerge:
		// The old value is the status. The new value may be a reason.
		ended = &value{field: annotator.FieldStatus, key: r.Old}
	}
	if err != nil {
		err = fmt.Errorf("revision %d: %w", r.ID, err)
	}
	return ended, set, err
}

func valueOf(field annotator.Field, text string) (*value, error) {
	if text == "" && field != annotator.FieldRetired { // which may have no reason
		return nil, nil
	}
	v := &value{field: field, json: quote(text), holds: true}
	switch field {
	case annotator.FieldTerm:
		v.key = codex.Normalize(text)
	case annotator.FieldTag, annotator.FieldStatus, annotator.FieldLock:
		v.key = text
	case annotator.FieldRetired:
		v.field, v.key = annotator.FieldStatus, string(annotator.Retired)
	case annotator.FieldMerge:
		v.field, v.key = annotator.FieldStatus, string(annotator.Merged)
	case annotator.FieldAlias, annotator.FieldClaim, annotator.FieldEvidence:
		v.json = text
		var err error
		v.key, v.holds, err = keyOf(field, text)
		return v, err
	case annotator.FieldCuratorDecision:
		v.json = text
	}
	return v, nil
}

// keyOf returns the key of an alias, a claim or evidence, and whether it holds.
func keyOf(field annotator.Field, text string) (key string, holds bool, err error) {
	var parts struct {
		Name            string
		ID, Claim, Post int64
		Start, End      int
		Until           annotator.Place
	}
	if err := json.Unmarshal([]byte(text), &parts); err != nil {
		return "", false, err
	}
	switch field {
	case annotator.FieldAlias:
		key = codex.Normalize(parts.Name)
	case annotator.FieldClaim:
		key = strconv.FormatInt(parts.ID, 10)
	default:
		key = fmt.Sprintf("%d/%d/%d-%d", parts.Claim, parts.Post, parts.Start, parts.End)
	}
	return key, parts.Until == 0, nil
}

// quote encodes a text as JSON.
func quote(text string) string {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	_ = encoder.Encode(text) // fails for no text
	return string(bytes.TrimSuffix(b.Bytes(), []byte("\n")))
}

// plain returns a value as a revision has it: JSON of an alias, a claim, evidence or a decision, and the text
// otherwise.
func plain(field annotator.Field, stored string) (text string, err error) {
	switch field {
	case annotator.FieldAlias, annotator.FieldClaim, annotator.FieldEvidence, annotator.FieldCuratorDecision:
		return stored, nil
	}
	if stored != "" {
		err = json.Unmarshal([]byte(stored), &text)
	}
	return text, err
}

// revisionBits is how many bits of a value's id number the revision.
const revisionBits = 20

// valueID returns the id of the value that a revision sets. It sorts by how far the story was read, so that a limit is
// a range of ids. Revisions of one scene differ by less than the second factor.
func valueID(r *annotator.Revision) int64 {
	return int64(r.Seen)<<revisionBits | r.ID&(1<<revisionBits-1)
}

// setValue records what a revision sets, and the end of what was in its place. A decision of the curator is a record
// only: it is never in force.
func (tx *tx) setValue(r *annotator.Revision) {
	ended, set, err := valuesOf(r)
	tx.fail(err)
	if ended != nil {
		tx.exec(`UPDATE value SET ended_by = ?, until_seen = ? WHERE entry_id = ? AND field = ? AND key = ?
			AND ended_by IS NULL`,
			r.ID, r.Seen, r.Entry, ended.field, ended.key)
	}
	if set == nil {
		return
	}
	var until, endedBy any
	if r.Field == annotator.FieldCuratorDecision {
		until, endedBy = r.Seen, r.ID
	}
	tx.execOne(`INSERT INTO value (id, entry_id, field, key, json, holds, set_by, ended_by, from_seen, until_seen)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
		valueID(r), r.Entry, set.field, set.key, set.json, set.holds, r.ID, endedBy, r.Seen, until)
}
