package ingest

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/net/html"
)

// comment is a board's HTML as text, with the ids of the posts that it quotes.
type comment struct {
	text   string
	quotes []int64
}

var quoteText = regexp.MustCompile(`>>(\d{1,18})\b`)

// quotePlain keeps the posts that a text names as boards do: ">>123".
func (c *comment) quotePlain(text string) {
	for _, match := range quoteText.FindAllStringSubmatch(text, -1) {
		c.add(match[1])
	}
}

func (c *comment) add(number string) {
	if id, err := strconv.ParseInt(number, 10, 64); err == nil && !slices.Contains(c.quotes, id) {
		c.quotes = append(c.quotes, id)
	}
}

var quoteTarget = regexp.MustCompile(`#p?(\d+)$`)

// commentText reads the little HTML that boards write: line breaks, quotes, spoilers and links. Tags are read one by
// one and no tree is built, so that nesting costs nothing.
func commentText(source string) comment {
	if !strings.ContainsAny(source, "<&") {
		c := comment{text: source}
		c.quotePlain(source)
		return c
	}
	r := commentReader{z: html.NewTokenizer(strings.NewReader(source))}
	for {
		switch kind := r.z.Next(); kind {
		case html.ErrorToken:
			r.text = strings.TrimSpace(r.words.String())
			r.quotePlain(r.text)
			return r.comment
		case html.TextToken:
			if !r.hidden {
				r.words.Write(r.z.Text())
			}
		case html.StartTagToken, html.SelfClosingTagToken, html.EndTagToken:
			r.tag(kind, r.z.Token())
		}
	}
}

type commentReader struct {
	comment
	z      *html.Tokenizer
	words  strings.Builder
	hidden bool // within an element whose content is not text
}

func (r *commentReader) tag(kind html.TokenType, token html.Token) {
	switch token.Data {
	case "script", "style":
		r.hidden = kind == html.StartTagToken
		if kind == html.SelfClosingTagToken {
			r.z.NextIsNotRawText()
		}
	case "br":
		r.words.WriteByte('\n')
	case "p", "div", "blockquote":
		if kind == html.EndTagToken {
			r.words.WriteByte('\n')
		}
	case "a":
		r.quote(token)
	}
}

// quote keeps the post that a quoting link leads to, once.
func (c *comment) quote(link html.Token) {
	if !strings.Contains(attribute(link, "class"), "quotelink") {
		return
	}
	match := quoteTarget.FindStringSubmatch(attribute(link, "href"))
	if match == nil {
		return
	}
	c.add(match[1])
}

func attribute(token html.Token, name string) string {
	for _, a := range token.Attr {
		if a.Key == name {
			return a.Val
		}
	}
	return ""
}
