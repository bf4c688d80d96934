package curator

import (
	_ "embed"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"annotator"
	"annotator/codex"
	"annotator/context/prompt"
)

//go:embed question.md
var instruction string

//go:embed system.md
var system string

// System returns the system prompt of a curator who is not asked in the name of the one who wrote the glossary.
func System() string { return system }

// How much a question shows, in code points and items, so that it fits beside a full window.
const (
	firstLength    = 2000 // of the post that names the candidate first
	neighborLength = 400  // of each other post
	similarLength  = 600  // of a similar entry's definition
	quoteLength    = 300
	maxQuotes      = 12
)

// Question is what the judge is asked about a candidate, as one message. For the server's cache, what is the same for all stands
// first, and then the posts: candidates that appear in one post follow one another.
func (c *Candidate) Question() string {
	var b strings.Builder
	b.WriteString(instruction)
	b.WriteString("\n")
	c.posts(&b)
	b.WriteString("<candidate>\n")
	b.WriteString(prompt.Entry(&c.Entry))
	c.quotes(&b)
	b.WriteString("</candidate>\n")
	c.likenesses(&b)
	return strings.TrimSuffix(b.String(), "\n")
}

// quotes shows what the definition rests on. Each quotation names the sentence of the definition that it stands behind.
func (c *Candidate) quotes(b *strings.Builder) {
	shown, sentence := 0, 0
	for i := range c.Entry.Claims {
		claim := &c.Entry.Claims[i]
		if claim.Until != 0 {
			continue
		}
		sentence++
		for _, e := range claim.Evidence {
			if shown++; shown > maxQuotes {
				return
			}
			fmt.Fprintf(b, "<quote post=\"%d\" sentence=\"%d\" kind=\"%s\">%s</quote>\n", e.Post, sentence, claim.Kind,
				prompt.Escape(beginning(e.Quote, quoteLength)))
		}
	}
}

func (c *Candidate) posts(b *strings.Builder) {
	if len(c.Posts) == 0 {
		return
	}
	fmt.Fprintf(b, "<first_appearance post=\"%d\">\n", c.First)
	before := true
	for i := range c.Posts {
		p := &c.Posts[i]
		at, most := c.mention(p.Body), neighborLength
		switch {
		case p.ID == c.First:
			before, most = false, firstLength
		case at < 0 && before:
			at = len(p.Body)
		}
		fmt.Fprintf(b, "<post id=\"%d\" author=\"%s\">\n%s\n</post>\n", p.ID, prompt.Escape(p.Name), prompt.Escape(excerpt(p.Body, max(at, 0), most)))
	}
	b.WriteString("</first_appearance>\n")
}

func (c *Candidate) likenesses(b *strings.Builder) {
	if len(c.Similar) == 0 {
		return
	}
	b.WriteString("<similar>\n")
	for i := range c.Similar {
		e := c.Similar[i]
		e.Claims = []annotator.Claim{{Text: beginning(e.Definition(), similarLength)}}
		b.WriteString(prompt.Entry(&e))
	}
	b.WriteString("</similar>\n")
}

const cutMark = " [...] "

// beginning cuts a text.
func beginning(text string, most int) string {
	runes := []rune(text)
	if len(runes) <= most {
		return text
	}
	return string(runes[:most]) + cutMark
}

// excerpt cuts a text to what stands around a place in it, given in bytes.
func excerpt(text string, at, most int) string {
	runes := []rune(text)
	if len(runes) <= most {
		return text
	}
	from := max(0, min(utf8.RuneCountInString(text[:at])-most/3, len(runes)-most))
	cut := string(runes[from : from+most])
	if from > 0 {
		cut = cutMark + cut
	}
	if from+most < len(runes) {
		cut += cutMark
	}
	return strings.TrimSpace(cut)
}

// mention returns where in a text one of the candidate's names stands first, in bytes; -1 where none does.
func (c *Candidate) mention(text string) int {
	first := -1
	for _, name := range names(&c.Entry) {
		if at := strings.Index(text, name); at >= 0 && (first < 0 || at < first) {
			first = at
		}
	}
	return first
}

// FirstNaming returns the index of the first post that names an entry, in any spelling that codex.Normalize makes the same;
// -1 where none does.
func FirstNaming(posts []annotator.Post, e *annotator.Entry) int {
	wanted := names(e)
	for i := range wanted {
		wanted[i] = codex.Normalize(wanted[i])
	}
	return slices.IndexFunc(posts, func(p annotator.Post) bool {
		body := codex.Normalize(p.Body)
		return slices.ContainsFunc(wanted, func(name string) bool { return name != "" && strings.Contains(body, name) })
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

const unusable = "\n\nYour former answer could not be used: "

// Correction is a question asked once more, with what was wrong with the answer.
func Correction(question, wrong string) string {
	return question + unusable + prompt.Escape(beginning(wrong, MaxReason)) + "\nAnswer with exactly one JSON object and nothing else."
}

// IsCorrection reports whether a message is a correction of the question.
func IsCorrection(message, question string) bool {
	return strings.HasPrefix(message, question+unusable)
}
