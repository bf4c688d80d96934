// Package exporters writes a codex as a file for other programs.
//
// Build converts the entries of a glossary to a Document, which all formats share. A Format writes it as one file or
// several. WriteFile writes a file whole or not at all. The same glossary always gives the same bytes, so that exports
// can be compared with diff.
package exporters

import (
	"cmp"
	"slices"

	"annotator"
	"annotator/codex"
)

// The format of a document and its version, which counts incompatible changes.
const (
	DocumentFormat = "annotator-glossary"
	Version        = 1
)

// Document is a codex as it is exported.
type Document struct {
	Format  string              `json:"format"`
	Version int                 `json:"version"`
	Story   Story               `json:"story"`
	AsOf    *annotator.Position `json:"as_of"` // nil: now
	// Chapters are absent where they are not known.
	Chapters []Chapter `json:"chapters,omitempty"` // in story order
	// Summaries are absent before the first.
	Summaries *Summaries `json:"summaries,omitempty"`
	Count     int        `json:"count"` // of entries
	Entries   []Entry    `json:"entries"`
}

// Story describes the source of the codex.
type Story struct {
	Title      string `json:"title"`
	CorpusHash string `json:"corpus_hash"` // of the whole story, also under a limit
	Threads    int    `json:"threads"`     // up to the limit
	Scenes     int    `json:"scenes"`      // up to the limit
}

// Chapter is a thread of the story with its scenes up to the limit.
type Chapter struct {
	Thread    int64  `json:"thread"`
	Title     string `json:"title"`
	FromScene int    `json:"from_scene"`
	ToScene   int    `json:"to_scene"`
}

// titles returns the titles of the chapters by their threads.
func (d *Document) titles() map[int64]string {
	titles := make(map[int64]string, len(d.Chapters))
	for _, c := range d.Chapters {
		titles[c.Thread] = c.Title
	}
	return titles
}

// Entry is an entry of the codex.
type Entry struct {
	ID            int64              `json:"id"`
	Term          string             `json:"term"` // without disambiguator
	Disambiguator string             `json:"disambiguator"`
	Status        annotator.Status   `json:"status"`
	Tags          []string           `json:"tags"`
	Aliases       []Alias            `json:"aliases"`
	Definition    string             `json:"definition"` // the claims in force, joined
	Claims        []Claim            `json:"claims"`     // also those not in force, in the order of reading
	First         annotator.Position `json:"first"`
	Last          annotator.Position `json:"last"`
	Revisions     int                `json:"revisions"`
	Locked        bool               `json:"locked"`
	MergedInto    int64              `json:"merged_into,omitempty"` // id of the entry that replaced it
	Present       *Present           `json:"present,omitempty"`     // nil if there is none
	Opening       int                `json:"opening,omitempty"`     // how many of the claims open it, see codex.InOrder
}

// Found is an entry that a search found.
type Found struct {
	Entry
	// id of the first claim with the most words of the search; absent if none has any
	Match int64 `json:"match,omitempty"`
}

// NewFound converts entries that a search found by some words, in their order.
func NewFound(entries []annotator.Entry, words []string, at func(annotator.Place) annotator.Position) []Found {
	search, list := codex.NewWords(words), make([]Found, len(entries))
	for i := range entries {
		list[i].Entry = NewEntry(&entries[i], at)
		if c := search.Best(entries[i].Claims); c != nil {
			list[i].Match = c.ID
		}
	}
	return list
}

// Present is a short statement of how an entry stands at a place in the story. It is not evidence.
type Present struct {
	Text     string             `json:"text"`
	AsOf     annotator.Position `json:"as_of"`              // up to which it holds
	Outdated bool               `json:"outdated,omitempty"` // a state of the entry has begun or ended since
}

// Alias is another name of an entry, and where it is first used.
type Alias struct {
	Name string             `json:"name"`
	From annotator.Position `json:"from"`
}

// Claim is one fact of an entry, as one sentence.
type Claim struct {
	ID         int64               `json:"id"` // from 1, within the entry
	Text       string              `json:"text"`
	Kind       annotator.ClaimKind `json:"kind"`
	Speaker    string              `json:"speaker,omitempty"`  // who says it, if it is claimed; absent if unknown
	Document   string              `json:"document,omitempty"` // the letter, page or notice in which it is said
	State      bool                `json:"state,omitempty"`    // a state can end
	Identity   bool                `json:"identity,omitempty"` // it says who or what the entry is
	Earlier    bool                `json:"earlier,omitempty"`  // it is of an earlier time than the scene that tells it
	Relation   string              `json:"relation,omitempty"` // what the entry is to the object: "sister of"
	Object     string              `json:"object,omitempty"`   // a name, or other words
	As         string              `json:"as,omitempty"`       // the name of the merged entry that it comes from
	From       annotator.Position  `json:"from"`
	Until      *annotator.Position `json:"until"`                 // nil while it is in force
	Ended      annotator.Ending    `json:"ended,omitempty"`       // how it ended; absent where that is not known
	ReplacedBy int64               `json:"replaced_by,omitempty"` // id of the claim that replaced it
	MovedTo    int64               `json:"moved_to,omitempty"`    // id of the entry that has it now, if it was moved
	// a person has locked it, and the model would have changed or ended it
	Doubted  bool       `json:"perhaps_outdated,omitempty"`
	Evidence []Evidence `json:"evidence"`
}

// Evidence is a quotation that supports a claim.
type Evidence struct {
	Post  int64  `json:"post"`
	Start int    `json:"start"` // offset in the post's body, in Unicode code points
	End   int    `json:"end"`   // exclusive
	Quote string `json:"quote"`
	Weak  bool   `json:"weak,omitempty"` // the quotations of the claim lack words of it

	Former bool `json:"former,omitempty"` // the source no longer has the text of the post
}

// MarkFormer marks the quotations of posts whose text the source no longer has.
func (e *Entry) MarkFormer(posts map[int64]bool) {
	for i := range e.Claims {
		for k := range e.Claims[i].Evidence {
			v := &e.Claims[i].Evidence[k]
			v.Former = posts[v.Post]
		}
	}
}

// note says in parentheses that the source no longer has the quotation; "" if it has.
func (v *Evidence) note() string {
	if v.Former {
		return " (" + FormerText + ")"
	}
	return ""
}

// Build returns the document of entries, sorted by term, disambiguator and id. It does not change the given slice. The
// function position returns the ids of a place in the story.
func Build(story Story, entries []annotator.Entry, position func(annotator.Place) annotator.Position) Document {
	return Document{
		Format: DocumentFormat, Version: Version, Story: story, Count: len(entries),
		Entries: each(sorted(entries), func(e *annotator.Entry) Entry { return NewEntry(e, position) }),
	}
}

// sorted returns the entries in the document's order.
func sorted(entries []annotator.Entry) []*annotator.Entry {
	type keyed struct {
		key   nameKey
		entry *annotator.Entry
	}
	keys := make([]keyed, len(entries))
	for i := range entries {
		keys[i] = keyed{keyOf(&entries[i]), &entries[i]}
	}
	slices.SortFunc(keys, func(a, b keyed) int { return a.key.compare(b.key) })
	return each(keys, func(k keyed) *annotator.Entry { return k.entry })
}

// nameKey is the sort key of entries.
type nameKey struct {
	term, disambiguator string
	id                  int64
}

func keyOf(e *annotator.Entry) nameKey {
	return nameKey{codex.Normalize(e.Term), codex.Normalize(e.Disambiguator), e.ID}
}

func (a nameKey) compare(b nameKey) int {
	return cmp.Or(cmp.Compare(a.term, b.term), cmp.Compare(a.disambiguator, b.disambiguator), cmp.Compare(a.id, b.id))
}

// NewEntry returns an entry as it is exported. See Build.
func NewEntry(e *annotator.Entry, position func(annotator.Place) annotator.Position) Entry {
	claims, opening := codex.InOrder(e)
	return Entry{
		ID:            e.ID,
		Term:          e.Term,
		Disambiguator: e.Disambiguator,
		Status:        e.Status,
		Tags:          append([]string{}, e.Tags...),
		Aliases:       each(e.Aliases, func(a annotator.Alias) Alias { return Alias{a.Name, position(a.From)} }),
		Definition:    codex.Definition(e),
		Claims:        each(claims, func(c annotator.Claim) Claim { return NewClaim(c, position) }),
		First:         position(e.First),
		Last:          position(e.Last),
		Revisions:     e.Revisions,
		Locked:        e.Locked,
		MergedInto:    e.MergedInto,
		Present:       newPresent(e, position),
		Opening:       opening,
	}
}

func newPresent(e *annotator.Entry, position func(annotator.Place) annotator.Position) *Present {
	if e.Present == "" {
		return nil
	}
	return &Present{Text: e.Present, AsOf: position(e.PresentAt), Outdated: codex.Outdated(e)}
}

// NewClaim returns a claim as it is exported. See Build.
func NewClaim(c annotator.Claim, position func(annotator.Place) annotator.Position) Claim {
	claim := Claim{
		ID: c.ID, Text: c.Text, Kind: c.Kind, Speaker: c.Speaker, Document: c.Document, State: c.State,
		Identity: c.Identity, Earlier: c.Earlier, Relation: c.Relation, Object: c.Object, As: c.As,
		From:  position(c.From),
		Ended: c.Ended, ReplacedBy: c.ReplacedBy, MovedTo: c.MovedTo, Doubted: c.Doubted,
	}
	if c.Until != 0 {
		claim.Until = new(position(c.Until))
	}
	claim.Evidence = each(c.Evidence, func(e annotator.Evidence) Evidence {
		return Evidence{e.Post, e.Start, e.End, e.Quote, e.Weak, false}
	})
	return claim
}

// each converts the elements of a list. It never returns nil, so that an empty list is encoded as a list.
func each[From, To any](list []From, convert func(From) To) []To {
	converted := make([]To, len(list))
	for i := range list {
		converted[i] = convert(list[i])
	}
	return converted
}
