package offline

import (
	"cmp"
	"html"
	"regexp"
	"slices"
	"strings"

	"annotator/codex/identity"
)

// entry is an entry of the glossary in the window.
type entry struct {
	ID         int64
	Term       string
	Aliases    []string
	Tags       []string
	Definition string
	quotes     []post // the entry's evidence
	facts      []heldFact
	not        []string // ids of other entries, and names that it does not have, as a person has said
}

// heldFact is a fact of an entry with its number.
type heldFact struct {
	number int64
	text   string
	score  int
}

// kind returns the tag of an entry that is a kind.
func (e *entry) kind() string {
	for _, tag := range e.Tags {
		if isKind(tag) {
			return tag
		}
	}
	return ""
}

// tagsWith returns the tags of an entry with another kind.
func (e *entry) tagsWith(kind string) []string {
	return append([]string{kind}, slices.DeleteFunc(slices.Clone(e.Tags), isKind)...)
}

func isKind(tag string) bool {
	return tag == tagPerson || tag == tagPlace || tag == tagGroup || tag == tagThing
}

// names returns the term without its disambiguator, and the aliases.
func (e *entry) names() []string {
	term := e.Term
	if cut := strings.Index(term, " ("); cut > 0 && strings.HasSuffix(term, ")") {
		term = term[:cut]
	}
	return append([]string{term}, e.Aliases...)
}

// lacks returns the most frequent form of each name that an entry does not have.
func (e *entry) lacks(shared []*name) (lacking []string) {
	for _, n := range shared {
		written := n.written()[0]
		has := func(own string) bool { return normal(own) == normal(written) }
		if !slices.ContainsFunc(e.names(), has) {
			lacking = append(lacking, written)
		}
	}
	return lacking
}

// allows returns those of some names that have no veto against a name of the entry.
func (e *entry) allows(names []string) []string {
	return slices.DeleteFunc(names, func(written string) bool {
		id := identity.Read(written)
		return slices.ContainsFunc(e.names(), func(own string) bool {
			_, veto := identity.Compare(identity.Read(own), id)
			return veto != ""
		})
	})
}

// readEntries reads the entries in a text, in order, with the quotations after each.
func readEntries(text string) []entry {
	var all []entry
	for e := range elements(text, "entry") {
		if e.attrs["term"] == "" {
			continue
		}
		all = append(all, entry{
			ID: number(e.attrs["id"]), Term: e.attrs["term"],
			Aliases: list(e.attrs["aliases"]), Tags: list(e.attrs["tags"]), facts: factsOf(e.body),
			not:        list(e.attrs["not"]),
			Definition: cmp.Or(unnumbered(e.body), presentOf(e.body)), quotes: readQuotes(text[e.end:]),
		})
	}
	return all
}

// list returns the parts of an attribute.
func list(attribute string) []string {
	return slices.DeleteFunc(strings.Split(attribute, "|"), func(part string) bool {
		return strings.TrimSpace(part) == ""
	})
}

// factsOf returns the facts in an entry's body.
func factsOf(body string) (facts []heldFact) {
	for _, found := range factLine.FindAllStringSubmatch(body, -1) {
		facts = append(facts, heldFact{number: number(found[1]), text: html.UnescapeString(found[3])})
	}
	return facts
}

// presentOf returns the statement of what an entry is now. It replaces facts that are not shown.
func presentOf(body string) string {
	for e := range elements(body, "present") {
		return strings.TrimSpace(html.UnescapeString(e.body))
	}
	return ""
}

// factLine matches a fact of an entry with its number and source: "4 (claimed by Tobin Vane, state): She fled."
var factLine = regexp.MustCompile(`(?m)^(\d+)(?: \((.*?)\))?: (.+)$`)

// unnumbered returns the facts of an entry's body as sentences: without numbers, and with the claimant.
func unnumbered(body string) string {
	var facts []string
	for line := range strings.Lines(without(body, "present")) {
		line = html.UnescapeString(strings.TrimSpace(line))
		if found := factLine.FindStringSubmatch(line); found != nil {
			line = found[3]
			if mark := strings.TrimSuffix(strings.TrimSuffix(found[2], "state"), ", "); mark != "" {
				line += " (" + mark + ")"
			}
		}
		if line != "" {
			facts = append(facts, line)
		}
	}
	return strings.Join(facts, " ")
}

// quoteLine matches the beginning of a quotation of an entry: "[post 12] fact 3: ".
var quoteLine = regexp.MustCompile(`(?m)^\[post (\d+)\] fact \d+: `)

// readQuotes reads the quotations at the beginning of a text, up to the next element.
func readQuotes(text string) []post {
	text, _, _ = strings.Cut(text, "<")
	var all []post
	found := quoteLine.FindAllStringSubmatchIndex(text, -1)
	for i, at := range found {
		end := len(text)
		if i+1 < len(found) {
			end = found[i+1][0]
		}
		all = append(all, post{
			id:   number(text[at[2]:at[3]]),
			body: html.UnescapeString(strings.TrimSpace(text[at[1]:end])),
		})
	}
	return all
}
