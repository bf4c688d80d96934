package edits

import (
	"errors"
	"slices"

	"annotator"
	"annotator/codex"
)

// Draft is a codex in memory, on which operations are tried in order. It does not know all names: that two entries
// would have the same one is found when the operations are applied.
type Draft struct {
	Read func(id int64) (*annotator.Entry, error) // returns an entry as it is; nil if there is none
	Past func(id int64) ([]annotator.Revision, error)

	entries map[int64]*annotator.Entry // after the operations so far
	past    map[int64][]annotator.Revision
	made    int64 // entries that are new
}

// entry returns an entry after the operations so far; nil if there is none.
func (d *Draft) entry(id int64) (*annotator.Entry, error) {
	if e, ok := d.entries[id]; ok || id == 0 {
		return e, nil
	}
	e, err := d.Read(id)
	if err != nil {
		return nil, err
	}
	if d.entries == nil {
		d.entries = map[int64]*annotator.Entry{}
	}
	if e != nil {
		e = new(codex.Clone(e))
	}
	d.entries[id] = e
	return e, nil
}

// history returns the revisions of an entry.
func (d *Draft) history(id int64) ([]annotator.Revision, error) {
	if past, ok := d.past[id]; ok {
		return past, nil
	}
	if d.past == nil {
		d.past = map[int64][]annotator.Revision{}
	}
	past, err := d.Past(id)
	d.past[id] = past
	return past, err
}

// try applies an operation to the draft. The error is a *codex.Refusal if the rules reject it.
func (d *Draft) try(op *annotator.Operation) error {
	switch op.Do {
	case annotator.DeedCreate:
		return d.create(op)
	case annotator.DeedAnswer:
		return nil // it changes no entry
	}
	e, err := d.entry(op.Entry)
	if err != nil {
		return err
	}
	other, err := d.entry(op.Other)
	if err != nil {
		return err
	}
	if op.Do == annotator.DeedSplit && e != nil && e.Status == annotator.Merged {
		e.Status, e.MergedInto = annotator.Confirmed, 0 // what it gets back is known when it is applied
		return nil
	}
	on := codex.Subject{
		Entries: map[int64]*annotator.Entry{op.Entry: e, op.Other: other}, At: lastPlace(e),
		Past: d.history,
	}
	if op.Do == annotator.DeedRevert {
		past, err := d.history(op.Entry)
		if err != nil {
			return err
		}
		if at := slices.IndexFunc(past, func(r annotator.Revision) bool { return r.ID == op.Revision }); at >= 0 {
			on.Former = past[at : at+1]
		}
	}
	revisions, err := codex.Perform(op, &on)
	if err != nil {
		return err
	}
	for i := range revisions {
		if err := codex.Apply(d.entries[revisions[i].Entry], &revisions[i]); err != nil {
			return err
		}
	}
	return nil
}

// create makes an entry on the draft. Its number is negative, -1 for the first, as in a batch.
func (d *Draft) create(op *annotator.Operation) error {
	revisions, err := codex.Perform(op, &codex.Subject{})
	if err != nil {
		return err
	}
	d.made++
	e := &annotator.Entry{ID: -d.made, Status: annotator.Tentative}
	for i := range revisions {
		revisions[i].Entry = e.ID
		if err := codex.Apply(e, &revisions[i]); err != nil {
			return err
		}
	}
	if d.entries == nil {
		d.entries = map[int64]*annotator.Entry{}
	}
	d.entries[e.ID] = e
	return nil
}

// TryAll applies operations that wait to be applied. What the rules reject is left out.
func (d *Draft) TryAll(ops []annotator.Operation) error {
	for i := range ops {
		err := d.TryAll(ops[i].Parts)
		if err == nil && !ops[i].IsList() {
			err = d.try(&ops[i])
		}
		if refusal := (*codex.Refusal)(nil); err != nil && !errors.As(err, &refusal) {
			return err
		}
	}
	return nil
}

// lastPlace is a place after which an operation is tried. The true one is known when it is applied.
func lastPlace(e *annotator.Entry) annotator.Place {
	if e == nil {
		return 0
	}
	return e.Last
}
