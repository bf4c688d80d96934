// Package prompt renders what the model reads: the system prompt, and scenes and entries as data. The same input always
// gives the same bytes.
package prompt

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"annotator"
	"annotator/codex"
)

// special replaces the characters that could end the data or begin a special token of a chat template.
var special = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&quot;")

// bracketed matches the special tokens of templates that write them in square brackets: [INST], [/TOOL_RESULTS],
// [gMASK].
var bracketed = regexp.MustCompile(`\[(/?[a-z]?[A-Z][A-Z0-9_]*\])`)

// tokenLink matches a link whose name looks like such a token.
var tokenLink = regexp.MustCompile(`\[\[(/?[a-z]?[A-Z][A-Z0-9_]*)\]\]`)

// Fact renders a line of an entry. A link that would be escaped is written as one with words of its own, so that the
// model can write it back.
func Fact(line string) string { return Escape(tokenLink.ReplaceAllString(line, "[[$1|$1]]")) }

// Escape renders text from outside as data, with HTML's character references.
func Escape(text string) string { return bracketed.ReplaceAllString(special.Replace(text), "&#91;$1") }

// tags matches what could end data or begin a special token, or the tag of a call.
var tags = regexp.MustCompile(`<(/?(?:tool_calls?|functions?|function_calls?|parameter|arg_key|arg_value|invoke|` +
	`codex_updates)\b)?`)

// Quote renders a piece of a reply as the model wrote it, but for tags and special tokens that are none of calls.
func Quote(text string) string {
	text = tags.ReplaceAllStringFunc(text, func(tag string) string {
		if tag == "<" {
			return "&lt;"
		}
		return tag
	})
	return bracketed.ReplaceAllString(text, "&#91;$1")
}

// Scene renders a scene. Its index is its number within the thread, from 1.
func Scene(s *annotator.Scene) string {
	var b strings.Builder
	tag(&b, "scene", "number", strconv.Itoa(s.N), "thread", strconv.FormatInt(s.Thread.ID, 10), "title", s.Thread.Title,
		"index", strconv.Itoa(s.Index+1))
	b.WriteString("\n")
	for i := range s.Posts {
		p := &s.Posts[i]
		tag(&b, "post", "id", strconv.FormatInt(p.ID, 10), "author", p.Name, "subject", p.Subject)
		b.WriteString("\n" + Escape(p.Body) + "\n</post>\n")
	}
	b.WriteString("</scene>")
	return b.String()
}

// tag writes an opening tag. The attributes are names, each with its value behind it; those without a value are left
// out.
func tag(b *strings.Builder, name string, attributes ...string) {
	b.WriteString("<" + name)
	for pair := range slices.Chunk(attributes, 2) {
		if pair[1] != "" {
			b.WriteString(" " + pair[0] + `="` + Escape(pair[1]) + `"`)
		}
	}
	b.WriteString(">")
}

// Entry renders an entry of the glossary: who or what it is, and what it is now. Its other facts that hold follow in
// the order of the story. Each fact is a line with its number.
func Entry(e *annotator.Entry) string { return entry(e, e.Claims, 0) }

// entry renders an entry with some of its facts, of which more are left out.
func entry(e *annotator.Entry, facts []annotator.Claim, more int) string {
	facts, opening := inOrder(e, facts)
	var b strings.Builder
	status := string(e.Status)
	if e.Status == annotator.Confirmed { // as most are
		status = ""
	}
	locked, not := codex.Marks(e)
	tag(&b, "entry", "id", strconv.FormatInt(e.ID, 10), "term", e.Name(), "status", status,
		"tags", strings.Join(e.Tags, "|"), "aliases", strings.Join(codex.OtherNames(e.Names(), e.Term), "|"),
		"locked", strings.Join(locked, "|"), "not", strings.Join(not, "|"), "more_facts", number(more))
	b.WriteString("\n")
	list := func(facts []annotator.Claim) {
		for i := range facts {
			b.WriteString(Fact(codex.FactLine(&facts[i])) + "\n")
		}
	}
	list(facts[:opening])
	if e.Present != "" {
		tag(&b, "present", "scene", number(e.PresentScene))
		b.WriteString(Fact(e.Present) + "</present>\n")
	}
	list(facts[opening:])
	b.WriteString("</entry>\n")
	return b.String()
}

// inOrder returns those of some facts of an entry that hold, in the order in which they are read. The first ones open
// the entry; it returns how many. See codex.InOrder.
func inOrder(e *annotator.Entry, facts []annotator.Claim) (ordered []annotator.Claim, opening int) {
	given := map[int64]bool{}
	for i := range facts {
		given[facts[i].ID] = facts[i].Until == 0
	}
	all, opens := codex.InOrder(e)
	for i := range all {
		if given[all[i].ID] {
			if ordered = append(ordered, all[i]); i < opens {
				opening++
			}
		}
	}
	return ordered, opening
}

// Names renders an entry of the glossary by its names alone: "12: Wren Tallow|Wren", or what has become of it.
func Names(e *annotator.Entry) string {
	text := strconv.FormatInt(e.ID, 10) + ": " +
		Escape(strings.Join(append([]string{e.Name()}, codex.OtherNames(e.Names(), e.Term)...), "|"))
	switch {
	case e.Status == annotator.Merged:
		text += fmt.Sprintf(" (merged into %d)", e.MergedInto)
	case !e.Status.Live():
		text += " (" + string(e.Status) + ")"
	}
	return text + "\n"
}

// States renders the states of an entry that hold, with their numbers. Those that were set up to a revision are left
// out, because they were shown. It renders nothing unless one of the others is known since before a place.
func States(e *annotator.Entry, before annotator.Place, shown int64) string {
	var b strings.Builder
	known := false
	for i := range e.Claims {
		if c := &e.Claims[i]; c.State && c.Until == 0 && c.Revision > shown {
			b.WriteString(Fact(codex.FactLine(c)) + "\n")
			known = known || c.From < before
		}
	}
	if !known {
		return ""
	}
	return strconv.FormatInt(e.ID, 10) + " " + Escape(e.Name()) + "\n" + b.String()
}

// Facts renders some facts of an entry under its name, each with more text behind it.
func Facts(e *annotator.Entry, facts []annotator.Claim, behind func(*annotator.Claim) string) string {
	var b strings.Builder
	tag(&b, "entry", "id", strconv.FormatInt(e.ID, 10), "term", e.Name())
	b.WriteString("\n")
	for i := range facts {
		fmt.Fprintf(&b, "%s %s\n", Fact(codex.FactLine(&facts[i])), behind(&facts[i]))
	}
	b.WriteString("</entry>\n")
	return b.String()
}

// Answer renders a person's answer to a question about an entry.
func Answer(e *annotator.Entry, q *annotator.Question, answer string) string {
	var b strings.Builder
	tag(&b, "answer", "entry", strconv.FormatInt(e.ID, 10), "term", e.Name(), "question", q.Text)
	b.WriteString(Escape(answer) + "</answer>\n")
	return b.String()
}

// Glossary wraps rendered entries, states, names and answers; nothing where there are none.
func Glossary(entries, states, names, answers []string) string {
	text := ""
	for _, part := range []struct {
		tag   string
		items []string
	}{{"relevant_entries", entries}, {"open_states", states}, {"names", names}, {"answers", answers}} {
		if len(part.items) > 0 {
			text += "\n<" + part.tag + ">\n" + strings.Join(part.items, "") + "</" + part.tag + ">"
		}
	}
	return text
}
