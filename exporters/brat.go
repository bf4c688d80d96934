package exporters

import (
	"bufio"
	"context"
	"fmt"
	"strings"
	"unicode"
)

// writeBrat writes the story with standoff annotations of brat: a text and a file of annotations for each thread. Names
// have references to their entries, and quotations have notes with the claims that they support.
func writeBrat(ctx context.Context, files Files, c *Codex) error {
	byPost, entries := quotationsByPost(c.Entries), map[int64]*Entry{}
	for i := range c.Entries {
		entries[c.Entries[i].ID] = &c.Entries[i]
	}
	threads, err := c.Text.Threads(ctx)
	if err != nil {
		return err
	}
	for i, thread := range threads {
		name := fmt.Sprintf("%04d", i+1)
		text, err := files.Create(name + ".txt")
		if err != nil {
			return err
		}
		mentions, err := c.Text.Mentions(ctx, thread.ID)
		if err != nil {
			return err
		}
		a := bratFile{entries: entries}
		out := bufio.NewWriter(text)
		for post, err := range c.Text.Posts(ctx, thread.ID) {
			if err != nil {
				return err
			}
			fmt.Fprintf(out, "%s\n\n", post.Body)
			a.post(post, mentions[post.Place], byPost[post.ID])
		}
		if err := out.Flush(); err != nil {
			return err
		}
		if err := writeText(files, name+".ann", a.lines.String()); err != nil {
			return err
		}
	}
	return nil
}

// bratFile collects the annotations of a text.
type bratFile struct {
	entries                     map[int64]*Entry
	lines                       strings.Builder
	at                          int // the length of the text so far, in code points
	spans, references, comments int // numbers of annotations
}

func (a *bratFile) post(p *Post, mentions []Mention, quotations []quotation) {
	body := []rune(p.Body)
	for _, m := range mentions {
		e := a.entries[m.Entry]
		if e == nil {
			continue
		}
		if id := a.span(bratType(e.Tags), body, m.Start, m.End); id != "" {
			a.references++
			fmt.Fprintf(&a.lines, "N%d\tReference %s Codex:%d\t%s\n", a.references, id, e.ID, oneLine(nameOf(e)))
		}
	}
	for _, q := range quotations {
		if id := a.span("Quotation", body, q.evidence.Start, q.evidence.End); id != "" {
			a.comments++
			fmt.Fprintf(&a.lines, "#%d\tAnnotatorNotes %s\t%s: %s\n", a.comments, id, oneLine(nameOf(q.entry)),
				oneLine(q.claim.Text))
		}
	}
	a.at += len(body) + 2
}

// span writes a span of the text and returns its id; "" for one without text. A span with line feeds is discontinuous:
// texts of the format have no line feeds.
func (a *bratFile) span(kind string, body []rune, start, end int) string {
	var ranges, texts []string
	for from := start; from < min(end, len(body)); {
		to := from
		for to < min(end, len(body)) && body[to] != '\n' && body[to] != '\r' {
			to++
		}
		if to > from {
			ranges = append(ranges, fmt.Sprintf("%d %d", a.at+from, a.at+to))
			texts = append(texts, string(body[from:to]))
		}
		from = to + 1
	}
	if len(ranges) == 0 {
		return ""
	}
	a.spans++
	fmt.Fprintf(&a.lines, "T%d\t%s %s\t%s\n", a.spans, kind, strings.Join(ranges, ";"), strings.Join(texts, " "))
	return fmt.Sprintf("T%d", a.spans)
}

// bratType returns the first tag as the name of a type, which has ASCII letters, digits, - and _.
func bratType(tags []string) string {
	for _, tag := range tags {
		name := strings.Map(func(r rune) rune {
			if r <= unicode.MaxASCII && (unicode.IsLetter(r) || unicode.IsDigit(r) || r == '-' || r == '_') {
				return r
			}
			return -1
		}, tag)
		if name != "" {
			return strings.ToUpper(name[:1]) + name[1:]
		}
	}
	return "Entry"
}

func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }
