package ingest

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"annotator"
)

// textLine is a line of a plain text, and where it begins.
type textLine struct {
	text   string
	offset int
}

// passage is some lines between blank lines.
type passage struct {
	lines []textLine
	gap   int // blank lines before
}

// readPassages takes a plain text apart at its blank lines.
func (b *book) readPassages(text string) {
	passages := splitPassages(text)
	form := measure(passages)
	for _, p := range passages {
		if len(p.lines) == 1 && isPause(p.lines[0].text) {
			b.add(&node{kind: pause, text: strings.TrimSpace(p.lines[0].text), offset: p.lines[0].offset, gap: p.gap})
			continue
		}
		gap := p.gap
		for _, lines := range form.paragraphs(p.lines) {
			if gap == 0 && len(lines) == 1 && isHeadingLine(lines[0].text) {
				gap = 1
			}
			b.addLines(lines, gap, form)
			gap = 0
		}
	}
}

// maxHeadingLine is how long a heading may be that has no blank lines around it, in characters.
const maxHeadingLine = 60

// isHeadingLine knows the heading of a chapter among paragraphs of a line each, without blank lines between them.
func isHeadingLine(line string) bool {
	if len(line) > maxHeadingLine*utf8.UTFMax || utf8.RuneCountInString(line) > maxHeadingLine || !isTitleStart(line) {
		return false
	}
	w := readHeading(line)
	return w.labelled() || isName(line, w)
}

// isName reports whether a line is nothing but a name: "Epilogue".
func isName(line string, w wording) bool {
	return w.kind == namedHeading && w.title == "" && !endsSentence(line)
}

// add appends a node of the book's document.
func (b *book) add(n *node) {
	if n.doc == "" {
		n.doc = b.doc
	}
	b.nodes = append(b.nodes, n)
}

// addLines adds a paragraph of a plain text.
func (b *book) addLines(lines []textLine, gap int, form layout) {
	n := &node{kind: paragraph, offset: lines[0].offset, gap: gap}
	var raw strings.Builder
	for _, l := range lines {
		n.lines = append(n.lines, strings.TrimRight(l.text, " \t"))
		raw.WriteString(l.text)
	}
	n.text = b.unmark(form.join(lines))
	if dropped := countCharacters(raw.String()) - countCharacters(n.text); dropped > 0 {
		b.account.leaveOutPart(Part{Name: partMarks, Characters: dropped, Begins: "_"})
	}
	if n.text != "" {
		b.add(n)
	}
}

// unmark takes the underscores of emphasis away, unless these are kept.
func (b *book) unmark(text string) string {
	if b.keep(partMarks) {
		return strings.TrimSpace(text)
	}
	return unmark(text)
}

// splitPassages gives the lines between blank lines. The marks of an archive's licence are passages by themselves, and
// so is the heading of a chapter above text.
func splitPassages(text string) []passage {
	var passages []passage
	gap, offset, alone := wideGap, 0, true
	for line := range strings.Lines(text) {
		body := strings.TrimRight(line, "\n")
		switch mark := isLicenceMark(body); {
		case strings.TrimSpace(body) == "":
			gap, alone = gap+1, true
		default:
			if alone || mark {
				passages = append(passages, passage{gap: gap})
			}
			last := &passages[len(passages)-1]
			last.lines = append(last.lines, textLine{body, offset})
			gap, alone = 0, mark
		}
		offset += len(line)
	}
	return passages
}

// isPause knows a line that only shows that something is left out: "* * *", "---", "#".
func isPause(line string) bool {
	return strings.Trim(line, " \t*-_#~=+•·⁂❦❧✻") == ""
}

// layout is the column at which a plain text is wrapped; 0 if a line is a paragraph.
type layout int

// maxWidth is the widest column that text is wrapped at.
const maxWidth = 100

// measure finds the column at which a text is wrapped: lines that are followed by another are nearly as long as that.
func measure(passages []passage) layout {
	var widths []int
	for _, p := range passages {
		for _, line := range p.lines[:len(p.lines)-1] {
			widths = append(widths, columnsOf(line.text))
		}
	}
	if len(widths) == 0 {
		return 0
	}
	slices.Sort(widths)
	if width := widths[len(widths)*9/10]; width <= maxWidth {
		return layout(width)
	}
	return 0
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

// paragraphs parts a passage's lines into paragraphs. Verse stays together; where only some lines are indented, each of
// these begins a paragraph; a heading above text is a paragraph.
func (f layout) paragraphs(lines []textLine) [][]textLine {
	if f == 0 {
		all := make([][]textLine, len(lines))
		for i := range lines {
			all[i] = lines[i : i+1]
		}
		return all
	}
	var all [][]textLine
	if len(lines) > 1 && (len(lines) > 3 || isProse(joinVerse(lines[1:]))) {
		if w := readHeading(lines[0].text); (w.labelled() && (w.bare() || isUpper(w.title)) ||
			isName(lines[0].text, w)) && !readHeading(lines[1].text).labelled() {
			all, lines = append(all, lines[:1]), lines[1:]
		}
	}
	if f.isVerse(lines) && !areSentences(lines) {
		return append(all, lines)
	}
	const headed = 4 // lines: a heading of two or three stays together
	start := 0
	for i := 1; i < len(lines); i++ {
		if isIndented(lines[i].text) || len(lines) > headed &&
			(isHeadingLine(lines[i].text) || isHeadingLine(lines[i-1].text)) {
			all, start = append(all, lines[start:i]), i
		}
	}
	return append(all, lines[start:])
}

// isProse reports whether a text is too long for a title, or a sentence of some length.
func isProse(text string) bool {
	if utf8.RuneCountInString(text) > maxHeading {
		return true
	}
	return annotator.CountWords(text) > maxProseEntry && endsSentence(text) && !isUpper(text)
}

// many is how many lines without a blank one between show that a line is a paragraph.
const many = 8

// hasLongLines reports whether lines are paragraphs in a text: they are longer than a column and hardly ever parted.
func hasLongLines(text string) bool {
	passages, lines := splitPassages(text), 0
	for _, p := range passages {
		lines += len(p.lines)
	}
	return lines > len(passages)*many && measure(passages) == 0
}

// areSentences reports whether lines are paragraphs of a line each: many of them, most of which end a sentence.
func areSentences(lines []textLine) bool {
	ends := 0
	for _, line := range lines {
		if endsSentence(strings.TrimSpace(line.text)) {
			ends++
		}
	}
	return len(lines) >= many && ends*10 >= len(lines)*7
}

// join joins the lines of a paragraph.
func (f layout) join(lines []textLine) string {
	if f.isVerse(lines) {
		return joinVerse(lines)
	}
	text := strings.TrimSpace(lines[0].text)
	for _, line := range lines[1:] {
		text = joinLine(text, strings.TrimSpace(line.text))
	}
	return text
}

// isVerse reports whether lines were not broken to fit the column: all end well before it, are indented, or begin with
// a capital.
func (f layout) isVerse(lines []textLine) bool {
	if len(lines) < 2 {
		return false
	}
	widest, indented, capital := 0, true, len(lines) > 3
	for _, line := range lines {
		widest = max(widest, columnsOf(line.text))
		indented = indented && isIndented(line.text)
		capital = capital && beginsWithCapital(line.text)
	}
	return indented || capital || widest*5 < int(f)*3
}

func beginsWithCapital(line string) bool {
	first := strings.IndexFunc(line, unicode.IsLetter)
	r, _ := utf8.DecodeRuneInString(line[max(first, 0):])
	return unicode.IsUpper(r)
}

func isIndented(line string) bool {
	return strings.HasPrefix(line, "  ") || strings.HasPrefix(line, "\t") || strings.HasPrefix(line, "\u3000")
}

func joinVerse(lines []textLine) string {
	trimmed := make([]string, len(lines))
	for i, line := range lines {
		trimmed[i] = strings.TrimSpace(line.text)
	}
	return strings.Join(trimmed, "\n")
}

// joinLine joins two lines of a paragraph: with a space, but for scripts that have none, and behind the hyphen of a
// word. Hangul has spaces.
func joinLine(a, b string) string {
	last, size := utf8.DecodeLastRuneInString(a)
	first, _ := utf8.DecodeRuneInString(b)
	before, _ := utf8.DecodeLastRuneInString(a[:len(a)-size])
	if isWide(last) && isWide(first) && !unicode.Is(unicode.Hangul, last) ||
		last == '-' && before != '-' && before != ' ' && before != utf8.RuneError {
		return a + b
	}
	return a + " " + b
}
