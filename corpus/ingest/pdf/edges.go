package pdf

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

// The lines that are looked at on each edge of a page, and the pages on which one comes again at least.
const (
	maxEdge  = 3
	minAgain = 3
)

// edgeLine is a line that is the first or the last of what is left of a page.
type edgeLine struct {
	*textLine
	apart bool // it stands apart from the text by its distance or its size, or is nothing but a number
	keys  []string
}

// edges finds running heads and page numbers: lines on one height of which several have something in common. They stand
// apart from the text.
func (y *layout) edges() {
	for range maxEdge {
		places := map[string][]edgeLine{}
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
				if l.size <= y.size*1.1 && (words != "" || counted != "") {
					place := fmt.Sprintf("%d %.0f", side, l.y/2)
					places[place] = append(places[place], edgeLine{
						textLine: l, apart: distance > 1.25*y.leading || words == "" || l.size < y.size-0.4,
						keys: append(outerNumbers(l.text, number), words+" "+counted),
					})
				}
			}
		}
		y.book.Uncertain = 0
		for _, lines := range places {
			y.take(lines)
		}
	}
}

// take finds the running heads and numbers among lines on one height. They have the same words, with a number that
// grows as the pages do, or such a number before or behind any words. The head of a short chapter may have neither, but
// most of the others come again.
func (y *layout) take(lines []edgeLine) {
	alike := map[string][]edgeLine{}
	for _, l := range lines {
		for _, key := range l.keys {
			alike[key] = append(alike[key], l)
		}
	}
	uncertain := map[*textLine]bool{}
	for _, group := range alike {
		apart := 0
		for _, l := range group {
			if l.apart {
				apart++
			}
		}
		for _, l := range group {
			if len(group) >= minAgain && apart*2 >= len(group) {
				l.leave()
			} else if len(group) >= minAgain {
				uncertain[l.textLine] = true
			}
		}
	}
	lines = slices.DeleteFunc(lines, func(l edgeLine) bool { return !l.apart })
	if len(lines) >= minAgain && comeAgain(lines)*2 >= len(lines) {
		for _, l := range lines {
			l.leave()
		}
	}
	for l := range uncertain {
		if l.kind == Body {
			y.book.Uncertain++
		}
	}
}

// comeAgain counts the lines that another one is the same as.
func comeAgain(lines []edgeLine) (n int) {
	same := map[string]int{}
	for _, l := range lines {
		same[l.text]++
	}
	for _, times := range same {
		if times > 1 {
			n += times
		}
	}
	return n
}

// leave makes a line one that is no part of the text.
func (l *textLine) leave() {
	l.kind = RunningHead
	if words, _ := numbered(l.text, 0); words == "" {
		l.kind = PageNumber
	}
}

// outerNumbers are the numbers that a line begins or ends with, as the differences to the number of the page.
func outerNumbers(text string, page int) (keys []string) {
	fields := strings.Fields(text)
	for _, f := range []string{fields[0], fields[len(fields)-1]} {
		if n, ok := number(strings.Trim(f, pageMarks)); ok {
			keys = append(keys, fmt.Sprintf("page %d", n-page))
		}
	}
	return slices.Compact(keys)
}

// pageMarks may be around the number of a page.
const pageMarks = "-–—[]()|·.•"

// numbered parts a line into its words and its number, as the difference to the number of the page.
func numbered(text string, page int) (words, counted string) {
	fields := strings.Fields(text)
	rest := fields[:0:0]
	for _, f := range fields {
		plain := strings.Trim(f, pageMarks)
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
