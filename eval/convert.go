package eval

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/csv"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"annotator"
	"annotator/codex"
)

// FromPDNC reads the table of characters of a novel of the Project Dialogism Novel Corpus (Vishnubhotla, Hammond and
// Hirst 2022). This is its file character_info.csv, with the columns Main Name, Aliases and Category. An error is
// Misused.
func FromPDNC(text []byte) (*Gold, error) {
	in := csv.NewReader(bytes.NewReader(bytes.TrimPrefix(text, []byte("\ufeff"))))
	in.FieldsPerRecord = -1
	rows, err := in.ReadAll()
	if err != nil || len(rows) == 0 {
		return nil, annotator.Errorf(annotator.Misused, "the table of characters cannot be read: %w", err)
	}
	name, aliases := slices.Index(rows[0], "Main Name"), slices.Index(rows[0], "Aliases")
	if name < 0 || aliases < 0 {
		return nil, annotator.Errorf(annotator.Misused, "the table of characters has no columns Main Name and Aliases")
	}
	category := slices.Index(rows[0], "Category")
	g := &Gold{}
	for _, row := range rows[1:] {
		// _narr and _unknowable are no characters
		if len(row) <= max(name, aliases) || strings.HasPrefix(row[name], "_") {
			continue
		}
		e := Entity{Name: row[name], Kind: "person"}
		if 0 <= category && category < len(row) {
			e.Importance = row[category]
		}
		for _, alias := range quoted.FindAllStringSubmatch(row[aliases], -1) {
			e.Aliases = append(e.Aliases, Name(strings.ReplaceAll(alias[1]+alias[2], `\'`, `'`)))
		}
		g.Entities = append(g.Entities, e)
	}
	return g, g.check()
}

// quoted matches the strings of a set as Python writes it.
var quoted = regexp.MustCompile(`'((?:[^'\\]|\\.)*)'|"((?:[^"\\]|\\.)*)"`)

// FromLitBank reads an annotation of LitBank. Its things are those that have a proper name.
//
// In the coreference annotation (Bamman, Lewke and Mansoor 2020, folder coref/tsv), a thing is a chain of mentions. Its
// names are its proper ones, and it is major if it has at least majorMentions, pronouns included. In the annotation of
// entities (Bamman, Popat and Shen 2019, folder entities/brat), the same words are the same thing. There a proper name
// is one whose last word begins with a capital. An error is Misused.
func FromLitBank(text []byte) (*Gold, error) {
	l := &litBank{chains: map[string]string{}, things: map[string]*litBankThing{}}
	lines := bufio.NewScanner(bytes.NewReader(text))
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		l.add(strings.Split(lines.Text(), "\t"))
	}
	if lines.Err() != nil {
		return nil, annotator.Errorf(annotator.Misused, "the annotation cannot be read: %w", lines.Err())
	}
	g := l.gold()
	return g, g.check()
}

// majorMentions is how many mentions a major thing of LitBank has, whose texts have about 2,000 words.
const majorMentions = 10

// litBank is an annotation of LitBank.
type litBank struct {
	mentions []litBankMention
	chains   map[string]string // of mentions, by id
	things   map[string]*litBankThing
}

type litBankMention struct {
	id, text, kind string
	proper         bool
}

type litBankThing struct {
	Entity
	mentions int
}

// add adds a line, as its fields.
func (l *litBank) add(fields []string) {
	switch {
	case len(fields) >= 9 && fields[0] == "MENTION":
		l.mentions = append(l.mentions, litBankMention{fields[1], fields[6], fields[7], fields[8] == "PROP"})
	case len(fields) >= 3 && fields[0] == "COREF":
		l.chains[fields[1]] = fields[2]
	case len(fields) >= 3 && strings.HasPrefix(fields[0], "T"):
		kind, _, _ := strings.Cut(fields[1], " ")
		last, _ := utf8.DecodeRuneInString(fields[2][strings.LastIndexByte(fields[2], ' ')+1:])
		l.mentions = append(l.mentions, litBankMention{fields[0], fields[2], kind, unicode.IsUpper(last)})
		l.chains[fields[0]] = kind + " " + fields[2]
	}
}

// gold returns the things with a proper name, in the order of their first one.
func (l *litBank) gold() *Gold {
	var order []*litBankThing
	for _, m := range l.mentions {
		chain := cmp.Or(l.chains[m.id], m.id)
		e := l.things[chain]
		if e == nil {
			e = &litBankThing{Entity: Entity{Kind: kindOf(m.kind), Importance: "minor"}}
			l.things[chain] = e
		}
		if e.mentions++; e.mentions >= majorMentions {
			e.Importance = "major"
		}
		name := detokenized(m.text)
		switch {
		case !m.proper || !codex.HasWord(name):
		case e.Name == "":
			e.Name = name
			order = append(order, e)
		case name != e.Name && !slices.Contains(e.Aliases, Name(name)):
			e.Aliases = append(e.Aliases, Name(name))
		}
	}
	g := &Gold{}
	for _, e := range order {
		g.Entities = append(g.Entities, e.Entity)
	}
	return g
}

// detokenized returns a text without the spaces that LitBank has in front of punctuation and endings.
func detokenized(text string) string { return tokenized.ReplaceAllString(text, "$1") }

var tokenized = regexp.MustCompile(` ([,.;:!?’”)]|['’]s\b)`)
