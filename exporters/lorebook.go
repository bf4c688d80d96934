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

// lore is an entry of a lorebook. A role-playing program adds its text to a prompt that contains one of its keys.
type lore struct {
	*Entry
	Title   string
	Keys    []string
	Content string
}

// Keys of the extensions in a lorebook. The values are parts of the JSON export, so that a program can restore the
// codex from the book.
const (
	ExtensionCodex = "annotator/codex" // the document without its entries
	ExtensionEntry = "annotator/entry" // the entry
)

// loreOf returns the lore of an entry, given the titles of threads.
func loreOf(e *Entry, titles map[int64]string) lore {
	l := lore{Entry: e, Title: nameOf(e), Content: strings.Join(loreParagraphs(e, titles), "\n")}
	for _, a := range append([]Alias{{Name: e.Term}}, e.Aliases...) {
		key := literalKey(a.Name)
		if !slices.ContainsFunc(l.Keys, func(k string) bool { return strings.EqualFold(k, key) }) {
			l.Keys = append(l.Keys, key)
		}
	}
	return l
}

// Lore returns the text of an entry in a lorebook of a document.
func Lore(e *Entry, doc *Document) string { return loreOf(e, doc.titles()).Content }

// nameOf returns the term with its disambiguator.
func nameOf(e *Entry) string {
	named := annotator.Entry{Term: e.Term, Disambiguator: e.Disambiguator}
	return named.Name()
}

// loreParagraphs returns who or what an entry is and what it is now, in one paragraph, and the other facts of each
// passage. What no longer holds is left out, but for guesses that proved false.
func loreParagraphs(e *Entry, titles map[int64]string) (paragraphs []string) {
	reading := e.reading(titles, func(c *Claim) bool { return c.Shown() && (c.Until == nil || c.Thought() != "") })
	told := func(c Claim) string { return c.told() }
	first := each(reading.Opening, told)
	if e.Present != nil {
		first = append(first, codex.WithoutLinks(e.Present.told()))
	}
	if first != nil {
		paragraphs = append(paragraphs, strings.Join(first, " "))
	}
	for _, p := range reading.Passages {
		text := strings.Join(each(p.Claims, told), " ")
		if heading := p.Heading(); heading != "" {
			text = heading + ": " + text
		}
		paragraphs = append(paragraphs, text)
	}
	return paragraphs
}

// literalKey returns a key that matches only a name. Programs read a key between slashes as a regular expression, so
// such a name is escaped as one.
func literalKey(name string) string {
	if !IsExpression(name) {
		return name
	}
	return "/" + strings.ReplaceAll(regexp.QuoteMeta(name), "/", `\/`) + "/i"
}

// IsExpression reports whether programs read a key as a regular expression.
func IsExpression(key string) bool {
	return strings.HasPrefix(key, "/") && strings.LastIndex(key, "/") > 0
}

// wholeWords is true if a key is a word of up to four ASCII letters, which may occur inside other words. Otherwise it
// is nil: the programs detect word boundaries only in ASCII.
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

// order returns the rank of an entry in a prompt. A higher rank is nearer to its end, and is dropped later.
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
