package edits_test

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"annotator"
	"annotator/codex"
	"annotator/edits"
	"annotator/exporters"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"
)

const post = "She keeps the light. The dawn is a ship of oak, and Mik sails it alone."

var facts = []string{"She keeps the light.", "The dawn is a ship.", "Mik sails it.", "It is of oak.", "- = \"a\" \\ #"}

// memory is a codex in memory, with its history.
type memory struct {
	rapid.TB
	entries map[int64]*annotator.Entry
	past    map[int64][]annotator.Revision
	last    int64 // revision
}

func newMemory(t *rapid.T) *memory {
	m := &memory{t, map[int64]*annotator.Entry{}, map[int64][]annotator.Revision{}, 0}
	for id, name := range []string{"Dawn (ship)", "Mik", "漢字"} {
		edit := codex.Edit{
			Name: &name, Tags: []string{"thing"}, Aliases: []string{"the " + name}, Actor: annotator.ActorModel, At: 1,
		}
		for _, text := range rapid.SliceOfNDistinct(rapid.SampledFrom(facts), 1, 4, rapid.ID[string]).Draw(t, "facts") {
			edit.Facts = append(edit.Facts, codex.Fact{
				Text: text, State: rapid.Bool().Draw(t, "state"), Quotes: []annotator.Evidence{quote(t)},
			})
		}
		revisions, err := codex.Revise(&annotator.Entry{ID: int64(id + 1), Status: annotator.Tentative}, edit)
		m.apply(revisions, err)
	}
	return m
}

// quote is a quotation of the only post.
func quote(t *rapid.T) annotator.Evidence {
	words := rapid.SampledFrom([]string{"keeps the light", "a ship of oak", "Mik sails it alone"}).Draw(t, "quote")
	found, ok := codex.Ground(post, words)
	if !ok {
		t.Fatalf("%q is not grounded", words)
	}
	found.Post = 1
	return found
}

// apply applies revisions.
func (m *memory) apply(revisions []annotator.Revision, err error) {
	m.Helper()
	if err != nil {
		m.Fatal(err)
	}
	created := int64(len(m.entries) + 1)
	for i := range revisions {
		r := &revisions[i]
		r.Entry = cmp.Or(r.Entry, created)
		m.last++
		r.ID, r.At, r.Seen = m.last, 1, 1
		e := m.entries[r.Entry]
		if e == nil {
			e = &annotator.Entry{ID: r.Entry, Status: annotator.Tentative}
			m.entries[r.Entry] = e
		}
		if !codex.Follows(e, r) {
			m.Fatalf("%+v does not follow", r)
		}
		if err := codex.Apply(e, r); err != nil {
			m.Fatal(err)
		}
		m.past[r.Entry] = append(m.past[r.Entry], *r)
	}
}

// perform applies an operation. It is as storage does it, without dates.
func (m *memory) perform(op *annotator.Operation) {
	m.Helper()
	on := codex.Subject{
		Entries: m.entries, At: 1,
		Past: func(entry int64) ([]annotator.Revision, error) { return m.past[entry], nil },
	}
	for _, r := range m.past[op.Entry] {
		if op.Do == annotator.DeedRevert && r.ID == op.Revision {
			on.Former = []annotator.Revision{r}
		}
	}
	m.apply(codex.Perform(op, &on))
}

func position(at annotator.Place) annotator.Position {
	return annotator.Position{Thread: 1, Scene: 1, Post: int64(at)}
}

// document returns the codex as it is exported.
func (m *memory) document() exporters.Document {
	var all []annotator.Entry
	for _, e := range m.entries {
		all = append(all, *e)
	}
	return exporters.Build(exporters.Story{Title: "T", CorpusHash: "h", Threads: 1, Scenes: 1}, all, position)
}

// file writes a document in a format.
func (m *memory) file(doc *exporters.Document, format string) []byte {
	m.Helper()
	f, err := exporters.ByName(format)
	var out bytes.Buffer
	if err == nil {
		err = f.WriteOne(context.Background(), &out, &exporters.Codex{Document: doc})
	}
	if err != nil {
		m.Fatal(err)
	}
	return out.Bytes()
}

// compare reads a file and compares it with the codex.
func (m *memory) compare(name string, text []byte) *edits.Plan {
	m.Helper()
	f, err := edits.Read(name, text)
	if err != nil {
		m.Fatalf("%v\n%s", err, text)
	}
	plan, err := edits.Compare(f, m.codex())
	if err != nil {
		m.Fatal(err)
	}
	return plan
}

// changesNothing fails unless a file changes nothing.
func (m *memory) changesNothing(name string, text []byte) {
	m.Helper()
	if plan := m.compare(name, text); len(plan.Changes)+len(plan.Conflicts)+len(plan.Left) > 0 {
		m.Fatalf("%+v", plan)
	}
}

func (m *memory) codex() *edits.Codex {
	return &edits.Codex{
		Draft: &edits.Draft{
			Read: func(id int64) (*annotator.Entry, error) { return m.entries[id], nil },
			Past: func(id int64) ([]annotator.Revision, error) { return m.past[id], nil },
		},
		Ground: func(id int64, words string) (annotator.Evidence, error) {
			found, ok := codex.Ground(post, words)
			if !ok || id != 1 {
				return found, annotator.Errorf(annotator.NotFound, "post %d does not say %q", id, words)
			}
			found.Post = id
			return found, nil
		},
		Position: position,
		Named: func(name string) (int64, error) {
			for id, e := range m.entries {
				if e.Status.Live() && codex.Normalize(e.Name()) == codex.Normalize(name) {
					return id, nil
				}
			}
			return 0, nil
		},
	}
}

// TestChangedExportsComeBack: an export that was not changed changes nothing. After one that was changed in what can be
// changed is imported, an export is that file. To import it again changes nothing, though others write in between.
func TestChangedExportsComeBack(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		m := newMemory(t)
		format := rapid.SampledFrom([]string{"yaml", "json"}).Draw(t, "format")
		doc := m.document()
		m.changesNothing("f."+format, m.file(&doc, format))
		changed := m.document()
		for i := range changed.Entries {
			changeEntry(t, &changed.Entries[i])
		}
		if rapid.Bool().Draw(t, "new entry") {
			changed.Entries = append(changed.Entries, exporters.Entry{
				Term: "Ash Key", Disambiguator: "new", Status: annotator.Confirmed, Tags: []string{"object"},
				Aliases: []exporters.Alias{{Name: "the key"}},
				Claims: []exporters.Claim{{
					Text: "It opens the door.", Kind: annotator.Narrated,
					Evidence: []exporters.Evidence{{Post: 1, Quote: "ship of oak"}},
				}, {Text: "It is black.", Kind: annotator.Noted}},
			})
		}
		file := m.file(&changed, format)
		for i := range changed.Entries {
			changed.Entries[i].ID = cmp.Or(changed.Entries[i].ID, 4)
		}
		if rapid.Bool().Draw(t, "others write") {
			const news = "It has three masts."
			m.apply(codex.Revise(m.entries[1], codex.Edit{
				Facts: []codex.Fact{{Text: news}}, Tags: append([]string{"late"}, m.entries[1].Tags...),
				Actor: annotator.ActorModel, At: 1,
			}))
			first := &changed.Entries[slices.IndexFunc(changed.Entries, isFirst)]
			first.Tags = append(first.Tags, "late")
			first.Claims = append(first.Claims, exporters.Claim{Text: news, Kind: annotator.Narrated})
		}
		plan := m.compare("f."+format, file)
		if len(plan.Conflicts)+len(plan.Left) > 0 {
			t.Fatalf("%+v", plan)
		}
		for i := range plan.Changes {
			m.perform(&plan.Changes[i].Operation)
		}
		after := m.document()
		if diff := gocmp.Diff(essence(&changed), essence(&after), cmpopts.EquateEmpty()); diff != "" {
			t.Fatalf("(-file +export)\n%s\n%+v", diff, plan.Changes)
		}
		m.changesNothing("f."+format, file)
	})
}

func isFirst(e exporters.Entry) bool { return e.ID == 1 }

// changeEntry changes an entry of a document in ways that operations can express.
func changeEntry(t *rapid.T, e *exporters.Entry) {
	is := func(what string) bool { return rapid.IntRange(0, 3).Draw(t, what) == 0 }
	word := rapid.StringMatching(`[A-Za-zé'"#:{}-]{0,6}[a-z]`)
	if is("term") {
		e.Term = word.Draw(t, "name") + fmt.Sprint(e.ID)
	}
	if is("disambiguator") {
		e.Disambiguator = word.Draw(t, "what")
	}
	if is("name") {
		e.Aliases = append(e.Aliases, exporters.Alias{Name: word.Draw(t, "name") + " " + fmt.Sprint(e.ID)})
	}
	if is("drop a name") {
		isLong := func(a exporters.Alias) bool { return strings.HasPrefix(a.Name, "the ") }
		e.Aliases = slices.DeleteFunc(e.Aliases, isLong)
	}
	if is("tags") {
		e.Tags = rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"a", "thing", "ship"}), 0, 3,
			rapid.ID[string]).Draw(t, "tags")
		slices.Sort(e.Tags)
	}
	if is("lock") {
		e.Locked = true
	}
	switch {
	case is("hide"):
		e.Status = annotator.Retired
	case is("keep"):
		e.Status = annotator.Confirmed
	}
	for i := range e.Claims {
		c := &e.Claims[i]
		switch {
		case is("edit"):
			c.Text = word.Draw(t, "words") + " " + fmt.Sprint(c.ID)
		case is("over") && c.State:
			c.Ended = annotator.EndOver
		case is("wrong"):
			c.Ended = annotator.EndWrong
		case is("quotation"):
			v := quote(t)
			isKnown := func(k exporters.Evidence) bool { return k.Start == v.Start }
			if !slices.ContainsFunc(c.Evidence, isKnown) {
				own := exporters.Evidence{Post: v.Post, Start: v.Start, End: v.End, Quote: v.Quote}
				c.Evidence = append(c.Evidence, own)
			}
		case is("drop quotations"):
			c.Evidence = nil
		}
	}
	if is("drop a fact") {
		e.Claims = e.Claims[1:]
	}
	if is("add a fact") {
		c := exporters.Claim{Text: word.Draw(t, "words") + " new", Kind: annotator.Inferred, State: is("state")}
		if is("quoted") {
			c.Evidence = []exporters.Evidence{{Post: 1, Quote: "ship of oak"}}
		}
		e.Claims = append(e.Claims, c)
	}
}

// essence is what an export and a file have in common, by entry: what is not computed, and the facts that hold.
func essence(doc *exporters.Document) map[int64]map[string][]string {
	all := map[int64]map[string][]string{}
	for _, e := range doc.Entries {
		one := map[string][]string{
			"name": {e.Term, e.Disambiguator}, "tags": slices.Sorted(slices.Values(e.Tags)),
			"status": {string(e.Status)}, "locked": {fmt.Sprint(e.Locked)},
		}
		for _, a := range e.Aliases {
			if codex.Normalize(a.Name) != codex.Normalize(e.Term) {
				one["names"] = append(one["names"], a.Name)
			}
		}
		slices.Sort(one["names"])
		for _, c := range e.Claims {
			if c.Until == nil && c.Ended == "" {
				one["facts"] = append(one["facts"], fmt.Sprint(c.Text, c.Kind, c.State, quotations(c.Evidence)))
			}
		}
		slices.Sort(one["facts"])
		all[e.ID] = one
	}
	return all
}

func quotations(list []exporters.Evidence) []string {
	var quotes []string
	for _, v := range list {
		quotes = append(quotes, v.Quote)
	}
	slices.Sort(quotes)
	return quotes
}
