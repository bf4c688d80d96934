package ingest

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// series is lines of one form, each of which for itself may be anything.
type series struct {
	kind          headingKind
	read          func(b *book, i int) (form string, w wording, ok bool)
	median, least int  // words below each
	enough        int  // lines
	unspoken      bool // none may be spoken
}

// allSeries are looked for in this order. If capitals are no further from the text than paragraphs, they are headings
// only above longer parts.
var allSeries = [...]series{
	{countedHeading, (*book).readCounted, 25, 8, 3, false},
	{countedHeading, (*book).readNumbered, 100, 60, 3, true},
	{datedHeading, (*book).readDated, 25, 5, 3, false},
	{capitalHeading, (*book).readWideCapitals, 40, 15, 3, false},
	{capitalHeading, (*book).readCapitals, 100, 60, 4, true},
}

// candidate is a line of a series.
type candidate struct {
	node int
	head wording
}

// findSeries makes headings of lines that are recognised only as a series. The book has no other headings, begins with
// the first of them, and has parts of some length below them. Dates within a letter, signs of shops and shouted words
// have no such positions.
func (b *book) findSeries() {
	if b.one || b.hasGroups() {
		return
	}
	upTo := make([]int, len(b.nodes)+1) // words before each node
	for i := range b.nodes {
		upTo[i+1] = upTo[i] + b.wordsBetween(i, i+1)
	}
	named := b.firstNamed()
	for _, s := range allSeries {
		byForm := map[string][]candidate{}
		var forms []string
		for i := range b.nodes {
			if !b.standsAlone(i) {
				continue
			}
			if form, w, ok := s.read(b, i); ok {
				if byForm[form] == nil {
					forms = append(forms, form)
				}
				w.kind = s.kind
				byForm[form] = append(byForm[form], candidate{i, w})
			}
		}
		for _, form := range forms {
			if all := s.headings(b, byForm[form], upTo, named); all != nil {
				for _, c := range all {
					b.nodes[c.node].kind, b.nodes[c.node].head = heading, c.head
				}
				return
			}
		}
	}
}

// hasGroups reports whether a book has several headings of one kind that may begin chapters.
func (b *book) hasGroups() bool {
	count := map[string]int{}
	for _, n := range b.headings() {
		if n.listed || n.head.kind != namedHeading && n.head.rank != container {
			count[n.group()]++
		}
		if count[n.group()] > 1 {
			return true
		}
	}
	return false
}

// firstNamed is the first heading that is a name, as a prologue; len(b.nodes) if there is none.
func (b *book) firstNamed() int {
	for i, n := range b.headings() {
		if n.head.kind == namedHeading {
			return i
		}
	}
	return len(b.nodes)
}

// standsAlone reports whether a node is a line or two between paragraphs, with text below it.
func (b *book) standsAlone(i int) bool {
	n := b.nodes[i]
	switch {
	case !n.hasText(), n.tabular, n.gap == 0 && !n.page, len(n.text) > maxHeading, len(n.sourceLines()) > 2,
		n.anchored*2 > countCharacters(n.text):
		return false
	}
	below := b.next(i)
	return below < len(b.nodes) && b.nodes[below].kind == paragraph
}

// How much of a book may precede the first heading of a series: a title page, a preface.
const (
	maxBeforeSeries = 60 // words,
	shareBefore     = 10 // or, of all, one in this many
)

// headings are the candidates that are headings; nil if the series is none. upTo has the words before each node, named
// is the first heading that is a name.
func (s *series) headings(b *book, all []candidate, upTo []int, named int) []candidate {
	below := func(k int) int {
		end := len(b.nodes)
		if k+1 < len(all) {
			end = all[k+1].node
		}
		return upTo[end] - upTo[all[k].node+1]
	}
	total := upTo[len(b.nodes)]
	if s.kind == countedHeading {
		all = counted(all)
	}
	for len(all) > 0 && below(0) < s.least { // the title of the book
		all = all[1:]
	}
	if len(all) < s.enough || upTo[min(all[0].node, named)] > max(maxBeforeSeries, total/shareBefore) {
		return nil
	}
	var sizes []int
	seen := map[string]bool{}
	for k, c := range all {
		key := titleKey(b.nodes[c.node].text)
		switch {
		case s.kind == capitalHeading && seen[key],
			s.unspoken && k > 0 && b.isSpoken(c.node):
			return nil
		}
		seen[key] = true
		sizes = append(sizes, below(k))
	}
	slices.Sort(sizes)
	// one is most of the book
	if last := len(sizes) - 1; sizes[0] < s.least || sizes[last/2] < s.median || sizes[last]*5 > total*3 {
		return nil
	}
	return all
}

// readCounted reads a word with a number, in this or the other order, which may have a title behind a mark.
func (b *book) readCounted(i int) (form string, w wording, ok bool) {
	line := strings.TrimSpace(strings.Map(plainSign, b.nodes[i].sourceLines()[0]))
	tokens := tokenize(line)
	if len(tokens) < 2 || !isTitleStart(line) || utf8.RuneCountInString(line) > maxTitleLine {
		return "", w, false
	}
	v := words()
	n, used := v.number(line, tokens, "")
	if used > 0 && used < len(tokens) { // "2. luku"
		form, used = "n "+tokens[used].text, used+1
	} else if n, used = v.number(line, tokens[1:], tokens[0].text); used > 0 { // "Luku 2"
		form, used = tokens[0].text+" n", used+1
	}
	if used == 0 || n == lastNumber {
		return "", w, false
	}
	title, ok := titleBehind(line[tokens[used-1].end:])
	return form, wording{number: n, title: title}, ok && !endsSentence(strings.TrimRight(title, "."))
}

// readNumbered reads a number with a title behind it and no mark between: "7 A Visitor".
func (b *book) readNumbered(i int) (form string, w wording, ok bool) {
	line := oneLine(strings.Map(plainSign, b.nodes[i].text))
	digits, title, ok := strings.Cut(line, " ")
	n := ReadNumber(digits)
	return "", wording{number: n, title: title}, ok && n > 0 && n <= maxNumber && isTitleStart(digits) &&
		isTitleStart(title) && !endsSentence(title) && shortText(title, maxProseEntry)
}

// readDated reads a date.
func (b *book) readDated(i int) (form string, w wording, ok bool) {
	return "", w, words().readDate(oneLine(b.nodes[i].text))
}

// readWideCapitals reads a line in capitals as a heading. It is further from the text before it than paragraphs are,
// and no nearer to that than to the text below.
func (b *book) readWideCapitals(i int) (form string, w wording, ok bool) {
	n := b.nodes[i]
	return "", w, n.gap > 1 && n.gap >= b.nodes[b.next(i)].gap && b.isCapitals(i)
}

// readCapitals reads a line in capitals.
func (b *book) readCapitals(i int) (form string, w wording, ok bool) { return "", w, b.isCapitals(i) }

// spokenMarks are those of speech.
const spokenMarks = "!?\"“”«»"

// isSpoken reports whether a line in capitals is spoken or read out: by its own marks, or because the text before leads
// to it.
func (b *book) isSpoken(i int) bool {
	text, before := b.nodes[i].text, b.previous(i)
	if strings.ContainsAny(text, spokenMarks) || strings.HasSuffix(text, ",") {
		return true
	}
	return before >= 0 && b.nodes[before].hasText() && !endsSentence(b.nodes[before].text)
}

// isCapitals reports whether a node is a line in capitals that has no other meaning.
func (b *book) isCapitals(i int) bool {
	text := b.nodes[i].text
	return isUpper(text) && shortText(text, maxProseEntry) && len(titleKey(text)) > 1 && isTitleStart(text) &&
		!strings.ContainsAny(text[:1], "[(") && readHeading(text).kind == noHeading
}
