package storage

import (
	"errors"
	"maps"
	"slices"
	"strconv"

	"annotator"
	"annotator/codex"
	"annotator/codex/identity"
)

// joiner replays the revisions of one step.
type joiner struct {
	*Part
	step    *JoinStep
	tx      *tx
	g       *Glossary
	entries map[int64]*annotator.Entry // that the step has read, as they are now
}

// replayAll replays the revisions of the step. Then entries of the part whose names were added are compared with those
// that were told of before.
func (j *joiner) replayAll(revisions []annotator.Revision) error {
	var renamed []*annotator.Revision // the newest of each entry
	for i := range revisions {
		r := &revisions[i]
		if err := j.replayOne(r, revisions[i:]); err != nil {
			return err
		}
		if r.Field == annotator.FieldAlias && r.New != "" && r.Seen != 0 {
			renamed = slices.DeleteFunc(renamed, func(o *annotator.Revision) bool { return o.Entry == r.Entry })
			renamed = append(renamed, r)
		}
	}
	for _, r := range renamed {
		if err := j.mergeDouble(r); err != nil {
			return err
		}
	}
	return nil
}

// replayOne replays a revision. What follows it in the step tells more of the names of a new entry. What a part
// begins with is not replayed: the story has the seed itself. Hints count only once the part has told of their entry.
func (j *joiner) replayOne(r *annotator.Revision, following []annotator.Revision) error {
	as := j.replay.Entries[r.Entry]
	switch {
	case r.Field == annotator.FieldCuratorDecision, r.ID <= j.seeded, as == nil && r.Seen == 0:
		return nil
	case as == nil:
		if err := j.enter(r, following); err != nil {
			return err
		}
		as = j.replay.Entries[r.Entry]
	}
	if r.Field == annotator.FieldMerge {
		return j.merge(r)
	}
	e, err := j.entry(as.Entry)
	if err != nil {
		return err
	}
	before := maps.Clone(as.Claims)
	revisions, err := j.replay.Of(e, r)
	if err != nil {
		return err
	}
	for there, here := range as.Claims {
		if before[there] != here {
			j.noted(r.Entry).Claims[there] = here
		}
	}
	return j.revise(e, r, revisions)
}

// noted returns what the step says of an entry of the part.
func (j *joiner) noted(there int64) *codex.Replayed {
	as := j.step.Entries[there]
	if as == nil {
		as = &codex.Replayed{Entry: j.replay.Entries[there].Entry, Claims: map[int64]int64{}}
		j.step.Entries[there] = as
	}
	return as
}

// revise applies revisions for one of the part. They are seen from its scene.
func (j *joiner) revise(e *annotator.Entry, r *annotator.Revision, revisions []annotator.Revision) error {
	for i := range revisions {
		revisions[i].Seen = j.orders[r.Seen]
	}
	if len(revisions) == 0 {
		return nil
	}
	return j.g.revise(e, false, revisions)
}

// entry returns an entry of the story as it is now.
func (j *joiner) entry(id int64) (*annotator.Entry, error) {
	if e := j.entries[id]; e != nil {
		return e, nil
	}
	e, err := j.g.WholeEntry(j.tx.ctx, id)
	if err == nil {
		j.entries[id] = e
	}
	return e, err
}

// candidate is what is known of an entry of a part when it comes.
type candidate struct {
	term  string
	names []string
	tags  []string
}

// add adds what a revision says.
func (c *candidate) add(r *annotator.Revision) error {
	switch r.Field {
	case annotator.FieldTerm:
		c.term = r.New
		term, _ := codex.SplitName(r.New)
		c.names = append(c.names, term)
	case annotator.FieldTag:
		c.tags = append(c.tags, r.New)
	case annotator.FieldAlias:
		if name, err := codex.AliasName(r.New); err != nil || r.New != "" {
			c.names = append(c.names, name)
			return err
		}
	}
	return nil
}

// enter finds the entry of the story that an entry of the part is, or makes it. Of a hint, a new entry gets the term
// and the tags: its other names are guesses.
func (j *joiner) enter(r *annotator.Revision, following []annotator.Revision) error {
	hints, err := readAll(j.tx.ctx, j.db, "read the revisions", ScanRevision,
		Revisions+` WHERE r.entry_id = ? AND r.id < ? ORDER BY r.id`, r.Entry, r.ID)
	if err != nil {
		return err
	}
	var c candidate
	for i := range hints {
		if err := c.add(&hints[i]); err != nil {
			return err
		}
	}
	for i := range following {
		if f := &following[i]; f.Entry == r.Entry && f.Trace == r.Trace {
			if err := c.add(f); err != nil {
				return err
			}
		}
	}
	id, err := j.find(&c, 0)
	if err != nil {
		return err
	}
	if id == 0 {
		return j.create(r, &c, hints)
	}
	j.replay.Entries[r.Entry] = &codex.Replayed{Entry: id, Claims: map[int64]int64{}}
	j.noted(r.Entry)
	return nil
}

// create makes an entry of the story for one of the part.
func (j *joiner) create(r *annotator.Revision, c *candidate, hints []annotator.Revision) error {
	e, _, err := j.g.entryToRevise(j.tx.ctx, 0)
	if err != nil {
		return err
	}
	j.entries[e.ID] = e
	j.replay.Entries[r.Entry] = &codex.Replayed{Entry: e.ID, Claims: map[int64]int64{}}
	j.noted(r.Entry)
	first := []annotator.Revision{{
		Entry: e.ID, Field: annotator.FieldTerm, New: c.term, At: j.place(r.At), Seen: j.orders[r.Seen], Actor: r.Actor,
	}}
	if err := j.g.revise(e, true, first); err != nil {
		return err
	}
	for i := range hints {
		hint := hints[i]
		if hint.Field != annotator.FieldTerm && hint.Field != annotator.FieldTag {
			continue
		}
		hint.At, hint.Seen, hint.Actor = r.At, r.Seen, annotator.ActorRule
		revisions, err := j.replay.Of(e, &hint)
		if err != nil {
			return err
		}
		if err := j.revise(e, r, revisions); err != nil {
			return err
		}
	}
	return nil
}

// find returns the live entry of the story that an entry of the part is, by its names; 0 for none. One with the full
// name always is. Else it is one that the rules of identity join with it alone, and that is no other entry of the part.
func (j *joiner) find(c *candidate, except int64) (int64, error) {
	if same := j.named(c.term); j.tx.err != nil || same != 0 && same != except {
		return same, j.tx.err
	}
	near, err := j.sharing(c.names, except)
	if err != nil || len(near) == 0 {
		return 0, err
	}
	term, _ := codex.SplitName(c.term)
	set := identity.NewSet()
	addNames(set, term, c.names, c.tags)
	for _, e := range near {
		addNames(set, e.Term, e.Names(), e.Tags)
	}
	groups := set.Resolve()
	if len(groups.Fits(term)) > 1 {
		return 0, nil
	}
	names := groups.Of(term)
	var found []int64
	for _, e := range near {
		if slices.Contains(names, e.Term) {
			found = append(found, e.ID)
		}
	}
	if len(found) != 1 || j.isTaken(found[0]) {
		return 0, nil
	}
	return found[0], nil
}

// named returns the live entry with a full name; 0 for none.
func (j *joiner) named(name string) (id int64) {
	j.tx.scan([]any{&id}, `SELECT coalesce((SELECT id FROM entry WHERE name = ?), 0)`, codex.Normalize(name))
	return id
}

func (j *joiner) isFree(name string) bool { return j.named(name) == 0 }

// isTaken reports whether an entry of the story is one of the part already.
func (j *joiner) isTaken(id int64) bool {
	for _, as := range j.replay.Entries {
		if as.Entry == id {
			return true
		}
	}
	return false
}

// addNames adds the names of one thing.
func addNames(set *identity.Set, term string, names, tags []string) {
	kind := ""
	switch {
	case slices.Contains(tags, identity.Person):
		kind = identity.Person
	case len(tags) > 0:
		kind = "thing"
	}
	set.Add(term, kind, identity.Unknown)
	for _, name := range names {
		set.Add(name, kind, identity.Unknown)
		set.Join(term, name)
	}
}

// sharing returns the live entries that were told of before the part, and that share a word with some names. A first
// name counts for its nickname. They are in the order of their ids.
func (j *joiner) sharing(names []string, except int64) (near []*annotator.Entry, err error) {
	all, err := j.g.Names(j.tx.ctx)
	if err != nil {
		return nil, err
	}
	words := map[string]bool{}
	eachWord := func(name string, do func(word string)) {
		for _, word := range identity.Read(name).Words {
			do(word)
			for _, full := range identity.FullNames(word) {
				do(full)
			}
		}
	}
	for _, name := range names {
		eachWord(name, func(word string) { words[word] = true })
	}
	for _, id := range slices.Sorted(maps.Keys(all)) {
		shares := false
		for _, name := range all[id] {
			eachWord(name, func(word string) { shares = shares || words[word] })
		}
		if !shares || id == except {
			continue
		}
		e, err := j.entry(id)
		if err != nil {
			return nil, err
		}
		if e.First.Order() < j.replay.From {
			near = append(near, e)
		}
	}
	return near, nil
}

// merge merges the entries of the story that two entries of the part are, as the part did. Two that were told of before
// it are not merged over a veto of their names.
func (j *joiner) merge(r *annotator.Revision) error {
	into, err := strconv.ParseInt(r.New, 10, 64)
	if err != nil {
		return err
	}
	from, to := j.replay.Entries[r.Entry], j.replay.Entries[into]
	if to == nil || from.Entry == to.Entry {
		return nil
	}
	source, err := j.entry(from.Entry)
	if err != nil {
		return err
	}
	target, err := j.entry(to.Entry)
	if err != nil {
		return err
	}
	if source.First.Order() < j.replay.From && target.First.Order() < j.replay.From && areApart(source, target) {
		return nil
	}
	return j.mergeEntries(source, target, r, r.Actor)
}

// areApart reports whether any two names of two entries cannot be of one thing.
func areApart(a, b *annotator.Entry) bool {
	for _, one := range a.Names() {
		for _, other := range b.Names() {
			if _, veto := identity.Compare(identity.Read(one), identity.Read(other)); veto != "" {
				return true
			}
		}
	}
	return false
}

// mergeEntries merges an entry into another one. What the rules refuse to merge stays.
func (j *joiner) mergeEntries(source, target *annotator.Entry, r *annotator.Revision, actor annotator.Actor) error {
	revisions, err := codex.Merge(source, target, actor, j.place(r.At))
	if refusal := (*codex.Refusal)(nil); errors.As(err, &refusal) {
		return nil
	}
	if err != nil {
		return err
	}
	claims := codex.ClaimsAfterMerge(source, target)
	last := len(revisions) - 1 // that of the source
	if err := j.revise(target, r, revisions[:last]); err != nil {
		return err
	}
	if err := j.revise(source, r, revisions[last:]); err != nil {
		return err
	}
	for there, as := range j.replay.Entries {
		if as.Entry != source.ID {
			continue
		}
		now := &codex.Replayed{Entry: target.ID, Claims: map[int64]int64{}}
		for claim, here := range as.Claims {
			now.Claims[claim] = claims[here]
		}
		j.replay.Entries[there] = now
		j.step.Entries[there] = &codex.Replayed{Entry: target.ID, Claims: maps.Clone(now.Claims)}
	}
	return nil
}

// mergeDouble merges an entry that the part has made into one that was told of before. Names that it has got show that
// it is the same.
func (j *joiner) mergeDouble(r *annotator.Revision) error {
	as := j.replay.Entries[r.Entry]
	if as == nil {
		return nil
	}
	e, err := j.entry(as.Entry)
	if err != nil || !e.Status.Live() || e.First.Order() < j.replay.From {
		return err
	}
	id, err := j.find(&candidate{term: e.Name(), names: e.Names(), tags: e.Tags}, e.ID)
	if err != nil || id == 0 {
		return err
	}
	target, err := j.entry(id)
	if err != nil {
		return err
	}
	return j.mergeEntries(e, target, r, annotator.ActorRule)
}
