package edits

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"annotator"
	"annotator/codex"
)

// Plan is what a file changes in a codex.
type Plan struct {
	Changes   []Change `json:"changes"`   // in the order in which they are applied
	Conflicts []Note   `json:"conflicts"` // changes of what was changed in the codex since the export
	Left      []Note   `json:"left"`      // changes that no operation makes, and those that the rules reject
}

// Change is an operation with what it does, in words.
type Change struct {
	Note
	Operation annotator.Operation `json:"operation"`
}

// Note says something of a line of a file.
type Note struct {
	Line  int    `json:"line,omitempty"`
	Entry int64  `json:"entry,omitempty"`
	Name  string `json:"name,omitempty"` // of the entry, as it is
	Text  string `json:"text"`
}

// Operations returns the changes as one operation, and the answers to questions, which are each one.
func (p *Plan) Operations() (all []annotator.Operation) {
	batch := annotator.Operation{Do: annotator.DeedBatch}
	for i := range p.Changes {
		if op := p.Changes[i].Operation; op.Do == annotator.DeedAnswer {
			all = append(all, op)
		} else {
			batch.Parts = append(batch.Parts, op)
		}
	}
	if batch.Parts != nil {
		all = append([]annotator.Operation{batch}, all...)
	}
	return all
}

// wanted is an operation that a line of a file asks for.
type wanted struct {
	line int
	op   annotator.Operation
}

// tryAll puts operations on a draft, and those that it takes in the plan. What is so already is left out.
func (p *Plan) tryAll(d *Draft, all []wanted) error {
	for i := range all {
		w := &all[i]
		change, err := d.describe(&w.op)
		if err != nil {
			return err
		}
		change.Line = w.line
		refusal := (*codex.Refusal)(nil)
		switch err := d.try(&w.op); {
		case err == nil:
			p.Changes = append(p.Changes, change)
		case !errors.As(err, &refusal):
			return err
		case refusal.Code != codex.Already:
			change.Text += ": " + refusal.Message
			p.Left = append(p.Left, change.Note)
		}
	}
	return nil
}

// describe returns an operation in words, before it is applied to the draft.
func (d *Draft) describe(op *annotator.Operation) (Change, error) {
	c := Change{Operation: *op}
	if op.Do == annotator.DeedCreate {
		c.Text = createWords(op)
		return c, nil
	}
	e, err := d.entry(op.Entry)
	if err != nil {
		return c, err
	}
	if e == nil {
		return c, annotator.Errorf(annotator.NotFound, "there is no entry %d", op.Entry)
	}
	other, err := d.entry(op.Other)
	c.Entry, c.Name, c.Text = e.ID, e.Name(), Words(op, e, other)
	if op.Do == annotator.DeedRevert && err == nil {
		var past []annotator.Revision
		past, err = d.history(op.Entry)
		for i := range past {
			if past[i].ID == op.Revision {
				c.Text = revertWords(&past[i])
			}
		}
	}
	return c, err
}

// revertWords says what is so when a revision is taken back.
func revertWords(r *annotator.Revision) string {
	var value struct {
		ID    int64  `json:"id"`
		Post  int64  `json:"post"`
		Quote string `json:"quote"`
		Claim int64  `json:"claim"`
		Text  string `json:"text"`
	}
	isRead := json.Unmarshal([]byte(r.New), &value) == nil
	switch {
	case r.Field == annotator.FieldRetired:
		return "it is in the codex again"
	case r.Field == annotator.FieldEvidence && isRead:
		return fmt.Sprintf("fact %d is not quoted from post %d: %q", value.Claim, value.Post, value.Quote)
	case r.Field == annotator.FieldClaim && isRead:
		return fmt.Sprintf("fact %d %q holds again", value.ID, value.Text)
	}
	return fmt.Sprintf("revision %d is taken back", r.ID)
}

// inOrder sorts operations of entries: what is split or merged first, because others may rest on it. An entry is merged
// before the one that it is merged into is.
func inOrder(all []wanted) []wanted {
	rank, into := map[int64]int{}, map[int64]int64{}
	for i := range all {
		switch op := &all[i].op; op.Do {
		case annotator.DeedSplit:
			rank[op.Entry] = -1 << 30
		case annotator.DeedMerge:
			into[op.Entry] = op.Other
		}
	}
	for entry := range into { // the more entries it goes through, the earlier
		steps := 1
		for at := into[entry]; into[at] != 0 && steps <= len(into); at = into[at] {
			steps++
		}
		rank[entry] = -steps
	}
	slices.SortStableFunc(all, func(a, b wanted) int { return cmp.Compare(rank[a.op.Entry], rank[b.op.Entry]) })
	return all
}

func (p *Plan) conflict(e *annotator.Entry, line int, format string, args ...any) {
	p.Conflicts = append(p.Conflicts, noteOf(e, line, format, args...))
}

func (p *Plan) leave(e *annotator.Entry, line int, format string, args ...any) {
	p.Left = append(p.Left, noteOf(e, line, format, args...))
}

// noteOf returns a note on an entry; nil: on none.
func noteOf(e *annotator.Entry, line int, format string, args ...any) Note {
	n := Note{Line: line, Text: fmt.Sprintf(format, args...)}
	if e != nil {
		n.Entry, n.Name = e.ID, e.Name()
	}
	return n
}
