package exporters

import (
	"bytes"
	"net/url"
	"strings"
	"unicode/utf8"
)

// writeLink writes a link. A ! before it would make it an embedded note or an image.
func writeLink(b *bytes.Buffer, link string) {
	if bytes.HasSuffix(b.Bytes(), []byte("!")) {
		b.Truncate(b.Len() - 1)
		b.WriteString(`\!`)
	}
	b.WriteString(link)
}

// paragraph is a run of lines that are not blank. Start is its offset in the text, in code points.
type paragraph struct {
	text  []rune // its lines without surrounding space and without blank lines
	at    []int  // the offset of each code point in the text
	start int
}

func paragraphsOf(body string) []paragraph {
	var list []paragraph
	at, open := 0, false
	for line := range strings.Lines(body) {
		if strings.TrimSpace(line) == "" {
			open = false
		} else {
			if !open {
				list = append(list, paragraph{start: at})
				open = true
			}
			list[len(list)-1].add(line, at)
		}
		at += utf8.RuneCountInString(line)
	}
	return list
}

// escapeMarkdown escapes a text for Markdown. Its line feeds are kept within one paragraph.
func escapeMarkdown(text string) string { return escapeInline(oneParagraph(text)) }

// oneParagraph returns the lines of a text without surrounding space and without blank lines.
func oneParagraph(text string) string {
	var lines []string
	for line := range strings.FieldsFuncSeq(text, func(r rune) bool { return r == '\n' || r == '\r' }) {
		if line = strings.TrimSpace(line); line != "" {
			lines = append(lines, line)
		}
	}
	return strings.Join(lines, "\n")
}

// escapeInline escapes a part of a paragraph: markup of Markdown, comments and properties of Obsidian, and templates of
// its plugins.
func escapeInline(text string) string {
	var b strings.Builder
	for i, line := range strings.Split(text, "\n") {
		if i > 0 {
			b.WriteByte('\n')
		}
		digits := len(line) - len(strings.TrimLeft(line, "0123456789"))
		for at, r := range line {
			list := at == 0 && (r == '-' || r == '+') || at == digits && digits > 0 && (r == '.' || r == ')')
			if list || strings.ContainsRune("\\`*_[]<>{}#$%=~^|&", r) {
				b.WriteByte('\\')
			}
			b.WriteRune(r)
		}
	}
	return b.String()
}

// linkTo returns a link to a note, or to a block of one, that shows a text. If the text must be escaped, it is a link
// of Markdown: Obsidian's own links have no escapes.
func linkTo(target, shown string) string {
	shown = oneLine(shown)
	escaped := escapeInline(shown)
	if escaped == shown {
		return "[[" + target + "|" + shown + "]]"
	}
	note, block, _ := strings.Cut(target, "#")
	if block != "" {
		block = "#" + block
	}
	folders := strings.Split(note+".md", "/")
	return "[" + escaped + "](" + strings.Join(each(folders, url.PathEscape), "/") + block + ")"
}
