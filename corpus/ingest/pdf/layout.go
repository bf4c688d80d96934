package pdf

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// textLine is a line of a page.
type textLine struct {
	text      string
	x, end, y float64
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
	var b strings.Builder
	var l *textLine
	end := func() {
		if l != nil && strings.TrimSpace(b.String()) != "" {
			l.text = strings.Join(strings.Fields(b.String()), " ")
			l.bold = l.strong*2 > l.letters
			lines = append(lines, l)
		}
		l = nil
		b.Reset()
	}
	for _, c := range chunks {
		unknown := strings.Count(c.text, "\uFFFD")
		y.book.Unknown += unknown
		n := utf8.RuneCountInString(c.text)
		y.known += n - unknown
		blank := strings.TrimSpace(c.text) == ""
		if l != nil && (math.Abs(c.y-l.y) > 0.5*max(l.size, c.size) || c.x < l.end-max(l.size, c.size)) {
			end()
		}
		if l == nil {
			if blank {
				continue
			}
			l = &textLine{x: c.x, end: c.x, y: c.y, page: number}
		}
		gap := 0.15
		if c.guessed {
			gap = 0.5
		}
		if c.x-l.end > gap*c.size {
			b.WriteByte(' ')
		}
		b.WriteString(c.text)
		l.end = max(l.end, c.end)
		if blank {
			continue
		}
		if l.letters == 0 || n > 2 && c.size > l.size {
			l.size = c.size
			l.y = c.y
		}
		l.letters += n
		if c.bold {
			l.strong += n
		}
	}
	end()
	y.pages = append(y.pages, y.order(lines))
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

// The lines that are looked at on each edge of a page, and the pages on which one comes again at least.
const (
	maxEdge  = 3
	minAgain = 3
)

// edges finds running heads and page numbers. They come again on one height, with the same words or with a number that
// grows as the pages do. They stand apart from the text by distance or size, or are nothing but a number.
func (y *layout) edges() {
	for range maxEdge {
		found := map[string][]*textLine{}
		apart := map[*textLine]bool{}
		for number, page := range y.pages {
			body := slices.DeleteFunc(slices.Clone(page), func(l *textLine) bool { return l.kind != Body })
			if len(body) == 0 {
				continue
			}
			for side, i := range []int{0, len(body) - 1} {
				l := body[i]
				distance := math.Inf(1)
				if len(body) > 1 {
					distance = math.Abs(body[min(i, len(body)-2)].y - body[max(i, 1)].y)
				}
				words, counted := numbered(l.text, number)
				apart[l] = distance > 1.25*y.leading || words == "" || l.size < y.size-0.4
				if l.size <= y.size*1.1 && (words != "" || counted != "") {
					key := fmt.Sprintf("%d %.0f %s %s", side, l.y/2, words, counted)
					found[key] = append(found[key], l)
				}
			}
		}
		y.take(found, apart)
	}
}

func (y *layout) take(found map[string][]*textLine, apart map[*textLine]bool) {
	y.book.Uncertain = 0
	for _, lines := range found {
		n := 0
		for _, l := range lines {
			if apart[l] {
				n++
			}
		}
		switch {
		case len(lines) < minAgain:
			continue
		case n*2 < len(lines):
			y.book.Uncertain += len(lines)
			continue
		}
		for _, l := range lines {
			l.kind = RunningHead
			if words, _ := numbered(l.text, 0); words == "" {
				l.kind = PageNumber
			}
		}
	}
}

// numbered parts a line into its words and its number, as the difference to the number of the page.
func numbered(text string, page int) (words, counted string) {
	fields := strings.Fields(text)
	rest := fields[:0:0]
	for _, f := range fields {
		plain := strings.Trim(f, "-–—[]()|·.•")
		n, ok := number(plain)
		switch {
		case plain == "" && len(fields) > 1:
		case ok:
			counted += fmt.Sprintf("%d ", n-page)
		default:
			rest = append(rest, f)
		}
	}
	return strings.Join(rest, " "), counted
}

// number reads digits, or small Roman numerals as front matter has them.
func number(s string) (int, bool) {
	n, last := 0, 0
	if s == "" || len(s) > 6 {
		return 0, false
	}
	if s[0] >= '0' && s[0] <= '9' {
		for i := range len(s) {
			if s[i] < '0' || s[i] > '9' {
				return 0, false
			}
			n = n*10 + int(s[i]-'0')
		}
		return n, true
	}
	for i := len(s) - 1; i >= 0; i-- {
		v := map[byte]int{'i': 1, 'v': 5, 'x': 10, 'l': 50, 'c': 100}[s[i]]
		switch {
		case v == 0:
			return 0, false
		case v < last:
			n -= v
		default:
			n, last = n+v, v
		}
	}
	return n, true
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

// maxHeading is how long a heading may be, in characters.
const maxHeading = 200

// level is that of a heading, by its size compared with the text.
func (y *layout) level(p *building) int {
	if utf8.RuneCountInString(p.text.String()) > maxHeading {
		return 0
	}
	switch ratio := p.first.size / y.size; {
	case ratio >= 1.6:
		return 1
	case ratio >= 1.35:
		return 2
	case ratio >= 1.12:
		return 3
	}
	return 0
}
