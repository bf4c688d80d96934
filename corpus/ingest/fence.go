package ingest

import (
	"regexp"
	"strings"
)

// fence is a line that begins or ends literal text in Markdown, in which no sign means anything. Behind the first one a word may
// say what the text is.
var fence = regexp.MustCompile("^ {0,3}(`{3,}|~{3,})[ \t]*([^`]*?)[ \t]*$")

// longestFenced is how many lines literal text may have: a fence that nothing closes must not swallow the rest of a book.
const longestFenced = 1000

// fenced returns how many lines the literal text takes that begins at the first of these lines, its fences included; 0 where none
// begins. A line of tildes that stands alone is a break between scenes: many authors draw it so.
func fenced(lines []string) int {
	if !strings.Contains(lines[0], "```") && !strings.Contains(lines[0], "~~~") {
		return 0
	}
	first := fence.FindStringSubmatch(lines[0])
	if first == nil || len(lines) < 2 {
		return 0
	}
	if mark, word := first[1], first[2]; mark[0] == '~' && word == "" && strings.TrimSpace(lines[1]) == "" {
		return 0
	}
	for i, line := range lines[1:min(len(lines), longestFenced)] {
		last := fence.FindStringSubmatch(line)
		if last != nil && last[2] == "" && strings.HasPrefix(last[1], first[1]) {
			return i + 2
		}
	}
	return 0
}

// literal gives the paragraphs of literal text, their lines as they are.
func literal(lines []string) []node {
	var nodes []node
	for _, lines := range splitPassages(lines, false) {
		nodes = append(nodes, node{kind: paragraph, text: strings.TrimRight(strings.Join(lines, "\n"), " \t\n")})
	}
	return nodes
}
