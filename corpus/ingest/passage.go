package ingest

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// nodeKind is what a part of a book is.
type nodeKind string

const (
	paragraph nodeKind = "paragraph"
	pause     nodeKind = "pause" // a break between scenes
	heading   nodeKind = "heading"
	anchor    nodeKind = "anchor" // a place that a table of contents names; its text is the name
)

// node is a part of a book: what every format of books is brought to before it is parted into chapters.
type node struct {
	kind  nodeKind
	level int // of a heading: 1 is the highest; 0 is a chapter whatever the others are
	text  string
}

// readPassages takes a text apart at its blank lines.
func readPassages(text string, markdown bool) []node {
	if markdown {
		text = htmlComment.ReplaceAllString(text, "")
	}
	passages := splitPassages(strings.Split(text, "\n"), markdown)
	form := measure(passages, markdown)
	recogniser := headings{markdown: markdown}
	var nodes []node
	for _, lines := range passages {
		if isPause(lines) {
			nodes = append(nodes, node{kind: pause})
			continue
		}
		if markdown && fenced(lines) > 0 {
			nodes = append(nodes, literal(lines[1:len(lines)-1])...)
			continue
		}
		if h, ok := recogniser.read(lines); ok {
			h.text = unmark(h.text, markdown)
			nodes = append(nodes, h)
			continue
		}
		for _, text := range form.paragraphs(lines) {
			if text = unmark(text, markdown); text != "" {
				nodes = append(nodes, node{kind: paragraph, text: text})
			}
		}
	}
	return nodes
}

// splitPassages gives the lines between blank lines. A Markdown heading needs no blank lines around it, nor does fenced text, in
// which blank lines part nothing.
func splitPassages(lines []string, markdown bool) [][]string {
	var passages [][]string
	var open []string
	flush := func() {
		if len(open) > 0 {
			passages = append(passages, open)
			open = nil
		}
	}
	for i := 0; i < len(lines); i++ {
		line := lines[i]
		n := 0
		if markdown {
			n = fenced(lines[i:])
		}
		switch {
		case n > 0:
			flush()
			passages = append(passages, lines[i:i+n])
			i += n - 1
		case strings.TrimSpace(line) == "":
			flush()
		case markdown && atx.MatchString(line):
			flush()
			passages = append(passages, []string{line})
		default:
			open = append(open, line)
		}
	}
	flush()
	return passages
}

// isPause knows a line that only shows that something is left out: "* * *", "---", "#".
func isPause(lines []string) bool {
	return len(lines) == 1 && strings.Trim(lines[0], " \t*-_#~=+•·⁂❦❧✻") == ""
}

// layout is how a text breaks its lines.
type layout struct {
	width    int // at which lines are wrapped, in columns; 0 if a line is a paragraph
	markdown bool
}

// maxWidth is the widest column that somebody wraps text at.
const maxWidth = 100

// measure finds the column at which a text is wrapped: lines that are followed by another are nearly as long as that.
func measure(passages [][]string, markdown bool) layout {
	if markdown {
		return layout{markdown: true}
	}
	var widths []int
	for _, lines := range passages {
		for _, line := range lines[:len(lines)-1] {
			widths = append(widths, columnsOf(line))
		}
	}
	if len(widths) == 0 {
		return layout{}
	}
	slices.Sort(widths)
	if width := widths[len(widths)*9/10]; width <= maxWidth {
		return layout{width: width}
	}
	return layout{}
}

// columnsOf is the width of a line: characters of East Asian scripts are twice as wide.
func columnsOf(line string) int {
	n := utf8.RuneCountInString(strings.TrimRight(line, " \t"))
	for _, r := range line {
		if isWide(r) {
			n++
		}
	}
	return n
}

// paragraphs joins a passage's lines. Verse keeps its lines; where only some lines are indented, each of these begins a
// paragraph.
func (f layout) paragraphs(lines []string) []string {
	if f.markdown {
		return []string{joinMarkdown(lines)}
	}
	if f.width == 0 {
		return lines
	}
	if f.isVerse(lines) {
		return []string{joinVerse(lines)}
	}
	var joined []string
	for i, line := range lines {
		if i == 0 || isIndented(line) {
			joined = append(joined, strings.TrimSpace(line))
			continue
		}
		last := &joined[len(joined)-1]
		*last = joinLine(*last, strings.TrimSpace(line))
	}
	return joined
}

// isVerse takes lines for verse that were not broken to fit the column: all end well before it, or are indented, or begin with
// a capital.
func (f layout) isVerse(lines []string) bool {
	if len(lines) < 2 {
		return false
	}
	widest, indented, capital := 0, true, len(lines) > 3
	for _, line := range lines {
		widest = max(widest, columnsOf(line))
		indented = indented && isIndented(line)
		capital = capital && beginsWithCapital(line)
	}
	return indented || capital || widest*5 < f.width*3
}

func beginsWithCapital(line string) bool {
	first := strings.IndexFunc(line, unicode.IsLetter)
	r, _ := utf8.DecodeRuneInString(line[max(first, 0):])
	return unicode.IsUpper(r)
}

func isIndented(line string) bool {
	return strings.HasPrefix(line, "  ") || strings.HasPrefix(line, "\t")
}

func joinVerse(lines []string) string {
	trimmed := make([]string, len(lines))
	for i, line := range lines {
		trimmed[i] = strings.TrimSpace(line)
	}
	return strings.Join(trimmed, "\n")
}

// joinLine joins two lines of a paragraph: with a space, but for scripts that have none, and behind the hyphen of a word.
func joinLine(a, b string) string {
	last, size := utf8.DecodeLastRuneInString(a)
	first, _ := utf8.DecodeRuneInString(b)
	before, _ := utf8.DecodeLastRuneInString(a[:len(a)-size])
	if isWide(last) && isWide(first) || last == '-' && before != '-' && before != ' ' && before != utf8.RuneError {
		return a + b
	}
	return a + " " + b
}
