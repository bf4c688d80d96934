package ingest

import (
	"cmp"
	"slices"
	"strings"
	"unicode/utf8"

	"annotator"
)

// findContents leaves out lists of contents and of illustrations, and remembers what they list.
func (b *book) findContents() {
	b.indexTitles()
	tried := 0
	for i := 0; i < len(b.nodes); i++ {
		n := b.nodes[i]
		if !n.stays() || !n.isText() || n.copied {
			continue
		}
		part := partContents
		var end int
		switch readHeading(n.sourceLines()[0]).kind {
		case contentsList:
			end = b.listEnd(i)
		case pictureList:
			part, end = partIllustrations, max(b.listEnd(i), b.captionsEnd(i))
		default:
			end = cmp.Or(b.entryRun(i, 3, (*node).linkedEntries), b.entryRun(i, 4, (*node).numberedEntries),
				b.linkRun(i))
			if end == 0 && i >= tried {
				end, tried = b.repeatedRun(i)
			}
		}
		if end <= i || !b.isList(i, end) {
			continue
		}
		for k := i; k < end; k++ {
			if part == partContents {
				if len(b.listed) == 0 {
					b.contentsAt = i
				}
				b.remember(b.nodes[k])
			}
			b.leave(b.nodes[k], part)
		}
		i = end - 1
	}
	b.agree()
}

// maxPlainList is how many words a list may have of which nothing but its heading shows that it is one.
const maxPlainList = 300

// isList reports whether a list of some length has more evidence than its heading: numbers of pages, links, rows of a
// table, titles that recur.
func (b *book) isList(from, to int) bool {
	words, shown, lines := 0, 0, 0
	for k := from; k < to; k++ {
		n := b.nodes[k]
		if !n.isText() {
			continue
		}
		words += annotator.CountWords(n.text)
		if b.isSummary(k) {
			shown, lines = shown+1, lines+1
			continue
		}
		for _, line := range n.entryLines() {
			lines++
			if e := makeEntry(line); hasPageNumber(line) || n.tabular || n.linked > 0 || e.labelled() ||
				e.kind == numberOnly || b.comesAgain(e, to) {
				shown++
			}
		}
	}
	return words <= maxPlainList || shown*2 >= lines
}

// remember keeps what a list of contents lists.
func (b *book) remember(n *node) {
	if !n.isText() {
		return
	}
	for _, line := range n.sourceLines() {
		if e := makeEntry(line); len(b.listed) < maxList && (e.key != "" || e.number != 0) {
			b.listed = append(b.listed, e)
		}
	}
}

// agree marks the nodes that are listed in the contents.
func (b *book) agree() {
	keys := map[string]bool{}
	var titles []string
	for _, e := range b.listed {
		if utf8.RuneCountInString(e.key) >= 2 && !keys[e.key] {
			keys[e.key] = true
			titles = append(titles, e.key)
		}
	}
	from := b.contentsAt
	if from*2 > len(b.nodes) {
		from = 0 // the list is at the end
	}
	for i := from; i < len(b.nodes); i++ {
		n := b.nodes[i]
		if !n.stays() || !n.isText() || len(n.sourceLines()) > 2 || len(n.text) > maxHeading {
			continue
		}
		e := makeEntry(strings.Join(n.sourceLines(), " "))
		n.agrees = keys[e.key] || e.key != "" && slices.ContainsFunc(titles, func(title string) bool {
			return sameTitle(title, e.key) || nearlySame(title, e.key)
		})
	}
}

// A list's entries are short.
const (
	maxEntryWords = 25
	maxProseEntry = 12 // words of a sentence that may be an entry
	maxSummary    = 150
)

// isSummary reports whether a paragraph tells what is in the chapter that its first line or the entry above it lists.
// The label comes again, and the next number follows at once.
func (b *book) isSummary(i int) bool {
	above, below := b.previous(i), b.next(i)
	if above < 0 || below == len(b.nodes) || !b.nodes[i].hasText() || !shortText(b.nodes[i].text, maxSummary) {
		return false
	}
	entry := func(k int) contentsEntry { return makeEntry(b.nodes[k].sourceLines()[0]) }
	e, next := entry(above), entry(below)
	if own := entry(i); own.labelled() {
		e = own
	}
	return e.labelled() && b.comesAgain(e, below) && (next.kind == e.kind && next.number <= e.number+1 ||
		next.rank == container)
}

// captionsEnd finds the end of a list of illustrations whose captions may be spoken sentences: a wide gap or a label.
func (b *book) captionsEnd(i int) int {
	for end := i + 1; end < min(len(b.nodes), i+maxList); end++ {
		switch n := b.nodes[end]; {
		case n.kind == anchor:
		case end > i+1 && n.gap >= wideGap, n.kind == pause, n.page, readHeading(n.sourceLines()[0]).labelled():
			return end
		case !shortText(n.text, 2*maxEntryWords):
			return i
		}
	}
	return i
}

// isEntry reports whether a node may belong to a list: it is no prose.
func (b *book) isEntry(n *node) bool {
	if n.kind != paragraph || n.tabular || n.linked*2 > countCharacters(n.text) && n.isShortLinks() {
		return true
	}
	for _, line := range n.entryLines() {
		if hasPageNumber(line) {
			continue
		}
		words := annotator.CountWords(line)
		if words > maxEntryWords || words > maxProseEntry && endsSentence(line) && !isUpper(line) ||
			strings.HasPrefix(strings.TrimSpace(line), "“") && endsSentence(line) {
			return false
		}
	}
	return true
}

// maxList is how many nodes a list may have.
const maxList = 3000

// listEnd finds the end of the list with its heading at i. A list is followed by the headings of the first chapter,
// which repeat its first entries, and then text.
func (b *book) listEnd(i int) int {
	first, end := b.scanList(i)
	if start := b.firstChapter(i, end, first); start > i+1 {
		for start > i+1 && b.nodes[start-1].isText() &&
			readHeading(b.nodes[start-1].sourceLines()[0]).rank == container {
			start-- // the volume that the chapter begins
		}
		return start
	}
	last := i
	for k := i + 1; k < end; k++ {
		n := b.nodes[k]
		if n.tabular || n.linked > 0 || len(n.sourceLines()) > 2 || hasPageNumber(n.text) ||
			b.comesAgain(makeEntry(n.text), end) {
			last = k
		}
	}
	if last == i && b.nodes[i].kind != heading {
		return i // a paragraph of that word, and no list
	}
	return last + 1
}

// scanList returns the first entries of a list, and the node behind it that is no entry or repeats one of them.
func (b *book) scanList(i int) (first []contentsEntry, end int) {
	lines := 0
	for end = i + 1; end < min(len(b.nodes), i+maxList); end++ {
		n := b.nodes[end]
		if n.stays() && !b.isEntry(n) && !b.isSummary(end) ||
			lines >= 2 && b.repeatsFirst(end, first, false) >= 0 && !b.goesOn(end) {
			return first, end
		}
		if !n.isText() {
			continue
		}
		for _, line := range n.sourceLines() {
			if lines++; len(first) < 8 {
				entry := makeEntry(line)
				entry.node = end
				first = append(first, entry)
			}
		}
	}
	return first, end
}

// goesOn reports whether a label is followed by the next of its kind without text between: the list of a second volume.
func (b *book) goesOn(i int) bool {
	j := b.next(i)
	if j == len(b.nodes) {
		return false
	}
	e, next := makeEntry(b.nodes[i].sourceLines()[0]), makeEntry(b.nodes[j].sourceLines()[0])
	return e.labelled() && next.kind == e.kind && next.number == e.number+1
}

// maxBetween is how many nodes between the headings of the first chapter may be something else.
const maxBetween = 2

// firstChapter goes back from the end of a list to the first heading of the first chapter; 0 if there is none.
func (b *book) firstChapter(i, end int, first []contentsEntry) int {
	start, others, before := 0, 0, len(first)
	for k := min(end, len(b.nodes)-1); k > i+1 && others <= maxBetween; k-- {
		switch n, entry := b.nodes[k], b.repeatsFirst(k, first, true); {
		case !n.isText():
		case entry > before:
			return start // a number that the list has twice
		case entry >= 0:
			start, others, before = k, 0, entry
		case k < end:
			others++
		}
	}
	return start
}

// repeatsFirst finds the one of the first entries that a node repeats, other than by being it; -1 if there is none.
func (b *book) repeatsFirst(i int, first []contentsEntry, numbers bool) int {
	n := b.nodes[i]
	if !n.isText() || n.tabular || n.linked > 0 {
		return -1
	}
	lines := n.sourceLines()
	if len(lines) > 2 || hasPageNumber(n.text) {
		return -1
	}
	limit := 2
	if numbers {
		limit = 6
	}
	for _, text := range []string{strings.Join(lines, " "), lines[0]} {
		e := makeEntry(text)
		for k, listed := range first[:min(len(first), limit)] {
			if listed.node < i && e.repeats(listed, numbers) {
				return k
			}
		}
	}
	if numbers && b.title != "" && titleKey(n.text) == titleKey(b.title) {
		return 0
	}
	return -1
}

// indexTitles indexes the last position of each title and each numbered label.
func (b *book) indexTitles() {
	b.lastTitle = map[string]int{}
	for i, n := range b.nodes {
		if !n.isText() || len(n.text) > maxHeading || n.copied {
			continue
		}
		e := makeEntry(strings.Join(n.sourceLines(), " "))
		b.lastTitle[e.key] = i
		b.lastTitle[e.labelKey()] = i
	}
}

// comesAgain reports whether a title or a numbered label is a node by itself after a position.
func (b *book) comesAgain(e contentsEntry, from int) bool {
	return e.key != "" && b.lastTitle[e.key] >= from || e.labelled() && b.lastTitle[e.labelKey()] >= from
}

// run finds the end of the nodes from i on that belong together. What has no text does not end it.
func (b *book) run(i int, belongs func(k int, n *node) bool) int {
	end := i
	for k := i; k < len(b.nodes); k++ {
		n := b.nodes[k]
		if !n.isText() {
			continue
		}
		if !n.stays() || !belongs(k, n) {
			break
		}
		end = k + 1
	}
	return end
}

// entryRun finds the end of a run of paragraphs from i on that have entries of a list; 0 if these are too few.
func (b *book) entryRun(i, enough int, entries func(*node) int) int {
	total := 0
	end := b.run(i, func(_ int, n *node) bool {
		if n.kind != paragraph {
			return false
		}
		found := entries(n)
		total += found
		return found > 0
	})
	if total < enough {
		return 0
	}
	return end
}

// Limits of a list of links to chapters that are elsewhere.
const (
	minLinks       = 3
	maxBeforeLinks = 5 // words before each: its label, or the date of the one above
)

// linkRun finds the end of a list of links from i on that lead out of the text, as a site has them. Most of its entries
// have a label, in the link or before it; 0 if it is none.
func (b *book) linkRun(i int) int {
	isLink := func(n *node) bool {
		return n.anchored > 0 && n.anchored*5 >= countCharacters(n.text)*3 && n.isShortLinks()
	}
	links, labels := 0, 0
	end := b.run(i, func(k int, n *node) bool {
		labelled := readHeading(n.sourceLines()[0]).labelled()
		next := b.next(k)
		switch {
		case isLink(n):
			links++
		case k == i && !labelled, !shortText(n.text, maxBeforeLinks), next == len(b.nodes) || !isLink(b.nodes[next]):
			return false
		}
		if labelled {
			labels++
		}
		return true
	})
	if links < minLinks || labels*2 < links {
		return 0
	}
	return end
}

// isShortLinks reports whether a paragraph has the links that entries have, and not a text that is a link.
func (n *node) isShortLinks() bool {
	return annotator.CountWords(n.text) <= maxEntryWords*max(n.links, len(n.sourceLines()))
}

// linkedEntries counts the links or lines of a paragraph that is mostly links into the book.
func (n *node) linkedEntries() int {
	if n.linked*5 < countCharacters(n.text)*3 || !n.isShortLinks() {
		return 0
	}
	return max(n.links, len(n.sourceLines()))
}

// numberedEntries counts the lines with numbers of pages where most have one.
func (n *node) numberedEntries() int {
	hits, lines := 0, n.sourceLines()
	for _, line := range lines {
		if hasPageNumber(line) {
			hits++
		}
	}
	if hits*4 < len(lines)*3 {
		return 0
	}
	return hits
}

// repeatedRun finds the end of a run of headings without text between them that come again later; 0 if there is none.
// tried is the end of what it looked at.
func (b *book) repeatedRun(i int) (end, tried int) {
	var run []contentsEntry
	tried = b.run(i, func(k int, n *node) bool {
		entries := headingsIn(n)
		for _, e := range entries {
			e.node = k
			run = append(run, e)
		}
		return entries != nil
	})
	end = tried
	for k := len(run) - 1; k > 1; k-- { // the first chapter's own headings end the list
		if run[k].repeats(run[0], false) {
			run, end = run[:k], run[k].node
			break
		}
	}
	again, most, ofKind := 0, 0, map[headingKind]int{}
	for _, e := range run {
		if b.comesAgain(e, end) {
			again++
		}
		ofKind[e.kind]++
		most = max(most, ofKind[e.kind])
	}
	if most < 3 || again*10 < len(run)*7 { // a volume, a book and a chapter are no list
		return 0, tried
	}
	return end, tried
}
