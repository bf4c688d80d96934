package view

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"slices"

	"annotator"
	"annotator/codex"
	"annotator/context/mention"
	"annotator/internal/sqlite"
	"annotator/storage"
)

// Tie is a claim of a live entry that has a relation.
type Tie struct {
	Entry  int64           // that has the claim
	Claim  annotator.Claim // without its evidence
	Object int64           // the live entry that the object names; 0 for none
}

// Ties returns the relations of live entries that readers are shown, in the order of the story.
func (v *View) Ties(ctx context.Context) ([]Tie, error) {
	names, err := v.directory(ctx)
	if err != nil {
		return nil, err
	}
	scan := func(rows *sql.Rows, t *Tie) error {
		var claim string
		if err := rows.Scan(&t.Entry, &t.Claim.Revision, &claim); err != nil {
			return err
		}
		err := json.Unmarshal([]byte(claim), &t.Claim)
		t.Object = names.Find(t.Claim.Object)
		return err
	}
	ties, err := readAll(ctx, v, "read the relations", scan, `SELECT v.entry_id, v.set_by, v.json FROM value v
		WHERE v.field = 'claim' AND instr(v.json, '"relation":"') AND `+v.r.Limit.InForce("v")+`
		AND `+v.r.Limit.Live("v.entry_id"), v.r.Limit.Bound())
	ties = slices.DeleteFunc(ties, func(t Tie) bool { return !codex.Shown(&t.Claim) || t.Object == t.Entry })
	slices.SortFunc(ties, func(a, b Tie) int {
		return cmp.Or(cmp.Compare(a.Claim.From, b.Claim.From), cmp.Compare(a.Entry, b.Entry),
			cmp.Compare(a.Claim.ID, b.Claim.ID))
	})
	return ties, err
}

// TiesOf returns the relations of an entry: those that it has, then those that others have to it.
func (v *View) TiesOf(ctx context.Context, entry int64) ([]Tie, error) {
	all, err := v.Ties(ctx)
	ties := slices.DeleteFunc(all, func(t Tie) bool { return t.Entry != entry && t.Object != entry })
	slices.SortStableFunc(ties, func(a, b Tie) int {
		switch {
		case (a.Entry == entry) == (b.Entry == entry):
			return 0
		case a.Entry == entry:
			return -1
		}
		return 1
	})
	return ties, err
}

// directory returns the names of live entries.
func (v *View) directory(ctx context.Context) (*codex.Directory, error) {
	names := codex.NewDirectory()
	err := v.r.Each(ctx, func(rows *sql.Rows) error {
		var entry int64
		var isFull bool
		var name string
		err := rows.Scan(&entry, &isFull, &name)
		names.Add(entry, name, isFull)
		return err
	}, `SELECT v.entry_id, v.field = 'term', v.key FROM value v WHERE v.field IN ('term', 'alias')
		AND `+v.r.Limit.InForce("v")+` AND `+v.r.Limit.Live("v.entry_id"), v.r.Limit.Bound())
	return names, sqlite.Wrap(err, "read the names in %s", v.db.Path())
}

// Matter is what a claim leaves open, or has settled.
type Matter struct {
	Sort    codex.Matter
	Entry   *annotator.Entry
	Claim   annotator.Claim
	Object  int64            // the live entry that the claim's object names; 0 for none
	Settled *annotator.Claim // that took its place; nil for none
}

// Standing returns what is open in the story, sort by sort, each in the order of the story. Promises, conflicts and
// questions that are settled are among it.
func (v *View) Standing(ctx context.Context) ([]Matter, error) {
	ids, err := readAll(ctx, v, "read what is open", storage.ScanValue[int64], `SELECT DISTINCT v.entry_id
		FROM value v WHERE v.field = 'claim' AND (instr(v.json, '"relation":"') OR instr(v.json, '"state":true'))
		AND `+v.r.Limit.InForce("v")+` AND `+v.r.Limit.Live("v.entry_id"), v.r.Limit.Bound())
	if err != nil {
		return nil, err
	}
	entries, err := v.EntriesByID(ctx, ids)
	if err != nil {
		return nil, err
	}
	names, err := v.directory(ctx)
	var matters []Matter
	for _, id := range ids {
		for i := range entries[id].Claims {
			if m := matterOf(entries[id], i); m != nil {
				m.Object = names.Find(m.Claim.Object)
				matters = append(matters, *m)
			}
		}
	}
	order := codex.Matters()
	slices.SortStableFunc(matters, func(a, b Matter) int {
		return cmp.Or(slices.Index(order, a.Sort)-slices.Index(order, b.Sort), cmp.Compare(a.Claim.From, b.Claim.From),
			cmp.Compare(a.Entry.ID, b.Entry.ID))
	})
	return matters, err
}

// matterOf returns what the claim of an entry with an index leaves open or has settled; nil for nothing.
func matterOf(e *annotator.Entry, claim int) *Matter {
	c := &e.Claims[claim]
	m := Matter{Sort: codex.MatterOf(c), Entry: e, Claim: *c}
	canSettle := m.Sort == codex.Promise || m.Sort == codex.Conflict || m.Sort == codex.Question
	if m.Sort == "" || !codex.Shown(c) || c.Until != 0 && (!canSettle || c.Ended != annotator.EndOver) {
		return nil
	}
	for i := range e.Claims {
		if c.ReplacedBy != 0 && e.Claims[i].ID == c.ReplacedBy {
			m.Settled = &e.Claims[i]
		}
	}
	return &m
}

// Event is an event of the story.
type Event struct {
	*annotator.Entry
	At      annotator.Place // of its first fact
	Earlier bool            // all that is told of it is of an earlier time than the scenes that tell it
	With    []int64         // live entries that its facts name, in their order
}

// Events returns the events of the story, in the order in which they are told.
func (v *View) Events(ctx context.Context) ([]Event, error) {
	ids, err := readAll(ctx, v, "read the events", storage.ScanValue[int64], `SELECT DISTINCT v.entry_id FROM value v
		WHERE v.field = 'tag' AND v.key IN (SELECT value FROM json_each(?2)) AND `+v.r.Limit.InForce("v")+`
		AND `+v.r.Limit.Live("v.entry_id"), v.r.Limit.Bound(), storage.List(codex.EventTags()))
	if err != nil || len(ids) == 0 {
		return nil, err
	}
	entries, err := v.EntriesByID(ctx, ids)
	if err != nil {
		return nil, err
	}
	directory, err := v.directory(ctx)
	if err != nil {
		return nil, err
	}
	names, err := v.Names(ctx)
	index := mention.New()
	for id, list := range names {
		index.SetNames(id, list)
	}
	var events []Event
	for _, id := range ids {
		if event, told := newEvent(entries[id], directory, index); told {
			events = append(events, event)
		}
	}
	slices.SortFunc(events, func(a, b Event) int { return cmp.Or(cmp.Compare(a.At, b.At), cmp.Compare(a.ID, b.ID)) })
	return events, err
}

// newEvent returns an entry as an event. It reports whether a fact tells of it.
func newEvent(e *annotator.Entry, names *codex.Directory, index *mention.Index) (event Event, told bool) {
	event = Event{Entry: e, Earlier: true}
	add := func(id int64) {
		if id != 0 && id != e.ID && !slices.Contains(event.With, id) {
			event.With = append(event.With, id)
		}
	}
	claims, _ := codex.InOrder(e.Claims)
	for i := range claims {
		c := &claims[i]
		if !codex.Shown(c) || c.Ended == annotator.EndRefuted {
			continue
		}
		if !told || c.From < event.At {
			event.At = c.From
		}
		told, event.Earlier = true, event.Earlier && c.Earlier
		for _, name := range append(codex.Links(c.Text), c.Object) {
			add(names.Find(name))
		}
		for of := range ownersOf(index, codex.WithoutLinks(c.Text)) {
			add(of)
		}
	}
	return event, told
}

// ownersOf yields the entries that a text names, each name of a single one.
func ownersOf(index *mention.Index, text string) func(yield func(int64) bool) {
	found := index.Occurrences(text)
	return func(yield func(int64) bool) {
		for i, o := range found {
			isSame := func(other mention.Occurrence) bool {
				return other.ID != o.ID && other.Start == o.Start && other.End == o.End
			}
			if slices.ContainsFunc(found, isSame) || i > 0 && o.Start < found[i-1].End && o.Start > found[i-1].Start {
				continue
			}
			if !yield(o.ID) {
				return
			}
		}
	}
}
