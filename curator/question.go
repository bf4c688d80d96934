package curator

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"annotator"
	"annotator/codex"
	"annotator/context/prompt"
)

// How much a question shows, in code points and items, so that a full window has room for it.
const (
	similarLength = 600 // of a similar entry's definition
	quoteLength   = 300
)

// Question returns what the model is asked about the candidates, as one message. The instruction is the same in all
// questions, and comes first, for the server's cache. Posts that the window shows above it are named only.
func (b Batch) Question(instruction string, above map[int64]bool) string {
	var text strings.Builder
	text.WriteString(instruction)
	text.WriteString("\n\n<posts>\n")
	var known []string
	for _, e := range b.excerpts() {
		if above[e.post.ID] {
			known = append(known, strconv.FormatInt(e.post.ID, 10))
			continue
		}
		fmt.Fprintf(&text, "<post id=\"%d\" author=\"%s\"%s>\n%s\n</post>\n",
			e.post.ID, prompt.Escape(e.post.Name), readerMark(e.post), prompt.Escape(e.text()))
	}
	if len(known) > 0 {
		fmt.Fprintf(&text, "<above posts=\"%s\"/>\n", strings.Join(known, ","))
	}
	text.WriteString("</posts>")
	quotes := b.lengths().quotes
	for _, c := range b {
		text.WriteString(c.section(quotes))
	}
	return text.String()
}

// section returns what a question shows of a candidate apart from posts, with at most some quotations. It is rendered
// once: questions of several sizes have the same.
func (c *Candidate) section(quotes int) string {
	if c.sections[quotes] == "" {
		var text strings.Builder
		fmt.Fprintf(&text, "\n<candidate first_post=\"%d\">\n%s", c.First, prompt.Entry(&c.Entry))
		c.quotes(&text, quotes)
		c.similarEntries(&text)
		text.WriteString("</candidate>")
		if c.sections == nil {
			c.sections = map[int]string{}
		}
		c.sections[quotes] = text.String()
	}
	return c.sections[quotes]
}

// readerMark marks a post that is not part of the story.
func readerMark(p *annotator.Post) string {
	if slices.Contains(p.Tags, annotator.TagStory) {
		return ""
	}
	return ` reader="true"`
}

// quotes shows the evidence of the definition. Each quotation has the number of the fact that it supports.
func (c *Candidate) quotes(b *strings.Builder, limit int) {
	for _, e := range c.evidence(limit) {
		b.WriteString(quotation(&e.Evidence, e.claim) + "\n")
	}
}

// quotation shows a quotation that supports a fact.
func quotation(e *annotator.Evidence, fact *annotator.Claim) string {
	return fmt.Sprintf("<quote post=\"%d\" fact=\"%d\" kind=\"%s\">%s</quote>", e.Post, fact.ID, fact.Kind,
		prompt.Escape(annotator.Clip(e.Quote, quoteLength, cutMark)))
}

// support is a quotation with the fact that it supports.
type support struct {
	annotator.Evidence
	rank  int // of the fact in the definition
	claim *annotator.Claim
}

// evidence returns the quotations of the definition, at most limit of them: one of each sentence before the second of
// any.
func (c *Candidate) evidence(limit int) []support {
	var list []support
	for nth, more := 0, true; more; nth++ {
		more = false
		for i := range c.Entry.Claims {
			claim := &c.Entry.Claims[i]
			if claim.Until != 0 {
				continue
			}
			if nth < len(claim.Evidence) {
				list, more = append(list, support{claim.Evidence[nth], i, claim}), true
			}
		}
	}
	list = list[:min(len(list), limit)]
	slices.SortStableFunc(list, func(a, b support) int { return cmp.Compare(a.rank, b.rank) })
	return list
}

func (c *Candidate) similarEntries(b *strings.Builder) {
	if len(c.Similar) == 0 {
		return
	}
	b.WriteString("<similar>\n")
	for i := range c.Similar {
		e := c.Similar[i]
		if e.Present, e.Claims = codex.Present(&e), nil; e.Present == "" {
			definition := codex.Definition(&c.Similar[i])
			e.Claims = []annotator.Claim{{Text: annotator.Clip(definition, similarLength, cutMark)}}
		}
		b.WriteString(prompt.Entry(&e))
	}
	b.WriteString("</similar>\n")
}

// mention returns the first place of one of the candidate's names in a text, in code points; -1 if there is none.
func (c *Candidate) mention(text string) int {
	first := -1
	for _, name := range names(&c.Entry) {
		if at := strings.Index(text, name); at >= 0 && (first < 0 || at < first) {
			first = at
		}
	}
	if first > 0 {
		return utf8.RuneCountInString(text[:first])
	}
	return first
}

// firstNaming returns the index of the first post that names an entry, in any spelling that codex.Normalize and
// codex.Visible make the same; -1 where none does.
func firstNaming(posts []annotator.Post, e *annotator.Entry) int {
	plain, wanted := names(e), names(e)
	for i := range wanted {
		wanted[i] = codex.Normalize(codex.Visible(wanted[i]))
	}
	holds := func(body string, names []string) bool {
		return slices.ContainsFunc(names, func(name string) bool { return name != "" && strings.Contains(body, name) })
	}
	return slices.IndexFunc(posts, func(p annotator.Post) bool {
		return holds(p.Body, plain) || holds(codex.Normalize(codex.Visible(p.Body)), wanted) // the first is cheaper
	})
}

// names returns the names of an entry, the term among them.
func names(e *annotator.Entry) []string {
	list := []string{e.Term}
	for _, alias := range e.Aliases {
		if alias.Name != e.Term {
			list = append(list, alias.Name)
		}
	}
	return list
}

// Correction returns a question about one entry that was asked about before, with the reason why the answer was
// unusable.
func Correction(question, reason string) string {
	return question + "\n\nYour former answer could not be used: " +
		prompt.Escape(annotator.Clip(reason, MaxReason, cutMark)) +
		"\nAnswer with exactly one JSON array that holds one object, and nothing else."
}
