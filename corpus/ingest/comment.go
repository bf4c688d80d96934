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

var quoteTarget = regexp.MustCompile(`#p?(\d+)$`)

// commentText reads the little HTML that boards write: line breaks, quotes, spoilers and links. Tags are read one by one and
// no tree is built, so that nesting costs nothing.
func commentText(source string) comment {
	var c comment
	if !strings.ContainsAny(source, "<&") {
		c.text = source
		return c
	}
	var text strings.Builder
	hidden := "" // the element whose content is not text
	z := html.NewTokenizer(strings.NewReader(source))
	for {
		switch kind := z.Next(); kind {
		case html.ErrorToken:
			c.text = strings.TrimSpace(text.String())
			return c
		case html.TextToken:
			if hidden == "" {
				text.Write(z.Text())
			}
		case html.StartTagToken, html.SelfClosingTagToken, html.EndTagToken:
			token := z.Token()
			switch token.Data {
			case "script", "style":
				hidden = token.Data
				if kind != html.StartTagToken {
					hidden = ""
					z.NextIsNotRawText()
				}
			case "br":
				text.WriteByte('\n')
			case "p", "div", "blockquote":
				if kind == html.EndTagToken {
					text.WriteByte('\n')
				}
			case "a":
				c.quote(token)
			}
		}
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
	if id, err := strconv.ParseInt(match[1], 10, 64); err == nil && !slices.Contains(c.quotes, id) {
		c.quotes = append(c.quotes, id)
	}
}

func attribute(token html.Token, name string) string {
	for _, a := range token.Attr {
		if a.Key == name {
			return a.Val
		}
	}
	return ""
}
