package edits

import (
	"fmt"
	"slices"

	"annotator"
	"annotator/codex"
)

// Codex is the codex that a file is compared with.
type Codex struct {
	*Draft
	// Ground finds a quotation in a post.
	Ground func(post int64, quote string) (annotator.Evidence, error)
	// Named returns the id of the entry in the codex with a full name; 0 for none.
	Named func(name string) (int64, error)
	// Position returns the ids of a place in the story.
	Position func(annotator.Place) annotator.Position
	Limit    annotator.Order // of the export; 0: none
}

// Compare returns the operations that lead from the codex as it was exported to the file. The number of revisions of an
// entry tells how it was then. Without that, it is compared as it is now. A field that is not in the file stays as it
// is. So does an entry that is not. What is missing in a list is taken away.
//
// Only changes of the file count: what was changed in the codex since stays, and a change of the same is a conflict.
// What the codex says already is no change.
func Compare(f *File, c *Codex) (*Plan, error) {
	p := &Plan{Changes: []Change{}, Conflicts: []Note{}, Left: []Note{}}
	var all []wanted
	for i := range f.entries {
		file := &f.entries[i]
		now, err := c.entry(file.ID)
		if err != nil {
			return nil, err
		}
		switch {
		case file.ID == 0:
			e := &entryComparison{Codex: c, plan: p, file: file, base: &annotator.Entry{}, now: &annotator.Entry{}}
			if err := e.create(); err != nil {
				return nil, err
			}
			all = append(all, e.all...)
			continue
		case now == nil:
			p.leave(nil, file.lines.at(), "there is no entry %d", file.ID)
			continue
		}
		base, err := c.exported(file)
		if err != nil {
			return nil, err
		}
		if base == nil {
			p.leave(now, file.lines.at("revisions"), "entry %d never had %d revisions: the file is of another codex",
				file.ID, file.Revisions)
			continue
		}
		e := &entryComparison{Codex: c, plan: p, file: file, base: base, now: now}
		if err := e.compare(); err != nil {
			return nil, err
		}
		all = append(all, e.all...)
	}
	return p, p.tryAll(c.Draft, inOrder(all))
}

// create adds the entry, which has no id in the file. It is no change if there is one that has all that.
func (c *entryComparison) create() error {
	name := (&annotator.Entry{Term: c.file.Term, Disambiguator: c.file.Disambiguator}).Name()
	id, err := c.Named(name)
	if err != nil {
		return err
	}
	if id != 0 {
		is, err := c.entry(id)
		for i := range c.file.Claims {
			if text := c.file.Claims[i].Text; err == nil && codex.Known(is, codex.Fact{Text: text}) == 0 {
				c.leave(c.line(), "there is an entry %d with the name %q; give its id to change it", id, name)
				break
			}
		}
		return err
	}
	for i := range c.file.Claims {
		if err := c.addClaim(i); err != nil {
			return err
		}
	}
	op := annotator.Operation{Do: annotator.DeedCreate, Name: name, Tags: c.file.Tags}
	for _, alias := range c.file.Aliases {
		if codex.Normalize(alias.Name) != codex.Normalize(c.file.Term) {
			op.Parts = append(op.Parts, annotator.Operation{Do: annotator.DeedAdd, Name: alias.Name})
		}
	}
	for i := range c.all {
		op.Parts = append(op.Parts, c.all[i].op)
	}
	c.all = nil
	c.want(c.line(), op)
	return nil
}

// exported returns an entry as it was exported; nil if it never was so.
func (c *Codex) exported(file *fileEntry) (*annotator.Entry, error) {
	past, err := c.history(file.ID)
	if err != nil {
		return nil, err
	}
	base := &annotator.Entry{ID: file.ID, Status: annotator.Tentative}
	for i := range past {
		if c.Limit != 0 && past[i].Seen > c.Limit || file.Revisions != 0 && base.Revisions == file.Revisions {
			continue
		}
		if err := codex.Apply(base, &past[i]); err != nil {
			return nil, err
		}
	}
	if base.Revisions < file.Revisions {
		return nil, nil
	}
	return base, nil
}

// entryComparison compares an entry of a file with it as it was exported, and as it is now.
type entryComparison struct {
	*Codex
	plan      *Plan
	file      *fileEntry
	base, now *annotator.Entry
	all       []wanted
}

func (c *entryComparison) has(path ...any) bool { return c.file.lines.has(path...) }

func (c *entryComparison) line(path ...any) int { return c.file.lines.at(path...) }

func (c *entryComparison) conflict(line int, format string, args ...any) {
	c.plan.conflict(c.now, line, format, args...)
}

func (c *entryComparison) leave(line int, format string, args ...any) {
	c.plan.leave(c.now, line, format, args...)
}

func (c *entryComparison) want(line int, op annotator.Operation) {
	op.Entry, op.From = c.now.ID, c.Limit
	c.all = append(c.all, wanted{line, op})
}

// compare adds the operations in an order in which each finds what it rests on.
func (c *entryComparison) compare() error {
	if c.isForeign() {
		c.leave(c.line(), "%q shares no name and no fact with it: the file is of another codex", c.file.Term)
		return nil
	}
	isBack, err := c.comparePresence()
	if err != nil {
		return err
	}
	presence := c.all
	c.all = nil
	if err := c.compareClaims(); err != nil {
		return err
	}
	name := c.compareName()
	c.compareNames(name)
	c.compareTags()
	c.compareLock()
	c.compareComputed()
	switch {
	case isBack:
		c.all = append(presence, c.all...)
	case !c.now.Status.Live():
		c.refuseGone()
	default:
		c.all = append(c.all, presence...) // what takes it out comes last
	}
	return nil
}

// refuseGone leaves the changes of an entry that is not in the codex. If the file takes it out as well, they were made
// before that.
func (c *entryComparison) refuseGone() {
	for _, w := range c.all {
		switch text := Words(&w.op, c.now, nil); {
		case !c.base.Status.Live():
			c.leave(w.line, "%s: it is %s", text, c.now.Status)
		case !c.has("status") || c.file.Status.Live():
			c.conflict(w.line, "%s: it is %s since", text, c.now.Status)
		}
	}
	c.all = nil
}

// isForeign reports whether the file has an entry with other names and other facts.
func (c *entryComparison) isForeign() bool {
	if len(c.file.Claims) == 0 || len(c.base.Claims) == 0 || !c.has("term") {
		return false
	}
	known := map[string]bool{codex.Normalize(c.base.Term): true}
	for _, name := range c.base.Names() {
		known[codex.Normalize(name)] = true
	}
	for i := range c.base.Claims {
		known["\n"+codex.Normalize(c.base.Claims[i].Text)] = true
	}
	for i := range c.file.Aliases {
		if known[codex.Normalize(c.file.Aliases[i].Name)] {
			return false
		}
	}
	for i := range c.file.Claims {
		if known["\n"+codex.Normalize(c.file.Claims[i].Text)] {
			return false
		}
	}
	return !known[codex.Normalize(c.file.Term)]
}

// comparePresence compares whether the entry is in the codex, and reports whether it comes back to it.
func (c *entryComparison) comparePresence() (isBack bool, err error) {
	status, into := c.base.Status, c.base.MergedInto
	if c.has("status") {
		status = c.file.Status
	}
	if c.has("merged_into") || status != annotator.Merged {
		into = c.file.MergedInto
	}
	if into != 0 && into != c.base.MergedInto {
		status = annotator.Merged
	}
	line := c.line("status")
	if into != 0 {
		line = c.line("merged_into")
	}
	live := c.base.Status.Live()
	switch {
	case status == c.base.Status && into == c.base.MergedInto, status == c.now.Status && into == c.now.MergedInto:
	case status.Live() && !live && c.now.Status.Live(): // it is back
	case c.now.Status != c.base.Status || c.now.MergedInto != c.base.MergedInto:
		c.conflict(line, "it is %s since", c.now.Status)
	case status == annotator.Merged && into != 0 && live:
		c.want(line, annotator.Operation{Do: annotator.DeedMerge, Other: into})
	case status == annotator.Merged && into == 0:
		c.leave(line, "into which entry it is merged is said by merged_into")
	case status == annotator.Retired && live:
		c.want(line, annotator.Operation{Do: annotator.DeedHide, Text: "hidden by a person"})
	case status.Live() && c.base.Status == annotator.Merged:
		c.want(line, annotator.Operation{Do: annotator.DeedSplit})
		return true, nil
	case status.Live() && c.base.Status == annotator.Retired:
		return true, c.revert(line, func(r *annotator.Revision) bool { return r.Field == annotator.FieldRetired })
	case status == annotator.Confirmed && live:
		c.want(line, annotator.Operation{Do: annotator.DeedKeep})
	case status.Live() && live:
		c.leave(line, "an entry that is %s cannot be made %s", c.base.Status, status)
	default:
		c.leave(line, "an entry that is %s cannot be made %.40q", c.base.Status, status)
	}
	return false, nil
}

// revert takes back the newest revision of the export that a condition selects.
func (c *entryComparison) revert(line int, is func(*annotator.Revision) bool) error {
	past, err := c.history(c.now.ID)
	if err != nil {
		return err
	}
	for i := range slices.Backward(past) {
		if past[i].ID <= c.base.Revision && is(&past[i]) {
			c.want(line, annotator.Operation{Do: annotator.DeedRevert, Revision: past[i].ID})
			return nil
		}
	}
	c.leave(line, "what set it is not in the history of the entry")
	return nil
}

// compareName compares the name, and returns that of the file.
func (c *entryComparison) compareName() annotator.Entry {
	name := annotator.Entry{Term: c.base.Term, Disambiguator: c.base.Disambiguator}
	line := c.line("term")
	if c.has("term") {
		name.Term = c.file.Term
	}
	if c.has("disambiguator") {
		name.Disambiguator = c.file.Disambiguator
		if name.Term == c.base.Term {
			line = c.line("disambiguator")
		}
	}
	wanted, now := name.Name(), c.now.Name()
	term, what := codex.SplitName(wanted)
	switch {
	case wanted == c.base.Name(), wanted == now:
	case now != c.base.Name():
		c.conflict(line, "its name is %q since, and %q in the file", now, wanted)
	case term != name.Term || what != name.Disambiguator:
		c.leave(line, "the name %q would be read as %q, with %q in parentheses", wanted, term, what)
	default:
		c.want(line, annotator.Operation{Do: annotator.DeedRename, Name: wanted})
	}
	return name
}

// compareNames compares the other names. The name itself is always one of them.
func (c *entryComparison) compareNames(name annotator.Entry) {
	if !c.has("aliases") {
		return
	}
	before, now, file := namesOf(c.base.Aliases), namesOf(c.now.Aliases), map[string]bool{}
	from := map[string]annotator.Place{}
	for _, alias := range c.base.Aliases {
		from[codex.Normalize(alias.Name)] = alias.From
	}
	var dropped, added []wanted
	for i := range c.file.Aliases {
		text, line := c.file.Aliases[i].Name, c.line("aliases", i, "name")
		key := codex.Normalize(text)
		was, known := before[key]
		switch {
		case file[key]:
		case known && was == text:
			if c.has("aliases", i, "from") && !c.samePlace(c.file.Aliases[i].From, from[key]) {
				c.leave(c.line("aliases", i, "from"), "where the name %q is first used cannot be set", text)
			}
		case known && key == codex.Normalize(name.Term):
			c.leave(line, "the spelling %q of its own name cannot be changed alone", text)
		case known && now[key] == was:
			dropped = append(dropped, wanted{line, annotator.Operation{Do: annotator.DeedReject, Name: was}})
			added = append(added, wanted{line, annotator.Operation{Do: annotator.DeedAdd, Name: text}})
		case now[key] == "" && key != codex.Normalize(name.Term):
			added = append(added, wanted{line, annotator.Operation{Do: annotator.DeedAdd, Name: text}})
		}
		file[key] = true
	}
	for _, alias := range c.base.Aliases {
		key := codex.Normalize(alias.Name)
		switch isTerm := key == codex.Normalize(c.base.Term); {
		case file[key], now[key] == "", c.file.isTable && isTerm:
		case key == codex.Normalize(name.Term):
			c.leave(c.line("aliases"), "%q is its name, and stays among its names", alias.Name)
		default:
			reject := annotator.Operation{Do: annotator.DeedReject, Name: alias.Name}
			dropped = append(dropped, wanted{c.line("aliases"), reject})
		}
	}
	for _, w := range slices.Concat(dropped, added) {
		c.want(w.line, w.op)
	}
}

// namesOf returns names by their normal form.
func namesOf(aliases []annotator.Alias) map[string]string {
	names := make(map[string]string, len(aliases))
	for i := range aliases {
		names[codex.Normalize(aliases[i].Name)] = aliases[i].Name
	}
	return names
}

// compareTags compares the tags. Those that the codex has got or lost since stay so.
func (c *entryComparison) compareTags() {
	if !c.has("tags") {
		return
	}
	file, err := codex.Tags(c.file.Tags)
	if err != nil {
		c.leave(c.line("tags"), "%v", err)
		return
	}
	var tags []string
	for _, tag := range slices.Concat(c.now.Tags, file) {
		isOld, isNow, isWanted := slices.Contains(c.base.Tags, tag), slices.Contains(c.now.Tags, tag),
			slices.Contains(file, tag)
		if isWanted && !isOld || isNow && (isWanted || !isOld) {
			tags = append(tags, tag)
		}
	}
	slices.Sort(tags)
	if tags = slices.Compact(tags); !slices.Equal(tags, c.now.Tags) {
		c.want(c.line("tags"), annotator.Operation{Do: annotator.DeedRetag, Tags: tags})
	}
}

func (c *entryComparison) compareLock() {
	if !c.has("locked") || c.file.Locked == c.base.Locked || c.file.Locked == c.now.Locked {
		return
	}
	do := annotator.DeedUnlock
	if c.file.Locked {
		do = annotator.DeedLock
	}
	c.want(c.line("locked"), annotator.Operation{Do: do})
}

// compareComputed says which changes are of what is put together from the rest.
func (c *entryComparison) compareComputed() {
	if text := c.file.Definition; c.has("definition") && text != codex.Definition(c.base) &&
		text != codex.Definition(c.now) {
		c.leave(c.line("definition"), "the definition is put together from the facts; change these")
	}
	if c.file.Present == nil {
		return
	}
	if text := c.file.Present.Text; text != c.base.Present && text != c.now.Present {
		c.leave(c.line("present", "text"), "the statement of what it is now cannot be edited; change its facts")
	}
}

// samePlace reports whether a position of the file is that of a place. The number of a scene may have changed.
func (c *entryComparison) samePlace(p annotator.Position, place annotator.Place) bool {
	at := c.Position(place)
	return p.Thread == at.Thread && p.Post == at.Post
}

// quoted shortens a text for a message.
func quoted(text string) string { return fmt.Sprintf("%.200q", text) }
