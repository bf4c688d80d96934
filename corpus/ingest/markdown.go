package ingest

import (
	"bytes"
	"fmt"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	"annotator"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	extast "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
	"golang.org/x/net/html/atom"
)

var (
	anyATX      = regexp.MustCompile(`(?m)^#{1,6}[ \t]+\S`)
	underscored = regexp.MustCompile(`(^|[^\pL\pN_])_{1,2}([^_\s](?:[^_]*[^_\s])?)_{1,2}([^\pL\pN_]|$)`)
	shortcode   = regexp.MustCompile(`\{\{[<%][^\n]*?[%>]\}\}|(?m)^ {0,3}:{3,}[^\n]*$|(?m)^[ \t]*\\(?:newpage|` +
		`pagebreak|clearpage)\b[^\n]*$|(?m)^\{(?:front|main|back)matter\}[ \t]*$|(?m)\{[#.][\w .#-]+\}[ \t]*$`)
	anyComment = regexp.MustCompile(`(?s)<!--.*?-->`)
	tildeBreak = regexp.MustCompile(`(?m)^ {0,3}~{3,}[ \t]*$`)
)

// isMarkdown goes by the file's name, else by headings.
func isMarkdown(path, text string) bool {
	switch strings.ToLower(filepath.Ext(path)) {
	case ".md", ".markdown":
		return true
	}
	return len(anyATX.FindAllStringIndex(text, 2)) > 1 || strings.HasPrefix(text, "#") && anyATX.MatchString(text)
}

// unmark removes the underscores of emphasis in plain text, because they would hide names in italics.
func unmark(text string) string {
	if strings.Contains(text, "_") {
		// Twice: neighbours share the space between them, and a match takes it.
		text = underscored.ReplaceAllString(text, "$1$2$3")
		text = underscored.ReplaceAllString(text, "$1$2$3")
	}
	return strings.TrimSpace(text)
}

// Characters of the source that must not be read as Markdown are replaced with control characters while it is parsed.
// The text has no other control characters, and the length is the same.
const (
	hiddenBacktick = '\x01'
	hiddenTilde    = '\x02'
	blanked        = '\x03'
	hiddenBracket  = '\x04'
	hiddenLess     = '\x05'
)

// longestFenced is how many lines literal text may have: a fence that nothing closes must not swallow the rest of a
// book.
const longestFenced = 1000

// fence is a line that begins or ends literal text.
var fence = regexp.MustCompile("^ {0,3}(`{3,}|~{3,})[ \t]*([^`]*?)[ \t]*$")

// readMarkdown reads Markdown: blocks become nodes, marks are taken away. Raw HTML is read as a page is.
func (b *book) readMarkdown(source string) error {
	source, start := b.trimFrontMatter(source)
	data := []byte(source)
	b.blank(data, anyComment, partHidden)
	b.blank(data, shortcode, partLayout)
	hideDefinitions(data)
	hideTags(data)
	if n := marksIn(data); n > maxMarks {
		return fmt.Errorf("it is Markdown of %d marks, more than %d", n, maxMarks)
	}
	hideFences(data)
	reader := text.NewReader(data)
	parser := goldmark.New(goldmark.WithExtensions(extension.Table, extension.Strikethrough)).Parser()
	r := &markdownReader{book: b, source: data, start: start, lines: hasLongLines(source)}
	return r.blocks(parser.Parse(reader), 0)
}

// maxMarks is how many marks a document may have. Each is a node of the tree that the parser makes of it, of some 300
// bytes.
const maxMarks = 1 << 19

// marksIn counts the signs that begin or end something within a paragraph.
func marksIn(data []byte) (n int) {
	for _, c := range data {
		switch c {
		case '<', '*', '_', '[', '`', '&', '\\':
			n++
		}
	}
	return n
}

var (
	bracketed  = regexp.MustCompile(`\[([^\[\]\n]{1,200})\]`)
	definition = regexp.MustCompile(`(?m)^ {0,3}(\[)([^\[\]\n]{1,200})\]:`)
	openTag    = regexp.MustCompile(`<(?:/?([A-Za-z][A-Za-z0-9-]*)[^A-Za-z0-9:@.-]|[!?])`)
)

// hideDefinitions makes text of the definitions of links that nothing uses: "[Anna]: Yes." is spoken.
func hideDefinitions(data []byte) {
	uses := map[string]int{}
	for _, match := range bracketed.FindAllSubmatch(data, -1) {
		uses[string(match[1])]++
	}
	all := definition.FindAllSubmatchIndex(data, -1)
	for _, at := range all {
		uses[string(data[at[4]:at[5]])]--
	}
	for _, at := range all {
		if label := string(data[at[4]:at[5]]); uses[label] == 0 || strings.HasPrefix(label, "^") {
			data[at[2]] = hiddenBracket
		}
	}
}

// hideTags makes text of what looks like a tag and is no element, and of comments and the like that nothing ends. Of
// these a parser would take the rest of the book for content.
func hideTags(data []byte) {
	for _, at := range openTag.FindAllSubmatchIndex(data, -1) {
		if at[2] < 0 || atom.Lookup(bytes.ToLower(data[at[2]:at[3]])) == 0 {
			data[at[0]] = hiddenLess
		}
	}
}

// blank hides what a pattern finds from the parser, and counts it as a part.
func (b *book) blank(data []byte, pattern *regexp.Regexp, part string) {
	if b.keep(part) {
		return
	}
	for _, at := range pattern.FindAllIndex(data, -1) {
		b.account.Source += countCharacters(string(data[at[0]:at[1]]))
		b.account.leaveOut(part, string(data[at[0]:at[1]]))
		for i := at[0]; i < at[1]; i++ {
			if data[i] != '\n' {
				data[i] = blanked
			}
		}
	}
}

// hideFences converts unclosed fences to plain text, and single lines of tildes to breaks, which many authors write so.
func hideFences(data []byte) {
	lines := bytes.SplitAfter(data, []byte("\n"))
	for i := 0; i < len(lines); i++ {
		if n := fenced(lines[i:]); n > 0 {
			i += n - 1
			continue
		}
		line := bytes.TrimRight(lines[i], "\n")
		switch {
		case !fence.Match(line):
		case tildeBreak.Match(line):
			for k, c := range line {
				if c == '~' {
					line[k] = '*'
				}
			}
		default:
			for k, c := range line {
				switch c {
				case '`':
					line[k] = hiddenBacktick
				case '~':
					line[k] = hiddenTilde
				}
			}
		}
	}
}

// fenced returns how many lines the literal text takes that begins at the first of these lines, its fences included; 0
// where none begins.
func fenced(lines [][]byte) int {
	trim := func(line []byte) []byte { return bytes.TrimRight(line, "\n") }
	first := fence.FindSubmatch(trim(lines[0]))
	if first == nil || len(lines) < 2 {
		return 0
	}
	if first[1][0] == '~' && len(first[2]) == 0 && len(bytes.TrimSpace(lines[1])) == 0 {
		return 0
	}
	for i, line := range lines[1:min(len(lines), longestFenced)] {
		last := fence.FindSubmatch(trim(line))
		if last != nil && len(last[2]) == 0 && bytes.HasPrefix(last[1], first[1]) {
			return i + 2
		}
	}
	return 0
}

// shown is text as it was before signs were hidden.
func shown(text string) string {
	return strings.Map(func(r rune) rune {
		switch r {
		case hiddenBacktick:
			return '`'
		case hiddenTilde:
			return '~'
		case hiddenBracket:
			return '['
		case hiddenLess:
			return '<'
		case blanked:
			return -1
		}
		return r
	}, text)
}

// trimFrontMatter cuts off the YAML or TOML block that some programs put before Markdown. start is its length in bytes.
func (b *book) trimFrontMatter(source string) (body string, start int) {
	for _, mark := range []string{"---", "+++"} {
		rest, ok := strings.CutPrefix(source, mark+"\n")
		if !ok {
			continue
		}
		front, body, ok := strings.Cut(rest, "\n"+mark+"\n")
		if !ok || strings.Contains(front, "\n\n") {
			return source, 0
		}
		plain := strings.ReplaceAll(front, " = ", ": ")
		b.title, b.author = fieldOf(plain, "title"), fieldOf(plain, "author")
		b.account.Source += countCharacters(front)
		b.account.leaveOut(partFrontMatter, front)
		return body, len(source) - len(body)
	}
	return source, 0
}

// markdownReader makes nodes of a parsed document.
type markdownReader struct {
	*book
	source []byte
	start  int  // of the source within the document
	lines  bool // a line is a paragraph
}

// emit adds a node, and counts its text.
func (r *markdownReader) emit(n *node, offset int) {
	n.text = strings.TrimSpace(n.text)
	if n.text == "" && n.kind != pause {
		return
	}
	n.offset, n.gap = r.start+offset, 1
	r.account.Source += countCharacters(n.text)
	r.add(n)
}

// offsetOf is where a block begins.
func offsetOf(n ast.Node) int {
	for ; n != nil; n = n.FirstChild() {
		if n.Type() == ast.TypeBlock && n.Lines() != nil && n.Lines().Len() > 0 {
			return n.Lines().At(0).Start
		}
		if t, ok := n.(*ast.Text); ok {
			return t.Segment.Start
		}
	}
	return 0
}

func (r *markdownReader) blocks(parent ast.Node, depth int) error {
	if depth > maxDepth {
		return errTooDeep
	}
	for n := parent.FirstChild(); n != nil; n = n.NextSibling() {
		offset := offsetOf(n)
		switch n := n.(type) {
		case *ast.Heading:
			r.heading(n, offset)
		case *ast.ThematicBreak:
			r.emit(&node{kind: pause}, offset)
		case *ast.Paragraph, *ast.TextBlock:
			r.paragraph(n, offset)
		case *ast.FencedCodeBlock, *ast.CodeBlock:
			r.literal(n, offset)
		case *ast.HTMLBlock:
			if err := r.html(n, offset); err != nil {
				return err
			}
		case *ast.List:
			r.list(n, offset)
		case *extast.Table:
			r.table(n, offset)
		default:
			if err := r.blocks(n, depth+1); err != nil {
				return err
			}
		}
	}
	return nil
}

// heading adds a heading. A long text that is underlined is a paragraph above a break.
func (r *markdownReader) heading(n *ast.Heading, offset int) {
	title := r.inline(n)
	lines := n.Lines()
	underlined := lines.Len() > 0 && !isATX(r.source, lines.At(0).Start)
	if underlined && (lines.Len() > 1 || len(title) > maxHeading ||
		endsSentence(title) && annotator.CountWords(title) > maxProseEntry) {
		r.emit(&node{kind: paragraph, text: title}, offset)
		r.emit(&node{kind: pause}, offset)
		return
	}
	r.emit(&node{kind: heading, level: n.Level, text: title}, offset)
}

// isATX reports whether the line of a heading's text begins with #.
func isATX(source []byte, at int) bool {
	line := source[bytes.LastIndexByte(source[:at], '\n')+1 : at]
	return bytes.ContainsRune(line, '#')
}

func (r *markdownReader) paragraph(n ast.Node, offset int) {
	text := r.inline(n)
	if lines := strings.Split(text, "\n"); r.lines && len(lines) > 1 && len(lines) == n.Lines().Len() {
		r.paragraphs(lines, n.Lines())
		return
	}
	if isPause(text) && text != "" {
		r.emit(&node{kind: pause, text: text}, offset)
		return
	}
	r.emit(&node{kind: paragraph, text: text, strong: isStrong(n)}, offset)
}

// paragraphs adds lines that are a paragraph each. Only the first and headings have space around.
func (r *markdownReader) paragraphs(lines []string, at *text.Segments) {
	for i, line := range lines {
		if line == "" {
			continue
		}
		n := &node{kind: paragraph, text: line}
		if r.emit(n, at.At(i).Start); i > 0 && !isHeadingLine(line) {
			n.gap = 0
		}
	}
}

// isStrong reports whether a block is one strong emphasis.
func isStrong(n ast.Node) bool {
	first := n.FirstChild()
	if first == nil || first.NextSibling() != nil {
		return false
	}
	emphasis, ok := first.(*ast.Emphasis)
	return ok && emphasis.Level == 2
}

// literal adds the paragraphs of literal text, their lines as they are.
func (r *markdownReader) literal(n ast.Node, offset int) {
	for part := range strings.SplitSeq(string(n.Lines().Value(r.source)), "\n\n") {
		if part = strings.Trim(shown(part), "\n"); strings.TrimSpace(part) != "" {
			r.account.Source += countCharacters(part)
			r.add(&node{kind: paragraph, text: strings.TrimRight(part, " \t\n"), offset: r.start + offset})
		}
		offset += len(part) + 2
	}
}

// html reads raw HTML as a page.
func (r *markdownReader) html(n *ast.HTMLBlock, offset int) error {
	raw := string(n.Lines().Value(r.source))
	if n.HasClosure() {
		raw += string(n.ClosureLine.Value(r.source))
	}
	page, err := readPage("<body>"+shown(raw)+"</body>", pageOptions{keep: r.keep})
	if err != nil {
		return err
	}
	r.account.add(&page.account)
	for _, n := range page.nodes {
		n.offset = r.start + offset
		r.add(n)
	}
	return nil
}

// list adds a list as one paragraph with a line for each item.
func (r *markdownReader) list(n *ast.List, offset int) {
	var lines []string
	number := n.Start
	var links, linked int
	var walk func(n *ast.List, number, depth int)
	walk = func(list *ast.List, number, depth int) {
		for item := list.FirstChild(); item != nil && depth < maxDepth; item = item.NextSibling() {
			mark := string(list.Marker)
			if list.IsOrdered() {
				mark = strconv.Itoa(number) + mark
				number++
			}
			for block := item.FirstChild(); block != nil; block = block.NextSibling() {
				if inner, ok := block.(*ast.List); ok {
					walk(inner, inner.Start, depth+1)
					continue
				}
				text := r.inline(block)
				if c := block.FirstChild(); c != nil && c.Kind() == ast.KindLink && c.NextSibling() == nil {
					links, linked = links+1, linked+countCharacters(text)
				}
				if text = strings.TrimSpace(mark + " " + text); text != "" {
					lines = append(lines, text)
				}
				mark = ""
			}
		}
	}
	walk(n, number, 0)
	r.emit(&node{kind: paragraph, text: strings.Join(lines, "\n"), links: links, linked: linked, tabular: true}, offset)
}

// table adds a row of a table as a paragraph.
func (r *markdownReader) table(n ast.Node, offset int) {
	for row := n.FirstChild(); row != nil; row = row.NextSibling() {
		var cells []string
		for cell := row.FirstChild(); cell != nil; cell = cell.NextSibling() {
			cells = append(cells, r.inline(cell))
		}
		r.emit(&node{kind: paragraph, text: strings.Join(cells, " "), tabular: true}, offset)
	}
}

// inline is the text of a block without marks. A line stays on its own behind a hard break.
func (r *markdownReader) inline(n ast.Node) string {
	var b strings.Builder
	r.collect(&b, n, 0)
	var lines []string
	for line := range strings.SplitSeq(shown(b.String()), "\n") {
		lines = append(lines, strings.TrimSpace(line))
	}
	return strings.TrimSpace(strings.Join(lines, "\n"))
}

func (r *markdownReader) collect(b *strings.Builder, parent ast.Node, depth int) {
	if depth > maxDepth {
		return
	}
	for n := parent.FirstChild(); n != nil; n = n.NextSibling() {
		switch n := n.(type) {
		case *ast.Text:
			r.textOf(b, n)
		case *ast.String:
			b.Write(n.Value)
		case *ast.AutoLink:
			b.Write(n.Label(r.source))
		case *ast.RawHTML:
			if tag := strings.ToLower(string(n.Segments.Value(r.source))); strings.HasPrefix(tag, "<br") {
				b.WriteByte('\n')
			}
		default:
			r.collect(b, n, depth+1)
		}
	}
}

func (r *markdownReader) textOf(b *strings.Builder, n *ast.Text) {
	value := n.Segment.Value(r.source)
	if n.IsRaw() {
		b.Write(value)
	} else {
		b.WriteString(unescape(value))
	}
	switch {
	case n.HardLineBreak():
		b.WriteByte('\n')
	case n.SoftLineBreak() && r.lines:
		b.WriteByte('\n')
	case n.SoftLineBreak():
		joinSoft(b, n, r.source)
	}
}

// joinSoft joins two lines of a paragraph as plain text does.
func joinSoft(b *strings.Builder, n *ast.Text, source []byte) {
	next := ""
	if following, ok := n.NextSibling().(*ast.Text); ok {
		next = string(following.Segment.Value(source))
	}
	if next == "" {
		b.WriteByte(' ')
		return
	}
	before := b.String()
	before = before[max(0, len(before)-2*utf8.UTFMax):]
	b.WriteString(strings.TrimSuffix(joinLine(before, next)[len(before):], next))
}

// unescape takes backslashes away and resolves entities.
func unescape(value []byte) string {
	return string(util.UnescapePunctuations(util.ResolveEntityNames(util.ResolveNumericReferences(value))))
}
