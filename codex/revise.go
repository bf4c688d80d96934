package codex

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"annotator"
)

// Edit is a requested change of an entry. A nil pointer or slice leaves that part unchanged.
type Edit struct {
	Name        *string    // the term, with an optional disambiguator in parentheses
	Facts       []Fact     // added to the present facts
	Index       *FactIndex // of the present facts, for an edit of one; nil: one is made
	Close       []Closing  // of facts, after Facts are added
	Tags        []string   // replace the present tags
	Aliases     []string   // added to the present aliases
	DropAliases []string   // removed, after the name has changed; never the name
	Status      *annotator.Status
	Actor       annotator.Actor // who edits
	At          annotator.Place // the place in the story that the edit is about
}

// Refusal is the error of an edit that the rules reject. Model and curator read its code and message, and may correct
// the edit.
type Refusal struct { //nolint:errname // a refusal is a result first
	Code    string // EMPTY, TOO_LONG, LOCKED, NOT_FOUND, RETIRED, SAME, ENDING, CHANGED or ALREADY
	Message string
}

// Locked is the code of an edit of what a person has locked: an entry, or a part of one.
const Locked = "LOCKED"

// Error returns code and message.
func (r *Refusal) Error() string { return r.Code + ": " + r.Message }

func refuse(code, format string, args ...any) error {
	return &Refusal{Code: code, Message: fmt.Sprintf(format, args...)}
}

// Limits of an entry, in code points and items. They bound how much one reply can add to the prompts of later scenes.
const (
	MaxName  = 200
	MaxTag   = 60
	MaxItems = 50 // of tags, and of aliases
	MaxQuote = 1000
)

// Revise returns the revisions that an edit makes to an entry, without ids, times or trace. There are none if the entry
// already is as requested. A zero entry is a new one. The error is a *Refusal if the rules reject the edit.
func Revise(e *annotator.Entry, edit Edit) ([]annotator.Revision, error) {
	r := newReviser(e, edit)
	r.checkEditable()
	r.name()
	r.aliases()
	r.dropAliases()
	r.tags()
	r.facts()
	r.closings()
	r.status()
	return r.result()
}

// reviser collects revisions and applies each one at once, so that later steps see its effect. It keeps the first
// error; the steps after it still run, but have no result.
type reviser struct {
	edit      Edit
	entry     annotator.Entry
	revisions []annotator.Revision
	err       error
}

func (r *reviser) fail(err error) {
	if r.err == nil {
		r.err = err
	}
}

func (r *reviser) result() ([]annotator.Revision, error) {
	if r.err != nil {
		return nil, r.err
	}
	return r.revisions, nil
}

func newReviser(e *annotator.Entry, edit Edit) *reviser { return &reviser{edit: edit, entry: Clone(e)} }

// Clone returns a copy of an entry, to which revisions can be applied. It is tentative if the entry has no status.
func Clone(e *annotator.Entry) annotator.Entry {
	c := *e
	c.Tags, c.Aliases, c.Claims = slices.Clone(e.Tags), slices.Clone(e.Aliases), slices.Clone(e.Claims)
	c.Locks = slices.Clone(e.Locks)
	if c.Status == "" {
		c.Status = annotator.Tentative
	}
	return c
}

func (r *reviser) add(field annotator.Field, old, new string) {
	revision := annotator.Revision{
		Entry: r.entry.ID, Field: field, Old: old, New: new, At: r.edit.At, Actor: r.edit.Actor,
	}
	r.revisions = append(r.revisions, revision)
	r.fail(change(&r.entry, &revision))
}

func (r *reviser) checkEditable() {
	switch {
	case r.entry.Locked && r.edit.Actor != annotator.ActorPerson:
		r.fail(refuse(Locked, "entry %d is locked by a person", r.entry.ID))
	case r.entry.Status == annotator.Merged:
		r.fail(refuse("RETIRED", "entry %d is merged into entry %d; change that one", r.entry.ID, r.entry.MergedInto))
	case !r.entry.Status.Live():
		r.fail(refuse("RETIRED", "entry %d is %s; create a new one if the story calls for it", r.entry.ID,
			r.entry.Status))
	}
}

func (r *reviser) name() {
	if r.edit.Name == nil {
		return
	}
	name := r.text("term", Visible(*r.edit.Name), MaxName)
	term, disambiguator := SplitName(name)
	if !HasWord(term) {
		r.fail(refuse("EMPTY", "the term %q is nothing but its disambiguator", name))
	}
	renamed := annotator.Entry{Term: term, Disambiguator: disambiguator}
	if renamed.Name() != r.entry.Name() {
		r.checkPart(LockName, "the name")
		r.add(annotator.FieldTerm, r.entry.Name(), renamed.Name())
		r.alias(term) // the term is also an alias; the former term stays one
	}
}

func (r *reviser) aliases() {
	for _, name := range r.edit.Aliases {
		r.alias(strings.Join(strings.Fields(r.text("alias", Visible(name), MaxName)), " "))
	}
}

func (r *reviser) alias(name string) {
	if _, known := findAlias(&r.entry, name); known {
		return
	}
	r.checkPart(LockAlias(name), "that a name is none")
	if len(r.entry.Aliases) >= MaxItems {
		r.fail(refuse("TOO_LONG", "entry %d has %d aliases, the most there may be", r.entry.ID, MaxItems))
	}
	r.add(annotator.FieldAlias, "", annotator.EncodeJSON(annotator.Alias{Name: name, From: r.edit.At}))
}

func (r *reviser) dropAliases() {
	for _, name := range r.edit.DropAliases {
		at, known := findAlias(&r.entry, Visible(Clean(name)))
		switch {
		case !known:
			r.fail(refuse("NOT_FOUND", "entry %d has no name %.200q", r.entry.ID, name))
		case Normalize(r.entry.Aliases[at].Name) == Normalize(r.entry.Term):
			r.fail(refuse("SAME", "%.200q is the term of entry %d; give it another one first", name, r.entry.ID))
		default:
			r.checkPart(LockAlias(name), "a name")
			r.add(annotator.FieldAlias, annotator.EncodeJSON(r.entry.Aliases[at]), "")
		}
	}
}

func (r *reviser) tags() {
	if r.edit.Tags == nil {
		return
	}
	wanted, err := Tags(r.edit.Tags)
	r.fail(err)
	if !slices.Equal(wanted, r.entry.Tags) {
		r.checkPart(LockTags, "the tags")
	}
	for _, tag := range slices.Clone(r.entry.Tags) {
		if !slices.Contains(wanted, tag) {
			r.add(annotator.FieldTag, tag, "")
		}
	}
	for _, tag := range wanted {
		if !slices.Contains(r.entry.Tags, tag) {
			r.add(annotator.FieldTag, "", tag)
		}
	}
}

// Tags normalises tags: lower case, white space collapsed, sorted, distinct.
func Tags(tags []string) ([]string, error) {
	if len(tags) > MaxItems {
		return nil, refuse("TOO_LONG", "%d tags; at most %d", len(tags), MaxItems)
	}
	var clean []string
	for _, tag := range tags {
		tag, err := Text("tag", Visible(tag), MaxTag)
		if err != nil {
			return nil, err
		}
		clean = append(clean, strings.ToLower(strings.Join(strings.Fields(tag), " ")))
	}
	slices.Sort(clean)
	return slices.Compact(clean), nil
}

func (r *reviser) status() {
	if r.edit.Status != nil && *r.edit.Status != r.entry.Status {
		r.checkPart(LockStatus, "the status")
		r.add(annotator.FieldStatus, string(r.entry.Status), string(*r.edit.Status))
	}
}

// Retire returns the revision that retires a live entry, with the reason.
func Retire(
	e *annotator.Entry, reason string, actor annotator.Actor, at annotator.Place,
) ([]annotator.Revision, error) {
	r := newReviser(e, Edit{Actor: actor, At: at})
	r.checkEditable()
	r.checkRemovable()
	r.add(annotator.FieldRetired, string(e.Status), r.text("reason", reason, MaxQuote))
	return r.result()
}

// text is Text as a step.
func (r *reviser) text(what, value string, limit int) string {
	text, err := Text(what, value, limit)
	r.fail(err)
	return text
}

// Text cleans external text. The error is a *Refusal if the text has no word or more than limit code points; what names
// the text in its message.
func Text(what, value string, limit int) (string, error) {
	value = Clean(value)
	if !HasWord(value) {
		return "", refuse("EMPTY", "the %s holds no word", what)
	}
	if n := utf8.RuneCountInString(value); n > limit {
		return "", refuse("TOO_LONG", "the %s has %d characters; at most %d", what, n, limit)
	}
	return value, nil
}
