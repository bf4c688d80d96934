// Package prompt renders what the model reads: the system prompt, and scenes and entries as data. The same input always
// gives the same bytes.
package prompt

import (
	"regexp"
	"strconv"
	"strings"

	"annotator"
)

// special replaces the characters that could end the data or begin a special token of a chat template.
var special = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&quot;")

// bracketed matches the special tokens of templates that write them in square brackets: [INST], [/TOOL_RESULTS],
// [gMASK].
var bracketed = regexp.MustCompile(`\[(/?[a-z]?[A-Z][A-Z0-9_]*\])`)

// Escape renders text from outside as data, with HTML's character references.
func Escape(text string) string { return bracketed.ReplaceAllString(special.Replace(text), "&#91;$1") }

// Scene renders a scene.
func Scene(s *annotator.Scene) string {
	var b strings.Builder
	b.WriteString("<scene")
	attribute(&b, "number", strconv.Itoa(s.N))
	attribute(&b, "thread", strconv.FormatInt(s.Thread.ID, 10))
	attribute(&b, "title", s.Thread.Title)
	attribute(&b, "index", strconv.Itoa(s.Index))
	b.WriteString(">\n")
	for i := range s.Posts {
		post(&b, &s.Posts[i])
	}
	b.WriteString("</scene>")
	return b.String()
}

func post(b *strings.Builder, p *annotator.Post) {
	b.WriteString("<post")
	attribute(b, "id", strconv.FormatInt(p.ID, 10))
	attribute(b, "author", p.Name)
	attribute(b, "subject", p.Subject)
	b.WriteString(">\n")
	b.WriteString(Escape(p.Body))
	b.WriteString("\n</post>\n")
}

// attribute leaves out what is empty.
func attribute(b *strings.Builder, name, value string) {
	if value == "" {
		return
	}
	b.WriteString(" " + name + `="`)
	b.WriteString(Escape(value))
	b.WriteString(`"`)
}

// Entry renders an entry of the glossary.
func Entry(e *annotator.Entry) string {
	var b strings.Builder
	b.WriteString("<entry")
	attribute(&b, "id", strconv.FormatInt(e.ID, 10))
	attribute(&b, "term", e.Name())
	attribute(&b, "status", string(e.Status))
	attribute(&b, "tags", strings.Join(e.Tags, "|"))
	attribute(&b, "aliases", strings.Join(otherNames(e), "|"))
	b.WriteString(">")
	b.WriteString(Escape(e.Definition()))
	b.WriteString("</entry>\n")
	return b.String()
}

func otherNames(e *annotator.Entry) []string {
	var names []string
	for _, alias := range e.Aliases {
		if alias.Name != e.Term {
			names = append(names, alias.Name)
		}
	}
	return names
}

// Relevant wraps rendered entries; nothing where there are none.
func Relevant(entries []string) string {
	if len(entries) == 0 {
		return ""
	}
	return "\n<relevant_entries>\n" + strings.Join(entries, "") + "</relevant_entries>"
}
