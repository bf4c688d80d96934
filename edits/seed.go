package edits

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"annotator"
	"annotator/codex"
	"annotator/exporters"
)

// The most that a seed may have.
const (
	MaxSeed        = 8 << 20 // bytes of its file
	MaxSeedEntries = 10_000
)

// Seed is the entries of a person with which a run begins.
type Seed struct {
	// Operation has a create for each entry, in the order of the file. Their facts are of kind noted, and have neither
	// places nor quotations: they are the person's, whatever the file was made of.
	Operation annotator.Operation
	Left      []Note // what the file has and the seed does not
}

// ReadSeed reads the entries of a file. It reads our export as JSON or YAML, a table, and a list with a name in each
// line. It also reads World Info, lorebooks and character cards, of the exporters or of other programs. Hints are
// neither confirmed nor locked. The errors are of kind annotator.Misused, and name the line.
func ReadSeed(file string, text []byte, areHints bool) (*Seed, error) {
	if len(text) > MaxSeed {
		return nil, annotator.Errorf(annotator.Misused, "the file is too large: at most %d bytes are read", MaxSeed)
	}
	if !utf8.Valid(text) {
		return nil, annotator.Errorf(annotator.Misused, "this is no text in UTF-8; save it as JSON, YAML, CSV or text")
	}
	r := &seedReader{byName: map[string]*seedEntry{}, left: []Note{}}
	var err error
	switch extension := strings.ToLower(filepath.Ext(file)); {
	case extension == ".csv" || extension == ".tsv":
		err = r.table(text)
	case extension == ".yaml" || extension == ".yml" || isJSON(text):
		err = r.tree(text)
	default:
		r.list(string(text))
	}
	if err != nil {
		return nil, err
	}
	return r.seed(areHints)
}

// seedReader collects the entries of a file.
type seedReader struct {
	entries []*seedEntry
	byName  map[string]*seedEntry // by the whole name, normalized
	left    []Note
}

// seedEntry is an entry of a file.
type seedEntry struct {
	line  int // where it begins
	name  string
	names []string
	tags  []string
	facts []seedFact
}

type seedFact struct {
	text             string
	state, identity  bool
	relation, object string
}

func (r *seedReader) leave(line int, format string, args ...any) {
	r.left = append(r.left, Note{Line: line, Text: fmt.Sprintf(format, args...)})
}

// add adds an entry, or adds to the one with its name.
func (r *seedReader) add(e seedEntry) {
	key := codex.Normalize(e.name)
	former := r.byName[key]
	if former == nil {
		r.entries = append(r.entries, &e)
		r.byName[key] = &e
		return
	}
	former.names = append(former.names, e.names...)
	former.tags = append(former.tags, e.tags...)
	former.facts = append(former.facts, e.facts...)
}

// seed returns the operation of the entries. The first one that the rules of the codex refuse is an error.
func (r *seedReader) seed(areHints bool) (*Seed, error) {
	s := &Seed{Operation: annotator.Operation{Do: annotator.DeedSeed, Hint: areHints}}
	switch {
	case len(r.entries) == 0:
		return nil, annotator.Errorf(annotator.Misused, "the file has no entry")
	case len(r.entries) > MaxSeedEntries:
		return nil, annotator.Errorf(annotator.Misused, "the file has %d entries; a run begins with at most %d",
			len(r.entries), MaxSeedEntries)
	}
	for _, e := range r.entries {
		op := r.create(e, areHints)
		if _, err := codex.Perform(&op, &codex.Subject{}); err != nil {
			return nil, misread(e.line, "%.200q: %v", e.name, err)
		}
		s.Operation.Parts = append(s.Operation.Parts, op)
	}
	s.Left = r.left
	return s, nil
}

// create returns the operation of an entry. It leaves out what is too long or too much for an entry.
func (r *seedReader) create(e *seedEntry, isHint bool) annotator.Operation {
	op := annotator.Operation{Do: annotator.DeedCreate, Name: e.name, Tags: e.tags, Hint: isHint}
	term, _ := codex.SplitName(e.name)
	has := map[string]bool{codex.Normalize(term): true}
	names, facts := 1, 0
	for _, name := range e.names {
		switch key := codex.Normalize(name); {
		case has[key]:
		case !codex.HasWord(name), utf8.RuneCountInString(name) > codex.MaxName, names == codex.MaxItems:
			r.leave(e.line, "%s: the name %.60q", e.name, name)
		default:
			has[key] = true
			names++
			op.Parts = append(op.Parts, annotator.Operation{Do: annotator.DeedAdd, Name: name})
		}
	}
	for _, f := range e.facts {
		size := utf8.RuneCountInString(f.text)
		switch key := "\n" + codex.Normalize(f.text); {
		case has[key]:
		case !codex.HasWord(f.text):
		case size > codex.MaxFact, facts+size+1 > codex.MaxFacts:
			r.leave(e.line, "%s: a text of %d characters is too long: %.60q", e.name, size, f.text)
		default:
			has[key] = true
			facts += size + 1
			op.Parts = append(op.Parts, annotator.Operation{
				Do: annotator.DeedAdd, Text: f.text, Kind: annotator.Noted, State: f.state, Identity: f.identity,
				Relation: f.relation, Object: f.object,
			})
		}
	}
	return op
}

// factsOf returns the sentences of a text.
func factsOf(text string) (facts []seedFact) {
	for line := range strings.Lines(text) {
		for _, sentence := range codex.Sentences(line) {
			facts = append(facts, seedFact{text: sentence})
		}
	}
	return facts
}

// list reads a list of names. Other names of an entry follow its name after bars.
func (r *seedReader) list(text string) {
	line := 0
	for row := range strings.Lines(strings.TrimPrefix(text, "\uFEFF")) {
		line++
		names := strings.Split(row, "|")
		for i := range names {
			names[i] = strings.TrimSpace(names[i])
		}
		if strings.TrimSpace(row) != "" {
			r.add(seedEntry{line: line, name: names[0], names: slices.DeleteFunc(names[1:], func(name string) bool {
				return name == ""
			})})
		}
	}
}

// table reads a table with the columns of the format names, of which only the term is required.
func (r *seedReader) table(text []byte) error {
	f, err := readTable(text, "term")
	if err != nil {
		return err
	}
	for i := range f.entries {
		e := &f.entries[i]
		if e.lines.has("status") && e.Status != "" && !e.Status.Live() || e.Term == "" {
			r.leave(e.lines.at(), "%q: an entry that is %s", e.Term, e.Status)
			continue
		}
		r.add(seedEntry{
			line: e.lines.at(), name: nameOf(&e.Entry), names: aliasesOf(&e.Entry), tags: e.Tags,
			facts: factsOf(e.Definition),
		})
	}
	return nil
}

// document reads an export. What is over, or was found wrong, is left out: the story may tell it yet.
func (r *seedReader) document(f *File) {
	for i := range f.entries {
		e := &f.entries[i]
		if e.lines.has("status") && !e.Status.Live() {
			r.leave(e.lines.at(), "%q: an entry that is %s", e.Term, e.Status)
			continue
		}
		r.add(seedOf(&e.Entry, e.lines.at()))
	}
}

// seedOf returns an entry of an export. A fact that the story did not tell in its own voice says whose it is.
func seedOf(e *exporters.Entry, line int) seedEntry {
	s := seedEntry{line: line, name: nameOf(e), names: aliasesOf(e), tags: e.Tags}
	for i := range e.Claims {
		c := &e.Claims[i]
		if c.Until != nil {
			continue
		}
		text := c.Text
		if origin := c.Origin(); origin != "" && c.Kind != annotator.Noted {
			text += " (" + origin + ")"
		}
		s.facts = append(s.facts, seedFact{
			text, c.State, c.Identity, codex.CleanName(c.Relation), codex.CleanName(c.Object),
		})
	}
	return s
}

func nameOf(e *exporters.Entry) string {
	return (&annotator.Entry{Term: e.Term, Disambiguator: e.Disambiguator}).Name()
}

func aliasesOf(e *exporters.Entry) (names []string) {
	for _, alias := range e.Aliases {
		names = append(names, alias.Name)
	}
	return names
}
