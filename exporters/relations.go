package exporters

import (
	"cmp"
	"slices"

	"annotator"
	"annotator/codex"
)

// Relation is what an entry is to another, or to what some words say, with the claim that says so.
type Relation struct {
	Entry       int64               `json:"entry"`
	Term        string              `json:"term"` // with what distinguishes it
	Relation    string              `json:"relation"`
	Object      string              `json:"object,omitempty"`       // the full name of the entry, or the words
	ObjectEntry int64               `json:"object_entry,omitempty"` // absent if the object names no entry
	Claim       int64               `json:"claim"`
	Kind        annotator.ClaimKind `json:"kind"`
	Earlier     bool                `json:"earlier,omitempty"`
	From        annotator.Position  `json:"from"`
	Until       *annotator.Position `json:"until,omitempty"` // absent while it holds
	Ended       annotator.Ending    `json:"ended,omitempty"`
}

// NewRelation returns the relation of a claim of an entry. The names are those of entries by their ids.
func NewRelation(entry int64, c *Claim, object int64, names func(int64) string) Relation {
	r := Relation{
		Entry: entry, Term: names(entry), Relation: c.Relation, Object: c.Object, ObjectEntry: object, Claim: c.ID,
		Kind: c.Kind, Earlier: c.Earlier, From: c.From, Until: c.Until, Ended: c.Ended,
	}
	if object != 0 {
		r.Object = names(object)
	}
	return r
}

// NamesOf returns a function that returns the full names of entries by their ids; empty for others.
func NamesOf(entries map[int64]*annotator.Entry) func(int64) string {
	return func(id int64) string {
		if entries[id] == nil {
			return ""
		}
		return entries[id].Name()
	}
}

// relations returns the relations of the entries of a document, in the order of the story.
func (d *Document) relations() []Relation {
	directory, byID := codex.NewDirectory(), map[int64]string{}
	for i := range d.Entries {
		e := &d.Entries[i]
		byID[e.ID] = nameOf(e)
		if !e.Status.Live() {
			continue
		}
		directory.Add(e.ID, codex.Normalize(nameOf(e)), true)
		for _, a := range e.Aliases {
			directory.Add(e.ID, codex.Normalize(a.Name), false)
		}
	}
	list := []Relation{}
	for i := range d.Entries {
		e := &d.Entries[i]
		for _, c := range e.shown() {
			object := directory.Find(c.Object)
			if c.Relation != "" && object != e.ID {
				list = append(list, NewRelation(e.ID, &c, object, func(id int64) string { return byID[id] }))
			}
		}
	}
	slices.SortStableFunc(list, func(a, b Relation) int {
		return cmp.Or(cmp.Compare(a.From.Scene, b.From.Scene), cmp.Compare(a.Entry, b.Entry),
			cmp.Compare(a.Claim, b.Claim))
	})
	return list
}
