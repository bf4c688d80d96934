package ingest

import (
	"strings"
	"unicode/utf8"
)

// seriesForm is a way to read a line that may be anything for itself.
type seriesForm struct {
	kind     headingKind
	read     func(b *book, i int) (form string, w wording, ok bool)
	least    int  // words below each
	enough   int  // lines
	unspoken bool // none may be spoken
}

// seriesForms are the forms of series. If capitals are no further from the text than paragraphs, they are headings only
// above longer parts.
var seriesForms = [...]seriesForm{
	{countedHeading, (*book).readCounted, 8, 3, false},
	{countedHeading, (*book).readPrefixed, 8, 3, false},
	{countedHeading, (*book).readNumbered, 60, 3, true},
	{datedHeading, (*book).readDated, 5, 3, false},
	{capitalHeading, (*book).readWideCapitals, 15, 3, false},
	{capitalHeading, (*book).readCapitals, 60, 4, true},
}

// candidate is a line of a series, as what it is in the outline of the series.
type candidate struct {
	node int
	kind nodeKind
	head wording
}

// series is lines of one form, which may be the headings of chapters.
type series []candidate

// swap makes headings of the lines of a series, or makes them again what they were.
func (b *book) swap(s series) {
	for k := range s {
		c := &s[k]
		n := b.nodes[c.node]
		n.kind, n.head, c.kind, c.head = c.kind, c.head, n.kind, n.head
	}
}

// isDoubtful reports whether most lines of a series are no headings for themselves. The series is swapped in.
func (s series) isDoubtful() bool {
	headings := 0
	for _, c := range s {
		if c.kind == heading {
			headings++
		}
	}
	return headings*2 < len(s)
}

// findSeries finds the lines that may be headings as a series: they stand alone, and text is below each.
func (b *book) findSeries() []series {
	if b.one {
		return nil
	}
	upTo := make([]int, len(b.nodes)+1) // words before each node
	for i := range b.nodes {
		upTo[i+1] = upTo[i] + b.wordsBetween(i, i+1)
	}
	var found []series
	for _, f := range seriesForms {
		byForm := map[string]series{}
		var forms []string
		for i := range b.nodes {
			if !b.standsAlone(i) {
				continue
			}
			if form, w, ok := f.read(b, i); ok {
				if byForm[form] == nil {
					forms = append(forms, form)
				}
				w.kind = f.kind
				byForm[form] = append(byForm[form], candidate{i, heading, w})
			}
		}
		for _, form := range forms {
			if s := f.regular(b, byForm[form], upTo); s != nil {
				found = append(found, s)
			}
		}
	}
	return found
}

// standsAlone reports whether a node is a line or two between paragraphs, with text below it. A number may be a heading
// for itself.
func (b *book) standsAlone(i int) bool {
	n := b.nodes[i]
	number := n.kind == heading && n.level == 0 && n.head.kind == numberOnly && n.title == nil
	switch {
	case !n.stays() || n.kind != paragraph && !number, n.tabular, n.gap == 0 && !n.page, len(n.text) > maxHeading,
		len(n.sourceLines()) > 2, n.anchored*2 > countCharacters(n.text):
		return false
	}
	below := b.next(i)
	return below < len(b.nodes) && b.nodes[below].kind == paragraph
}

// regular returns the lines that may be the headings of chapters; nil if they are none. upTo has the words before each
// node.
func (f *seriesForm) regular(b *book, all series, upTo []int) series {
	below := func(k int) int {
		end := len(b.nodes)
		if k+1 < len(all) {
			end = all[k+1].node
		}
		return upTo[end] - upTo[all[k].node+1]
	}
	if f.kind == countedHeading {
		all = counted(all)
	}
	for len(all) > 0 && below(0) < f.least { // the title of the book
		all = all[1:]
	}
	seen := map[string]bool{}
	for k, c := range all {
		key := titleKey(b.nodes[c.node].text)
		if f.kind == capitalHeading && seen[key] || f.unspoken && k > 0 && b.isSpoken(c.node) || below(k) < f.least {
			return nil
		}
		seen[key] = true
	}
	if len(all) < f.enough {
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

// readPrefixed reads a label and its number, or a number at the end, behind words that all lines of the series have:
// "The Long Night – Chapter 3: Snow", "The Long Night 3", "The Long Night – Epilogue".
func (b *book) readPrefixed(i int) (form string, w wording, ok bool) {
	line := oneLine(strings.Map(plainSign, b.nodes[i].text))
	tokens := tokenize(line)
	if len(tokens) < 3 || len(tokens) > maxEntryWords || !isTitleStart(line) {
		return "", w, false
	}
	for k, t := range tokens[1:] {
		w = wording{}
		if kind := words().labels[t.text]; kind != noHeading || words().lists[t.text] == namedHeading {
			w = readHeading(line[t.start:])
		} else if k == len(tokens)-2 {
			w.number = ReadNumber(line[t.start:])
		}
		if w.number > 0 && w.number < lastNumber || w.kind == namedHeading {
			return fold(line[:t.start]), w, !endsSentence(strings.TrimRight(w.title, "."))
		}
	}
	return "", w, false
}

// readNumbered reads a number with a title behind it and not always a mark between: "7 A Visitor".
func (b *book) readNumbered(i int) (form string, w wording, ok bool) {
	line := oneLine(strings.Map(plainSign, b.nodes[i].text))
	digits, title, ok := strings.Cut(line, " ")
	digits = strings.TrimRight(digits, ".:)")
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
