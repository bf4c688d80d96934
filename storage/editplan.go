package storage

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"annotator"
	"annotator/codex"
	"annotator/internal/sqlite"
)

// edit is an operation of a person that is planned.
type edit struct {
	Reader
	ctx    context.Context //nolint:containedctx // an edit lives as long as its plan
	op     *annotator.Operation
	on     codex.Subject
	values []seenValue // of the entries, in force
	birth  map[int64]annotator.Order
	// changed has the furthest scene from which a value of the operation began or ended, by its place.
	changed map[valuePlace]annotator.Order
}

// seenValue is a value in force, with the scene from which it is known.
type seenValue struct {
	value
	entry int64
	seen  annotator.Order
}

// plan returns the revisions of the operation, each with its place and the scene from which it is seen. The error is a
// *codex.Refusal if the rules reject it.
func (e *edit) plan() ([]annotator.Revision, error) {
	e.on.Past = func(entry int64) ([]annotator.Revision, error) {
		return collect(e.ctx, e.q, ScanRevision, Revisions+` WHERE r.entry_id = ? ORDER BY r.id`, entry)
	}
	if err := e.readSubject(); err != nil {
		return nil, err
	}
	if e.op.Do == annotator.DeedAnswer {
		return nil, e.answer()
	}
	if e.op.Do == annotator.DeedUndo && len(e.on.Former) == 0 { // of an answer, which has no revisions
		return nil, nil
	}
	from, err := e.from()
	if err != nil {
		return nil, err
	}
	if e.on.At, err = e.endOf(from); err != nil {
		return nil, err
	}
	if v := e.op.Evidence; v != nil {
		err := e.Row(e.ctx, `SELECT place FROM scene_post WHERE post_id = ?`, v.Post).Scan(&e.on.At)
		if err != nil {
			return nil, orRefusal(err, "post %d is in no scene of the story", v.Post)
		}
	}
	revisions, err := codex.Perform(e.op, &e.on)
	if err != nil {
		return nil, err
	}
	if err := e.checkNames(revisions); err != nil {
		return nil, err
	}
	return revisions, e.date(revisions, from)
}

func orRefusal(err error, format string, args ...any) error {
	if errors.Is(err, sql.ErrNoRows) {
		return &codex.Refusal{Code: "NOT_FOUND", Message: fmt.Sprintf(format, args...)}
	}
	return err
}

// readSubject reads the entries and the revisions that the operation is about.
func (e *edit) readSubject() (err error) {
	switch e.op.Do {
	case annotator.DeedUndo:
		err = e.readUndone()
	case annotator.DeedRevert:
		e.on.Former, err = collect(e.ctx, e.q, ScanRevision, Revisions+` WHERE r.id = ?`, e.op.Revision)
	}
	if err != nil {
		return err
	}
	ids := []int64{e.op.Entry, e.op.Other}
	for i := range e.on.Former {
		ids = append(ids, e.on.Former[i].Entry)
	}
	if e.on.Entries, err = e.Entries(e.ctx, ids, Whole); err != nil {
		return err
	}
	switch {
	case e.op.Do == annotator.DeedCreate:
		e.on.Entries[0] = &annotator.Entry{}
	case e.op.Do == annotator.DeedRevert && len(e.on.Former) > 0:
		e.op.Entry = e.on.Former[0].Entry
	}
	if source := e.on.Entries[e.op.Entry]; e.op.Do == annotator.DeedSplit && source != nil && source.MergedInto != 0 {
		if ids, err = append(ids, source.MergedInto), e.readMerge(source); err != nil {
			return err
		}
	}
	return e.readValues(ids)
}

// readUndone finds the operation with the row that is named, or the newest one that was not undone. If the person who
// asks is named, it is one of that person.
func (e *edit) readUndone() error {
	err := e.Row(e.ctx, `SELECT t.id FROM trace t WHERE t.kind = 'edit' AND t.error = '' AND t.tool <> 'undo'
		AND ?1 IN (0, t.id) AND (?1 > 0 OR ?2 IN ('', t.arguments ->> 'by')) AND `+NotUndone+`
		ORDER BY t.id DESC LIMIT 1`, e.op.Row, e.op.By).Scan(&e.op.Row)
	if err != nil {
		return orRefusal(err, "no edit is left to undo")
	}
	e.on.Former, err = collect(e.ctx, e.q, ScanRevision, Revisions+` WHERE r.turn = 0 AND r.trace_id = ? ORDER BY r.id`,
		e.op.Row)
	return err
}

// readMerge reads what the merge of an entry has added, and the entry that got it.
func (e *edit) readMerge(source *annotator.Entry) error {
	row, err := collect(e.ctx, e.q, ScanRevision, `WITH merge AS (SELECT m.* FROM value v
		  JOIN revision m ON m.id = v.set_by
		  WHERE v.entry_id = ? AND v.field = 'status' AND v.key = 'merged' AND v.ended_by IS NULL)
		`+Revisions+` JOIN merge m ON r.turn = m.turn AND r.trace_id = m.trace_id AND r.id <= m.id ORDER BY r.id`,
		source.ID)
	if err != nil || len(row) == 0 {
		return err
	}
	e.on.Former = append(slices.Clone(codex.Moved(row, source)), row[len(row)-1])
	target, err := e.Entries(e.ctx, []int64{source.MergedInto}, Whole)
	e.on.Entries[source.MergedInto] = target[source.MergedInto]
	return err
}

// readValues reads the values in force of entries, and from where each entry is known.
func (e *edit) readValues(ids []int64) (err error) {
	e.values, err = collect(e.ctx, e.q, func(rows *sql.Rows, v *seenValue) error {
		return rows.Scan(&v.entry, &v.field, &v.key, &v.json, &v.seen)
	}, `SELECT entry_id, field, key, json, from_seen FROM value
		WHERE entry_id IN (SELECT value FROM json_each(?)) AND ended_by IS NULL`, List(ids))
	if err != nil {
		return err
	}
	e.birth, e.changed = map[int64]annotator.Order{}, map[valuePlace]annotator.Order{}
	return sqlite.Each(e.ctx, e.q, func(rows *sql.Rows) error {
		var entry int64
		var seen annotator.Order
		err := rows.Scan(&entry, &seen)
		e.birth[entry] = seen
		return err
	}, `SELECT entry_id, min(from_seen) FROM value WHERE entry_id IN (SELECT value FROM json_each(?))
		GROUP BY entry_id`, List(ids))
}

// seenOf returns the furthest scene from which a value that a condition selects is known; 0 for none.
func (e *edit) seenOf(is func(*seenValue) bool) (furthest annotator.Order) {
	for i := range e.values {
		if is(&e.values[i]) {
			furthest = max(furthest, e.values[i].seen)
		}
	}
	return furthest
}

// from returns the scene from which the operation is seen: that which the person named. Else it is that from which what
// it changes or quotes is known. What takes revisions back is seen from where these are.
func (e *edit) from() (annotator.Order, error) {
	read, err := e.read()
	if err != nil {
		return 0, err
	}
	op := e.op
	from := cmp.Or(op.From, e.birth[op.Entry])
	switch {
	case op.Do == annotator.DeedMerge && op.From == 0:
		return e.seenOf(func(*seenValue) bool { return true }), nil
	case op.Do == annotator.DeedMerge, op.Do == annotator.DeedNever:
		return max(from, e.birth[op.Entry], e.birth[op.Other]), nil
	case op.Evidence != nil:
		err := e.Row(e.ctx, `SELECT place / 1000000 FROM scene_post WHERE post_id = ?`, op.Evidence.Post).Scan(&from)
		err = orRefusal(err, "post %d is in no scene of the story", op.Evidence.Post)
		return max(from, op.From, e.birth[op.Entry]), err
	case (op.Do == annotator.DeedCreate || op.Do == annotator.DeedAdd || op.Do == annotator.DeedEnd) && op.From == 0:
		return read, nil
	}
	return max(from, e.birth[op.Entry], e.seenOf(e.changes)), nil
}

// read returns the furthest scene that was read. The person may name none after it.
func (e *edit) read() (annotator.Order, error) {
	read, err := e.readTo(e.ctx)
	if err == nil && e.op.From > read {
		err = &codex.Refusal{Code: "NOT_FOUND", Message: "the story is not read up to there"}
	}
	return read, err
}

// changes reports whether the operation is about a value of its entry.
func (e *edit) changes(v *seenValue) bool {
	switch {
	case v.entry != e.op.Entry:
		return false
	case e.op.Fact != 0:
		return v.field == annotator.FieldClaim && v.key == fmt.Sprint(e.op.Fact)
	case e.op.Do == annotator.DeedRename && v.field == annotator.FieldTerm:
		return true
	case e.op.Name != "":
		term, _ := codex.SplitName(e.op.Name)
		keys := []string{codex.Normalize(e.op.Name), codex.Normalize(term)}
		return v.field == annotator.FieldAlias && slices.Contains(keys, v.key)
	case e.op.Do == annotator.DeedRetag:
		return v.field == annotator.FieldTag
	case e.op.Do == annotator.DeedHide, e.op.Do == annotator.DeedKeep:
		return v.field == annotator.FieldStatus
	}
	return false
}

// date sets the place of revisions and the scene from which each is seen. That is no earlier than the scene of a value
// that the revision copies, or of what it rests on.
func (e *edit) date(revisions []annotator.Revision, from annotator.Order) error {
	if e.op.Do == annotator.DeedUndo || e.op.Do == annotator.DeedRevert || e.op.Do == annotator.DeedSplit {
		from = e.op.From
	}
	for i := range revisions {
		r := &revisions[i]
		ended, set, err := valuesOf(r)
		if err != nil {
			return err
		}
		r.Seen = max(r.Seen, from, e.birth[r.Entry], e.seenOf(func(v *seenValue) bool {
			return set != nil && r.Old == "" && v.field == set.field && v.source() == set.source()
		}))
		changed := places(r.Entry, ended, set)
		rests, err := e.restsOn(r, changed)
		if err != nil {
			return err
		}
		r.Seen = max(r.Seen, rests)
		for _, p := range changed {
			e.changed[p] = r.Seen
		}
		if r.At.Order() == r.Seen {
			continue
		}
		if r.At, err = e.endOf(r.Seen); err != nil {
			return err
		}
	}
	return nil
}

// valuePlace is where one value at a time is in force.
type valuePlace struct {
	entry int64
	field annotator.Field
	key   string // empty: an entry has one value of the field
}

// places returns the places of some values of an entry. Any of them may be nil.
func places(entry int64, values ...*value) (all []valuePlace) {
	for _, v := range values {
		if v == nil {
			continue
		}
		p := valuePlace{entry, v.field, v.key}
		switch v.field {
		case annotator.FieldTerm, annotator.FieldPresent, annotator.FieldStatus:
			p.key = ""
		}
		all = append(all, p)
	}
	return all
}

// restsOn returns the furthest scene of what a revision rests on. That is what its places have held. A quotation rests
// on its claim, and the removal of a claim on that of its quotations.
func (e *edit) restsOn(r *annotator.Revision, changed []valuePlace) (seen annotator.Order, err error) {
	for _, p := range changed {
		found := []valuePlace{p}
		switch {
		case p.field == annotator.FieldEvidence:
			claim, _, _ := strings.Cut(p.key, "/")
			found = append(found, valuePlace{p.entry, annotator.FieldClaim, claim})
		case p.field == annotator.FieldClaim && r.New == "":
			quotations, err := e.quotations(p)
			if err != nil {
				return 0, err
			}
			found = append(found, quotations...)
		}
		for _, p := range found {
			last, err := e.lastChange(p)
			if err != nil {
				return 0, err
			}
			seen = max(seen, last)
		}
	}
	return seen, nil
}

// lastChange returns the furthest scene from which a value of a place began or ended, before the operation or by it; 0
// for none.
func (e *edit) lastChange(p valuePlace) (seen annotator.Order, err error) {
	if seen, known := e.changed[p]; known {
		return seen, nil
	}
	query, args := `SELECT coalesce(max(max(from_seen, coalesce(until_seen, 0))), 0) FROM value
		WHERE entry_id = ? AND field = ?`, []any{p.entry, p.field}
	if p.key != "" {
		query, args = query+` AND key = ?`, append(args, p.key)
	}
	err = e.Row(e.ctx, query, args...).Scan(&seen)
	return seen, err
}

// quotations returns the places of all quotations that a claim has had.
func (e *edit) quotations(claim valuePlace) ([]valuePlace, error) {
	return collect(e.ctx, e.q, func(rows *sql.Rows, p *valuePlace) error {
		p.entry, p.field = claim.entry, annotator.FieldEvidence
		return rows.Scan(&p.key)
	}, `SELECT DISTINCT key FROM value
		WHERE entry_id = ? AND field = 'evidence' AND key >= ? || '/' AND key < ? || '0'`,
		claim.entry, claim.key, claim.key)
}

// source identifies a value and its copies in other entries and other claims.
func (v *value) source() string {
	switch v.field {
	case annotator.FieldClaim:
		var c annotator.Claim
		if json.Unmarshal([]byte(v.json), &c) == nil {
			return codex.Normalize(c.Text) + "\n" + codex.Normalize(c.Speaker)
		}
	case annotator.FieldEvidence:
		var quote annotator.Evidence
		if json.Unmarshal([]byte(v.json), &quote) == nil {
			return fmt.Sprintf("%d/%d-%d", quote.Post, quote.Start, quote.End)
		}
	}
	return v.key
}

// endOf returns the place of the last post of a scene; 0 for the order 0.
func (e *edit) endOf(scene annotator.Order) (place annotator.Place, err error) {
	if scene == 0 {
		return 0, nil
	}
	err = e.Row(e.ctx, `SELECT ord * 1000000 + json_array_length(posts) - 1 FROM scene WHERE ord = ?`, scene).
		Scan(&place)
	return place, orRefusal(err, "the story has no scene of order %d", scene)
}

// checkNames refuses revisions after which two live entries would have the same name.
func (e *edit) checkNames(revisions []annotator.Revision) error {
	for id, before := range e.on.Entries {
		now := codex.Clone(before)
		for i := range revisions {
			if revisions[i].Entry == id {
				if err := codex.Apply(&now, &revisions[i]); err != nil {
					return err
				}
			}
		}
		if !now.Status.Live() {
			continue
		}
		var other int64
		err := e.Row(e.ctx, `SELECT id FROM entry WHERE name = ? AND id <> ?`, codex.Normalize(now.Name()), id).
			Scan(&other)
		if err == nil {
			const taken = "entry %d has the name %q; merge the two, or say in parentheses what this one is: %s (ship)"
			return &codex.Refusal{Code: "TAKEN", Message: fmt.Sprintf(taken, other, now.Name(), now.Term)}
		}
		if orNone(err) != nil {
			return err
		}
	}
	return nil
}
