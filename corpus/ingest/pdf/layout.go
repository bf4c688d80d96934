package pdf

import (
	"bytes"
	"cmp"
	"math"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// textLine is a line of a page.
type textLine struct {
	text      string
	x, end, y float64
	former    float64 // where it ended before the last piece
	size      float64
	bold      bool
	page      int
	kind      Kind
	letters   int
	strong    int // of them, in bold type
}

// layout turns pieces of text into lines, and these into paragraphs.
type layout struct {
	book  *Book
	pages [][]*textLine
	known int

	size, leading float64 // of most lines
	words         map[string]bool
}

func (y *layout) addPage(number int, chunks []chunk) {
	var lines []*textLine
	var text []byte
	var l *textLine
	end := func() {
		if l != nil && len(bytes.TrimSpace(text)) > 0 {
			l.text = strings.Join(strings.Fields(string(text)), " ")
			l.bold = l.strong*2 > l.letters
			lines = append(lines, l)
		}
		l, text = nil, text[:0]
	}
	narrow := narrowFonts(chunks)
	for _, c := range chunks {
		unknown := strings.Count(c.text, "\uFFFD")
		y.book.Unknown += unknown
		n := utf8.RuneCountInString(c.text)
		y.known += n - unknown
		blank := strings.TrimSpace(c.text) == ""
		if l != nil && l.isBefore(c) {
			end()
		}
		if l == nil {
			if blank {
				continue
			}
			l = &textLine{x: c.x, end: c.x, y: c.y, page: number}
		}
		text = l.write(text, c, narrow[c.font])
		if blank {
			continue
		}
		if l.letters == 0 || n > 2 && c.size > l.size {
			l.size = c.size
			l.y = c.y
		}
		l.letters += n
		if c.font.bold {
			l.strong += n
		}
	}
	end()
	y.pages = append(y.pages, y.order(lines))
}

// isBefore reports whether a piece of text begins another line.
func (l *textLine) isBefore(c chunk) bool {
	size := max(l.size, c.size)
	return math.Abs(c.y-l.y) > size/2 || c.x < l.end-size
}

// write adds a piece of text, and a space if there is a gap before it.
func (l *textLine) write(text []byte, c chunk, narrow bool) []byte {
	gap := wideGap
	switch {
	case !c.font.measured:
		gap = guessedGap
	case narrow:
		gap = narrowGap
	}
	switch {
	case c.x-l.end > gap*c.size:
		text = append(text, ' ')
	case l.end-c.x > wideGap*c.size:
		text, c.text = takeAccent(text, c.text, c.x-l.former > gap*c.size)
	}
	l.former, l.end = l.end, max(l.end, c.end)
	return append(text, c.text...)
}

// Gaps between words, in sizes of the type.
const (
	wideGap    = 0.15
	narrowGap  = 0.08 // in fonts whose words stand closer
	guessedGap = 0.5  // where the widths of letters are not known
)

// narrowFonts are the fonts of a page that have hardly a wide gap, but narrow ones. If most letters have one between,
// the type is spaced.
func narrowFonts(chunks []chunk) map[*font]bool {
	type counts struct{ letters, narrow, wide int }
	all := map[*font]*counts{}
	for i, c := range chunks {
		n := all[c.font]
		if n == nil {
			n = &counts{}
			all[c.font] = n
		}
		n.letters += utf8.RuneCountInString(c.text)
		n.wide += strings.Count(c.text, " ")
		if i == 0 || chunks[i-1].font != c.font || math.Abs(chunks[i-1].y-c.y) > c.size/2 {
			continue
		}
		switch gap := (c.x - chunks[i-1].end) / c.size; {
		case gap > wideGap:
			n.wide++
		case gap > narrowGap:
			n.narrow++
		}
	}
	narrow := map[*font]bool{}
	for f, n := range all {
		narrow[f] = n.narrow > n.wide && n.narrow*3 <= n.letters
	}
	return narrow
}

// combining are the accents that are shown by themselves, and those that letters have.
var combining = strings.NewReplacer("`", "\u0300", "´", "\u0301", "ˆ", "\u0302", "˜", "\u0303", "¯", "\u0304",
	"˘", "\u0306", "˙", "\u0307", "¨", "\u0308", "˚", "\u030A", "˝", "\u030B", "ˇ", "\u030C", "¸", "\u0327",
	"˛", "\u0328")

// takeAccent puts the accent at the end of a line on the letter that is shown below it. Where the letter stands says
// whether a word begins with it.
func takeAccent(line []byte, text string, begins bool) (before []byte, accented string) {
	accent, size := utf8.DecodeLastRune(line)
	letter, first := utf8.DecodeRuneInString(text)
	mark := combining.Replace(string(accent))
	if size == 0 || mark == string(accent) || !unicode.IsLetter(letter) {
		return line, text
	}
	switch letter {
	case 'ı':
		letter = 'i'
	case 'ȷ':
		letter = 'j'
	}
	line = line[:len(line)-size]
	if !begins {
		line = bytes.TrimSuffix(line, []byte(" "))
	}
	return line, norm.NFC.String(string(letter)+mark) + text[first:]
}

// order puts lines from top to bottom, if the page is no page in columns. Of columns the order of the file is kept.
func (y *layout) order(lines []*textLine) []*textLine {
	fromTop := func(a, b *textLine) int { return cmp.Compare(b.y, a.y) }
	sorted := slices.Clone(lines)
	slices.SortStableFunc(sorted, fromTop)
	beside := 0
	for i := 1; i < len(sorted); i++ {
		if sorted[i-1].y-sorted[i].y < 0.5*sorted[i].size {
			beside++
		}
	}
	if beside*4 > len(lines) {
		y.book.Unordered++
		return lines
	}
	return sorted
}

// finish finds what is at the edges of pages, and makes paragraphs of the rest.
func (y *layout) finish(targets []target) {
	y.measure()
	y.edges()
	y.words = map[string]bool{}
	for _, page := range y.pages {
		for _, l := range page {
			fields := strings.Fields(l.text)
			if strings.HasSuffix(l.text, "-") {
				fields = fields[:len(fields)-1]
			}
			for _, w := range fields {
				y.words[plainWord(w)] = true
			}
		}
	}
	y.paragraphs(targets)
}

func plainWord(w string) string {
	return strings.ToLower(strings.TrimFunc(w, func(r rune) bool { return !unicode.IsLetter(r) }))
}

// measure finds the size of most letters and the distance of most lines.
func (y *layout) measure() {
	sizes, leadings := map[float64]int{}, map[float64]int{}
	for _, page := range y.pages {
		for i, l := range page {
			l.size = math.Round(l.size*10) / 10
			sizes[l.size] += l.letters
			if i+1 < len(page) {
				leadings[math.Round((l.y-page[i+1].y)*4)/4]++
			}
		}
	}
	y.size = most(sizes)
	y.leading = y.size * 1.2
	best, found := 0, false
	for distance, n := range leadings {
		if y.isLeading(distance) {
			best = max(best, n)
		}
	}
	// Where most paragraphs are of one line, their distance is the most frequent one. Lines have the least.
	for distance, n := range leadings {
		if y.isLeading(distance) && n*10 >= best && (!found || distance < y.leading) {
			y.leading, found = distance, true
		}
	}
}

// isLeading reports whether lines of one paragraph may have this distance.
func (y *layout) isLeading(distance float64) bool {
	return distance >= 0.8*y.size && distance <= 2.5*y.size
}

// most is the key that counts most; of several the least.
func most(counts map[float64]int) float64 {
	best := 0.0
	for k, n := range counts {
		if n > counts[best] || n == counts[best] && k < best {
			best = k
		}
	}
	return best
}

// building is the paragraph that lines are added to.
type building struct {
	text   strings.Builder
	first  *textLine
	last   *textLine
	strong bool        // all lines are in bold type
	begins bool        // it is the first of its page
	behind []Paragraph // heads and numbers between its lines
	leads  []int       // entries of the outline that lead to it
}

// paragraphs joins lines. Entries of the outline lead to the first line at or below their place.
func (y *layout) paragraphs(targets []target) {
	left, right := y.margins()
	var p *building
	where := make([]int, len(targets))
	end := func() {
		y.close(p, where)
		p = nil
	}
	leads := map[int][]int{} // entries by page
	for i, t := range targets {
		leads[t.page] = append(leads[t.page], i)
	}
	for number, page := range y.pages {
		begins := true
		for _, l := range page {
			if l.kind != Body {
				if p == nil {
					p = &building{}
				}
				p.behind = append(p.behind, Paragraph{Text: l.text, Kind: l.kind})
				continue
			}
			here, rest := reached(leads[number], targets, l.y-y.size/2)
			leads[number] = rest
			if p == nil || p.first == nil || len(here) > 0 || y.parts(p.last, l, left[number], right[number]) {
				end()
				p = &building{first: l, strong: true, begins: begins}
			}
			p.leads = append(p.leads, here...)
			p.strong = p.strong && l.bold
			y.join(&p.text, l.text)
			p.last, begins = l, false
		}
		if rest := leads[number]; len(rest) > 0 { // they lead below the last line
			end()
			p = &building{leads: rest}
		}
	}
	end()
	for i, t := range targets {
		t.Paragraph = where[i]
		if t.Paragraph < len(y.book.Paragraphs) {
			y.book.Contents = append(y.book.Contents, t.Entry)
		}
	}
}

// close adds a paragraph, and what was between its lines behind it. where is, by entry, the paragraph it leads to.
func (y *layout) close(p *building, where []int) {
	if p == nil {
		return
	}
	for _, i := range p.leads {
		where[i] = len(y.book.Paragraphs)
	}
	if p.first != nil {
		y.book.Paragraphs = append(y.book.Paragraphs, Paragraph{
			Text: p.text.String(), Bold: p.strong, Level: y.level(p), Page: p.begins,
		})
	}
	y.book.Paragraphs = append(y.book.Paragraphs, p.behind...)
}

// reached parts entries into those whose place is at a height or above, and the rest.
func reached(leads []int, targets []target, height float64) (here, rest []int) {
	for _, i := range leads {
		if targets[i].y >= height {
			here = append(here, i)
		} else {
			rest = append(rest, i)
		}
	}
	return here, rest
}

// margins are, by page, the left edge of most lines and the right one that lines reach.
func (y *layout) margins() (left, right []float64) {
	for _, page := range y.pages {
		lefts, reach := map[float64]int{}, 0.0
		for _, l := range page {
			if l.kind == Body {
				lefts[math.Round(l.x)]++
				reach = max(reach, l.end)
			}
		}
		edge := most(lefts)
		for x, n := range lefts { // a page of speech has more lines with an indent than without
			if x < edge && n*5 >= lefts[edge] {
				edge = x
			}
		}
		left, right = append(left, edge), append(right, reach)
	}
	return left, right
}

// parts reports whether a line begins a paragraph.
func (y *layout) parts(before, l *textLine, left, right float64) bool {
	indent := l.x - left
	switch {
	case math.Abs(l.size-before.size) > 0.1*y.size, l.bold != before.bold:
		return true
	case y.levelOf(l.size) > 0 && l.page == before.page: // the lines of a heading may be in the middle
		return math.Abs(before.y-l.y) > maxHeadingLeading*l.size
	case l.page != before.page:
		full := before.end >= right-5*y.size
		return indent > 0.5*y.size || !full && endsSentence(before.text) || l.size > y.size*1.1
	case math.Abs(before.y-l.y) > 1.3*y.leading*max(1, l.size/y.size):
		return true
	case before.x-left > 4*y.size && indent < y.size/2:
		return true // a line in the middle
	}
	return indent > 0.5*y.size && l.x-before.x > 0.5*y.size || indent > 0.5*y.size && before.end < right-2*y.size ||
		indent > 0.5*y.size && indent < 4*y.size && endsSentence(before.text) && math.Abs(l.x-before.x) < 1
}

// endsSentence reports whether text ends with a mark that is no comma and no hyphen.
func endsSentence(text string) bool {
	text = strings.TrimRight(text, "\"'”’»)]")
	r, _ := utf8.DecodeLastRuneInString(text)
	return unicode.Is(unicode.Sentence_Terminal, r) || r == '…' || r == ':'
}

// join adds a line. A hyphen at the end is dropped if the word without it occurs elsewhere.
func (y *layout) join(b *strings.Builder, line string) {
	former := b.String()
	if former == "" {
		b.WriteString(line)
		return
	}
	soft := strings.HasSuffix(former, "\u00AD")
	if body, ok := strings.CutSuffix(former, "-"); ok || soft {
		if soft {
			body = strings.TrimSuffix(former, "\u00AD")
		}
		head := body[strings.LastIndexByte(body, ' ')+1:]
		tail, _, _ := strings.Cut(line, " ")
		if soft || head != "" && y.words[plainWord(head+tail)] {
			b.Reset()
			b.WriteString(body)
		}
		if head != "" || soft {
			b.WriteString(line)
			return
		}
	}
	last, _ := utf8.DecodeLastRuneInString(former)
	first, _ := utf8.DecodeRuneInString(line)
	if !unspaced(last) || !unspaced(first) {
		b.WriteByte(' ')
	}
	b.WriteString(line)
}

// unspaced reports whether the script of a sign has no spaces between words.
func unspaced(r rune) bool {
	return unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai) || r >= 0x3000 && r <= 0x303F ||
		r >= 0xFF00 && r <= 0xFF60
}

// Limits of headings: how long one may be, in characters, and the distance of its lines, in sizes of its type.
const (
	maxHeading        = 200
	maxHeadingLeading = 1.5
)

// level is that of a heading, by its size compared with the text.
func (y *layout) level(p *building) int {
	if utf8.RuneCountInString(p.text.String()) > maxHeading {
		return 0
	}
	return y.levelOf(p.first.size)
}

// levelOf is the level of headings in type of a size.
func (y *layout) levelOf(size float64) int {
	switch ratio := size / y.size; {
	case ratio >= 1.6:
		return 1
	case ratio >= 1.35:
		return 2
	case ratio >= 1.12:
		return 3
	}
	return 0
}
