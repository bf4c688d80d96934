package exporters

import (
	"io"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"annotator"
	"annotator/codex"
)

// lore is an entry as the lorebooks of role-playing programs have it: a text that is added to a prompt where one of the
// keys occurs.
type lore struct {
	*Entry
	Title   string
	Keys    []string
	Content string
}

// Keys of the extensions that a lorebook keeps for others. The values are parts of the JSON export, so that a program
// can read the codex back out of the book.
const (
	extensionCodex = "annotator/codex" // the document without its entries
	extensionEntry = "annotator/entry" // the entry
)

// loreOf returns the lore of an entry.
func loreOf(e *Entry) lore {
	l := lore{Entry: e, Title: nameOf(e), Content: loreText(e)}
	for _, a := range append([]Alias{{Name: e.Term}}, e.Aliases...) {
		key := literalKey(a.Name)
		if !slices.ContainsFunc(l.Keys, func(k string) bool { return strings.EqualFold(k, key) }) {
			l.Keys = append(l.Keys, key)
		}
	}
	return l
}

// nameOf returns the term with its disambiguator.
func nameOf(e *Entry) string {
	named := annotator.Entry{Term: e.Term, Disambiguator: e.Disambiguator}
	return named.Name()
}

// loreText joins the statement of what an entry is now and the claims that hold. It says of a claim that the narration
// does not vouch for whose it is.
func loreText(e *Entry) string { return strings.Join(loreParagraphs(e), " ") }

// loreParagraphs returns the statement and the claims one by one.
func loreParagraphs(e *Entry) []string {
	var parts []string
	if e.Present != nil {
		parts = append(parts, codex.WithoutLinks(e.Present.Text))
	}
	for i := range e.Claims {
		c := &e.Claims[i]
		if c.Until != nil {
			continue
		}
		text := codex.WithoutLinks(c.Text)
		if origin := originOf(*c); origin != "" {
			text += " (" + origin + ")"
		}
		parts = append(parts, text)
	}
	return parts
}

// originOf says who vouches for a claim; "" if the narration does.
func originOf(c Claim) string {
	switch {
	case c.Kind == annotator.Inferred:
		return "inferred"
	case c.Kind == annotator.Claimed && c.Speaker != "":
		return "according to " + codex.WithoutLinks(c.Speaker)
	case c.Kind == annotator.Claimed:
		return "somebody says so"
	}
	return ""
}

// literalKey returns a name as a key that matches just that name. Programs take a key between slashes for a regular
// expression, so such a name becomes an escaped one.
func literalKey(name string) string {
	if !isExpression(name) {
		return name
	}
	return "/" + strings.ReplaceAll(regexp.QuoteMeta(name), "/", `\/`) + "/i"
}

// isExpression reports whether programs take a key for a regular expression.
func isExpression(key string) bool {
	return strings.HasPrefix(key, "/") && strings.LastIndex(key, "/") > 0
}

// wholeWords is true if a key is a Latin word of up to four letters, which would occur inside others, and nil otherwise:
// the programs know the boundaries of words in ASCII only.
func (l *lore) wholeWords() *bool {
	short := func(key string) bool {
		other := func(r rune) bool { return r > unicode.MaxASCII || !unicode.IsLetter(r) }
		return len(key) <= 4 && !strings.ContainsFunc(key, other)
	}
	if slices.ContainsFunc(l.Keys, short) {
		return new(true)
	}
	return nil
}

// order returns the rank of an entry in a prompt; a higher one stands nearer to its end, and is dropped last.
func (l *lore) order() int {
	if l.Status == annotator.Confirmed {
		return 100
	}
	return 50
}

// writeValue writes a value as indented JSON and a line feed.
func writeValue(w io.Writer, value any) error {
	_, err := w.Write(append(encodeJSON(value, ""), '\n'))
	return err
}
