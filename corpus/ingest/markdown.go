package ingest

import (
	"path/filepath"
	"regexp"
	"strings"

	"annotator"
)

var (
	atx         = regexp.MustCompile(`^(#{1,6})\s+(.*?)(?:\s+#+)?$`)
	anyATX      = regexp.MustCompile(`(?m)^#{1,6}[ \t]+\S`)
	htmlComment = regexp.MustCompile(`(?s)<!--.*?-->`)
	underscored = regexp.MustCompile(`(^|[^\pL\pN_])_{1,2}([^_\s](?:[^_]*[^_\s])?)_{1,2}([^\pL\pN_]|$)`)
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
		for _, i := range inline {
			text = i.mark.ReplaceAllString(text, i.text)
		}
		text = escaped.ReplaceAllString(text, "$1")
	}
	if strings.Contains(text, "_") {
		// Twice: neighbours share the space between them, and a match takes it.
		text = underscored.ReplaceAllString(text, "$1$2$3")
		text = underscored.ReplaceAllString(text, "$1$2$3")
	}
	return strings.TrimSpace(text)
}

// unquote takes the signs of a block quotation off.
func unquote(lines []string) []string {
	plain := make([]string, len(lines))
	for i, line := range lines {
		plain[i] = line
		if trimmed := strings.TrimLeft(line, " \t"); strings.HasPrefix(trimmed, ">") {
			plain[i] = strings.TrimPrefix(strings.TrimLeft(trimmed, ">"), " ")
		}
	}
	return plain
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
