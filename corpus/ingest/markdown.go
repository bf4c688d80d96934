package ingest

import (
	"path/filepath"
	"regexp"
	"strings"
	"unicode/utf8"

	"annotator"
)

var (
	atx         = regexp.MustCompile(`^(#{1,6})\s+(.*?)(?:\s+#+)?$`)
	anyATX      = regexp.MustCompile(`(?m)^#{1,6}[ \t]+\S`)
	htmlComment = regexp.MustCompile(`(?s)<!--.*?-->`)
	underscored = regexp.MustCompile(`(^|[^\pL\pN_])_{1,2}([^_\s](?:[^_]*[^_\s])?)_{1,2}([^\pL\pN_]|$)`)
	listItem    = regexp.MustCompile(`^(?:[-*+]|\d{1,4}[.)])\s`)
	escaped     = regexp.MustCompile("\\\\([\\\\*_`\\[\\]()#+\\-.!>~|{}])")
)

// inline is Markdown within a line, each with what is left of it.
var inline = [...]struct {
	mark *regexp.Regexp
	text string
}{
	{regexp.MustCompile(`!\[([^\]]*)\]\([^()\s]*(?:\s+"[^"]*")?\)`), "$1"},
	{regexp.MustCompile(`\[([^\]]+)\]\([^()\s]*(?:\s+"[^"]*")?\)`), "$1"},
	{regexp.MustCompile(`\*\*\*([^*\s](?:[^*]*[^*\s])?)\*\*\*`), "$1"},
	{regexp.MustCompile(`\*\*([^*\s](?:[^*]*[^*\s])?)\*\*`), "$1"},
	{regexp.MustCompile(`\*([^*\s](?:[^*]*[^*\s])?)\*`), "$1"},
	{regexp.MustCompile("`([^`]+)`"), "$1"},
}

// isMarkdown goes by the file's name, else by headings.
func isMarkdown(path, text string) bool {
	switch strings.ToLower(filepath.Ext(path)) {
	case ".md", ".markdown":
		return true
	}
	return anyATX.MatchString(text)
}

// unmark reduces emphasis, links and code to their text. Plain text knows one mark, underscores around a phrase; they would
// stand in the way of every name in italics.
func unmark(text string, markdown bool) string {
	if markdown && strings.ContainsAny(text, "[*`\\") {
		text = escaped.ReplaceAllStringFunc(text, func(s string) string { return string(hiding + rune(s[1])) })
		for _, i := range inline {
			text = i.mark.ReplaceAllString(text, i.text)
		}
	}
	if strings.Contains(text, "_") {
		// Twice: neighbours share the space between them, and a match takes it.
		text = underscored.ReplaceAllString(text, "$1$2$3")
		text = underscored.ReplaceAllString(text, "$1$2$3")
	}
	return strings.TrimSpace(strings.Map(unhide, text))
}

// hiding is where characters for private use begin: an escaped sign is kept there while signs that mean something are taken away.
const hiding = 0xE000

func unhide(r rune) rune {
	if r > hiding && r < hiding+utf8.RuneSelf {
		return r - hiding
	}
	return r
}

// joinMarkdown joins the lines of a paragraph. A line stays on its own behind a hard break, and where it is an item of a list.
func joinMarkdown(lines []string) string {
	var text string
	broken := true
	for _, line := range lines {
		hard := strings.HasSuffix(line, "  ") || strings.HasSuffix(line, "\\")
		line = unquote(strings.TrimSuffix(strings.TrimSpace(line), "\\"))
		switch {
		case text == "":
			text = line
		case broken || listItem.MatchString(line):
			text += "\n" + line
		default:
			text = joinLine(text, line)
		}
		broken = hard
	}
	return text
}

// unquote takes the signs of a block quotation off.
func unquote(line string) string {
	if !strings.HasPrefix(line, ">") {
		return line
	}
	return strings.TrimSpace(strings.TrimLeft(line, "> "))
}

// trimFrontMatter cuts off the YAML block that some programs put before Markdown.
func trimFrontMatter(text string) (imprint, string) {
	rest, ok := strings.CutPrefix(text, "---\n")
	if !ok {
		return imprint{}, text
	}
	front, body, ok := strings.Cut(rest, "\n---\n")
	if !ok || strings.Contains(front, "\n\n") {
		return imprint{}, text
	}
	return imprint{title: fieldOf(front, "title"), author: fieldOf(front, "author"), dropped: annotator.CountWords(front)}, body
}
