package web

import (
	"strings"
	"unicode/utf8"
)

// section is a part of a summary, with its heading if it has one.
type section struct{ Title, Text string }

// sectionsOf divides a summary at the lines that are headings: a few words with a colon, or in Markdown.
func sectionsOf(summary string) (sections []section) {
	var lines []string
	title := ""
	end := func() {
		if text := strings.TrimSpace(strings.Join(lines, "\n")); text != "" || title != "" {
			sections = append(sections, section{title, text})
		}
		lines = nil
	}
	for line := range strings.Lines(summary) {
		if heading := headingOf(line); heading != "" {
			end()
			title = heading
		} else {
			lines = append(lines, strings.TrimRight(line, "\r\n"))
		}
	}
	end()
	return sections
}

// headingOf returns the words of a line that is a heading; empty for any other.
func headingOf(line string) string {
	const most = 40 // characters
	line = strings.TrimSpace(line)
	words := strings.Trim(line, "#* ")
	words, colon := strings.CutSuffix(words, ":")
	marked := strings.HasPrefix(line, "#") || strings.HasPrefix(line, "**") && strings.HasSuffix(line, "**")
	if !colon && !marked || utf8.RuneCountInString(words) > most {
		return ""
	}
	return strings.Trim(words, "* ")
}
