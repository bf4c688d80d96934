package ingest

import (
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"annotator"
)

// readHeadings finds the paragraphs that are headings, reads what all headings say, and joins a number with the title
// behind it.
func (b *book) readHeadings() {
	for i, n := range b.nodes {
		if !n.stays() {
			continue
		}
		switch n.kind {
		case heading:
			n.head = readLines(n.sourceLines())
		case paragraph:
			if b.looksLikeHeading(i) {
				n.kind = heading
			} else if entry := b.previous(i); entry >= 0 && b.nodes[entry].copied &&
				titleKey(b.nodes[entry].text) == titleKey(n.text) {
				n.kind, n.level = heading, b.nodes[entry].level // the title again that the table of contents gives
			}
		}
	}
	b.dropPageNumbers()
	b.dropSpeakers()
	b.checkNumbers()
	b.findDoubtful()
	b.joinHeadings()
}

// dropSpeakers makes text of a name that comes again with no other heading between: the Prologue speaks.
func (b *book) dropSpeakers() {
	var before *node
	for _, n := range b.headings() {
		if before != nil && n.head.kind == namedHeading && titleKey(before.text) == titleKey(n.text) {
			n.unmakeHeading()
			before.unmakeHeading()
		}
		before = n
	}
}

// findDoubtful marks the headings that read like text, where most of their kind do not: "CHAPTER I--he had come,".
func (b *book) findDoubtful() {
	count, prose := map[string]int{}, map[string][]*node{}
	for _, n := range b.headings() {
		group, title := n.group(), n.head.title
		count[group]++
		if n.level == 0 && !n.agrees && title != "" && !isUpper(title) &&
			(endsSentence(title) || strings.ContainsAny(title[len(title)-1:], ",;:-") || isProse(title)) {
			prose[group] = append(prose[group], n)
		}
	}
	for group, all := range prose {
		for _, n := range all {
			n.doubt = len(all)*2 < count[group] || count[group] < 3
		}
	}
}

// isSpeech reports whether a text is a spoken sentence: "Last night, I believe."
func isSpeech(text string) bool {
	first, _ := utf8.DecodeRuneInString(text)
	return endsSentence(text) && (first == '"' || unicode.Is(unicode.Pi, first) ||
		unicode.Is(unicode.Pd, first) && strings.ContainsFunc(text, unicode.IsLower))
}

// dropPageNumbers leaves out the numbers of pages between paragraphs, and joins the paragraphs that they break. Numbers
// are those of pages if many are within sentences.
func (b *book) dropPageNumbers() {
	const enough = 5
	var at, within []int
	for i, n := range b.headings() {
		if n.level > 0 || !isDigits(strings.Trim(n.text, " -–—[]")) {
			continue
		}
		at = append(at, i)
		if b.breaksSentence(i) {
			within = append(within, i)
		}
	}
	if len(within) < enough || b.keep(partPageMarks) {
		return
	}
	for _, i := range at {
		b.leave(b.nodes[i], partPageMarks)
	}
	for _, i := range slices.Backward(within) {
		before, after := b.previous(i), b.next(i)
		b.nodes[before].text = joinLine(b.nodes[before].text, b.nodes[after].text)
		b.nodes[before].lines = nil
		b.nodes[after].text, b.nodes[after].kind = "", anchor
	}
}

// breaksSentence reports whether a sentence goes on behind a node.
func (b *book) breaksSentence(i int) bool {
	before, after := b.previous(i), b.next(i)
	if before < 0 || b.nodes[before].kind != paragraph || after == len(b.nodes) || b.nodes[after].kind != paragraph {
		return false
	}
	first, _ := utf8.DecodeRuneInString(b.nodes[after].text)
	return unicode.IsLower(first) && !endsSentence(b.nodes[before].text)
}

// previous is the node before i that is not left out and no anchor; -1 if there is none.
func (b *book) previous(i int) int {
	for i--; i >= 0; i-- {
		if n := b.nodes[i]; n.stays() && n.kind != anchor {
			break
		}
	}
	return i
}

// readLines reads a heading of one or more lines: "CHAPTER I", and below it its title.
func readLines(lines []string) wording {
	w := readHeading(lines[0])
	if len(lines) > 1 && (w.bare() || w.rank == container && w.title == "") {
		w.title = strings.Join(lines[1:], " ")
	} else if len(lines) > 1 && w.kind == noHeading {
		w = readHeading(strings.Join(lines, " "))
	}
	return w
}

// maxTitleLine is the length of a line, in characters, up to which it may be a heading without a label.
const maxTitleLine = 100

// looksLikeHeading reads a paragraph as a heading, if its wording, its look or the list of contents shows that it is
// one.
func (b *book) looksLikeHeading(i int) bool {
	n := b.nodes[i]
	lines := n.sourceLines()
	if len(lines) > 3 || n.gap == 0 && !n.page && !n.strong || n.tabular || n.anchored*2 > countCharacters(n.text) {
		return false
	}
	n.head = readLines(lines)
	wide := n.lines != nil && n.gap > 1 // in a plain text
	if wide && n.head.kind == noHeading && shortText(n.text, 3) && isTitleStart(n.text) &&
		!strings.ContainsAny(n.text, ".!?") {
		if w := readHeading(strings.ToUpper(n.text)); w.kind == numberOnly && w.bare() { // "Two"
			n.head = w
		}
	}
	for _, line := range lines {
		if utf8.RuneCountInString(line) > maxTitleLine && !n.head.labelled() {
			n.head = wording{}
			return false
		}
	}
	switch w := n.head; {
	case len(lines) > 1 && isProse(joinTitle(lines[1:])),
		w.kind == contentsList, w.kind == pictureList, w.kind == endMark, isSpeech(n.text) && !n.agrees:
		n.head = wording{}
		return false
	case w.labelled(), w.kind == namedHeading && len(lines) == 1 && isTitleStart(lines[0]):
		return !strings.HasSuffix(strings.TrimSpace(lines[len(lines)-1]), ",")
	case w.kind == numberOnly && len(lines) == 2 && readHeading(lines[0]).bare() && isTitleStart(lines[1]) &&
		!endsSentence(lines[1]) && annotator.CountWords(lines[1]) <= maxProseEntry:
		return !strings.ContainsFunc(lines[0], unicode.IsLower)
	case w.kind == numberOnly && len(lines) == 1 && (w.title == "" || isUpper(w.title) || n.strong || wide),
		n.agrees && isTitleStart(lines[0]):
		return true
	case n.strong && len(lines) == 1 && !endsSentence(n.text) && annotator.CountWords(n.text) <= maxProseEntry &&
		isTitleStart(n.text):
		return true
	}
	n.head = wording{}
	return false
}

// group names the headings that are of one kind: by their label whatever their level, else by their level.
func (n *node) group() string {
	level := strconv.Itoa(n.level)
	switch {
	case n.listed:
		return "listed" + level
	case n.head.labelled(), n.head.kind != noHeading && n.head.kind != numberOnly:
		return string(n.head.kind)
	case n.head.kind == numberOnly && n.level > 0:
		return "number" + level
	case n.head.kind == numberOnly && n.head.title != "":
		return titledNumbers
	case n.head.kind == numberOnly:
		return numbers
	case n.level > 0:
		return "level" + level
	case n.agrees:
		return "agrees"
	}
	return "strong"
}

// The groups of numbers without label and markup.
const (
	numbers       = "number"
	titledNumbers = "titled"
)

// ofGroups are the places of the headings of some groups.
func (b *book) ofGroups(groups map[string]bool) []int {
	var at []int
	for i, n := range b.headings() {
		if groups[n.group()] {
			at = append(at, i)
		}
	}
	return at
}

// checkNumbers makes bare numbers paragraphs again that are in no count: without markup nothing else shows that they
// are headings.
func (b *book) checkNumbers() {
	for _, group := range []string{numbers, titledNumbers} {
		at := b.ofGroups(map[string]bool{group: true})
		all := make([]int, len(at))
		for k, i := range at {
			all[k] = b.nodes[i].head.number
		}
		belongs := inCount(all)
		first := slices.Index(belongs, true)
		alone := first >= 0 && !slices.Contains(belongs[first+1:], true) && group == numbers &&
			b.wordsBetween(0, at[first]) > 0
		for k, i := range at {
			if !belongs[k] || alone {
				b.nodes[i].unmakeHeading()
			}
		}
	}
}

// unmakeHeading makes text of a heading that neither markup nor a list of contents shows to be one.
func (n *node) unmakeHeading() {
	if n.kind == heading && n.level == 0 && !n.agrees {
		n.kind, n.head = paragraph, wording{}
	}
}

// next is the node behind i that is not left out and no anchor; len(b.nodes) if there is none.
func (b *book) next(i int) int {
	for i++; i < len(b.nodes); i++ {
		if n := b.nodes[i]; n.stays() && n.kind != anchor && (n.kind != pause || n.text != "") {
			return i
		}
	}
	return i
}

// joinHeadings joins a number or a label with the title that follows it. The title is a heading, in capitals, in the
// list of contents, or like most of its kind.
func (b *book) joinHeadings() {
	followed, bare := map[string]int{}, map[string]int{}
	for i, n := range b.headings() {
		if n.head.bare() && !n.copied {
			bare[n.group()]++
			if b.titleFollows(i) {
				followed[n.group()]++
			}
		}
	}
	usual := map[string]bool{}
	for group, n := range bare {
		usual[group] = n > 2 && followed[group]*10 >= n*7
	}
	for i, n := range b.headings() {
		if n.copied || !n.head.bare() {
			continue
		}
		if j := b.next(i); j < len(b.nodes) && (b.isTitleOf(i, j) || usual[n.group()] && b.titleFollows(i)) {
			n.title, b.nodes[j] = b.nodes[j], &node{kind: anchor}
			n.head.title = oneLine(n.title.text)
		}
	}
}

// isTitleOf reports whether the heading at i, which is a number, has its title in the node at j.
func (b *book) isTitleOf(i, j int) bool {
	n, m := b.nodes[i], b.nodes[j]
	// "X.", and below it "THE EPILOGUE"
	named := m.head.kind == namedHeading && m.level == 0 && n.head.rank != container
	if m.kind == pause || m.head.kind != noHeading && !named || m.copied || m.doc != n.doc && !m.strong {
		return false
	}
	after := b.next(j)
	if after == len(b.nodes) {
		return false
	}
	text := b.nodes[after].kind == paragraph
	switch {
	case m.kind == heading && m.level > 0:
		return m.level >= n.level && (text || n.head.rank == container)
	case len(m.sourceLines()) > 5 || !shortText(m.text, 45) || !isUpper(m.text) &&
		(len(m.sourceLines()) > 3 || !shortText(m.text, 25)):
		return false
	case n.head.rank == container:
		return !text && b.nodes[after].kind == heading && shortText(m.text, maxProseEntry) &&
			!endsSentence(strings.TrimRight(m.text, "."))
	}
	// "DEAR FATHER,"
	emphasized := strings.ContainsAny(m.sourceLines()[0][:1], "\"'([_“") || strings.HasSuffix(m.text, ",")
	return text && n.level == 0 && !emphasized && (isUpper(m.text) && len(titleKey(m.text)) > 1 || m.agrees)
}

// titleFollows reports whether the paragraph behind the heading at i looks like a title.
func (b *book) titleFollows(i int) bool {
	j := b.next(i)
	if j == len(b.nodes) || b.nodes[j].kind != paragraph || len(b.nodes[j].sourceLines()) > 2 ||
		!shortText(b.nodes[j].text, maxProseEntry) || b.nodes[j].doc != b.nodes[i].doc {
		return false
	}
	text := strings.TrimSpace(b.nodes[j].text)
	first, _ := utf8.DecodeRuneInString(text)
	last, _ := utf8.DecodeLastRuneInString(text)
	after := b.next(j)
	return startsTitle(first) && !endsSentence(text) && !strings.ContainsRune(",;:」”\"", last) &&
		after < len(b.nodes) && b.nodes[after].kind == paragraph && !shortText(b.nodes[after].text, 6)
}

func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }
