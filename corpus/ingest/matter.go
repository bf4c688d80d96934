package ingest

import (
	"regexp"
	"slices"
	"strings"

	"annotator"
)

var (
	licenceStart = regexp.MustCompile(`(?i)\*\*\* ?START OF (?:THE|THIS) PROJECT GUTENBERG|\*END\*? ?THE SMALL PRINT`)
	licenceEnd   = regexp.MustCompile(`(?i)^\W*END OF (?:THE |THIS )?PROJECT GUTENBERG|` +
		`^\W*End of (?:the )?Project Gutenberg`)
)

// isLicenceMark reports whether a line begins or ends what the archive has put around a text.
func isLicenceMark(line string) bool {
	if !strings.Contains(line, "utenberg") && !strings.Contains(line, "UTENBERG") &&
		!strings.Contains(line, "SMALL PRINT") {
		return false
	}
	return licenceStart.MatchString(line) || licenceEnd.MatchString(line)
}

// dropLicence leaves out what the archive of a text has put before and behind it. It is known by its wording.
func (b *book) dropLicence() {
	first, last := -1, len(b.nodes)
	for i, n := range b.nodes {
		if !n.inSource() || !isLicenceMark(n.text) {
			continue
		}
		switch {
		case i*2 < len(b.nodes) && licenceStart.MatchString(n.text) && mentionsArchive(b.nodes[:i+1]):
			first = i
		case i > first && licenceEnd.MatchString(n.text):
			last = i
		}
		if last < len(b.nodes) {
			break
		}
	}
	if last < len(b.nodes) {
		behind := func(n *node) bool {
			return !n.inSource() || shortText(n.text, 12) && words().matches(partLicence, n.text)
		}
		for last > first+1 && behind(b.nodes[last-1]) {
			last--
		}
	}
	for i, n := range b.nodes {
		if i <= first || i >= last {
			b.leave(n, partLicence)
		}
	}
}

// mentionsArchive reports whether some nodes name the archive.
func mentionsArchive(nodes []*node) bool {
	return slices.ContainsFunc(nodes, func(n *node) bool {
		return strings.Contains(strings.ToLower(n.text), "project gutenberg")
	})
}

func shortText(text string, words int) bool {
	return len(text) < 40*words && annotator.CountWords(text) <= words
}

// zone is a run of nodes between blank space, headings or breaks, before the first chapter or behind the last.
type zone struct {
	from, to int // nodes, the end not included
	words    int
	lines    int
	signals  map[string]int // lines that show what it is
	begins   string         // what its first line shows
	sentence bool           // it has a sentence
}

// wideGap is how many blank lines show that something else begins.
const wideGap = 3

// zones takes nodes apart at headings, breaks, pages and wide gaps.
func (b *book) zones(from, to int) []zone {
	var all []zone
	for i := from; i < to; i++ {
		n := b.nodes[i]
		if !n.stays() || n.kind == anchor {
			continue
		}
		fresh := len(all) == 0 || n.kind == heading && !n.copied || n.kind == pause || n.gap >= wideGap ||
			n.doc != b.nodes[all[len(all)-1].to-1].doc
		if fresh {
			all = append(all, zone{from: i, signals: map[string]int{}})
		}
		z := &all[len(all)-1]
		z.to = i + 1
		z.words += annotator.CountWords(n.text)
		z.sentence = z.sentence || annotator.CountWords(n.text) > 8 && endsSentence(n.text) && !isUpper(n.text)
		z.readSignals(n, z.from == i)
	}
	return all
}

// maxSignalLine is how much of a line is looked at, in bytes: a paragraph without line ends may be as long as a book.
const maxSignalLine = 4000

// readSignals counts the lines of a node that are signals, by the part that they signal.
func (z *zone) readSignals(n *node, isFirst bool) {
	for k, line := range n.sourceLines() {
		z.lines++
		line = line[:min(len(line), maxSignalLine)]
		if words().matches(partTags, line) {
			z.signals[partTags]++
		}
		for _, kind := range []string{partMakerNotes, partAdvertisements, partImprint} {
			if !words().matches(kind, strings.Trim(line, " _*=")) {
				continue
			}
			z.signals[kind]++
			if isFirst && k == 0 && z.begins == "" {
				z.begins = kind
			}
		}
	}
}

// Limits of the zones that are left out.
const (
	maxZone       = 80  // words, without any signal
	maxTitlePage  = 400 // words of such zones before the story
	maxSignalled  = 150 // words, with one signal
	wordsASignal  = 60  // words for each signal of a longer zone
	maxMakerNotes = 300 // words of a zone whose first line is a signal of maker notes
)

// kind returns the part that the signals of a zone identify; "" if there is none.
func (z *zone) kind() string {
	if n := z.signals[partTags]; n > 2 && n*2 >= z.lines {
		return partTags
	}
	if z.begins == partMakerNotes && z.words <= maxMakerNotes {
		return partMakerNotes
	}
	for _, kind := range []string{partMakerNotes, partAdvertisements, partImprint} {
		n := z.signals[kind]
		if n > 0 && z.words <= maxSignalled && (n > 1 || z.words <= maxZone) || n > 2 && n*wordsASignal >= z.words {
			return kind
		}
	}
	return ""
}

// dropFront leaves out the title page and other text before the first chapter that is no part of the story.
func (b *book) dropFront(first int) {
	all := b.zones(0, first)
	titlePage := len(b.listed) > 0 || b.licensed()
	for i := range all {
		titlePage = titlePage || all[i].kind() != "" || b.namesBook(&all[i])
	}
	words, begun := 0, false // of the title page; the sections of the story
	for i := range all {
		z := &all[i]
		part := z.kind()
		if part == "" {
			section := b.nodes[z.from].kind == heading && z.sentence && !b.namesBook(z)
			begun = begun || section || z.words > maxZone || words+z.words > maxTitlePage
			if !begun && (titlePage || !z.sentence) {
				part, words = partTitlePage, words+z.words
			}
		}
		b.leaveZone(z, part)
	}
}

func (b *book) leaveZone(z *zone, part string) {
	if part == "" {
		return
	}
	for _, n := range b.nodes[z.from:z.to] {
		b.leave(n, part)
	}
}

// licensed reports whether an archive's licence was left out.
func (b *book) licensed() bool {
	return slices.ContainsFunc(b.nodes, func(n *node) bool { return n.part == partLicence })
}

// namesBook reports whether a line of a zone is the book's title or author.
func (b *book) namesBook(z *zone) bool {
	for i := z.from; i < z.to; i++ {
		for _, line := range b.nodes[i].sourceLines() {
			key := titleKey(line)
			if len(key) > 2 && (key == titleKey(b.title) || key == titleKey(b.author) ||
				key == "by"+titleKey(b.author)) || byLine.MatchString(line) {
				return true
			}
		}
	}
	return false
}

var byLine = regexp.MustCompile(`^[^\pL\pN]*(?:(.{2,80}?),? )?(?i:by)[^\pL\pN]+(\p{Lu}[\p{L}.'’-]*(?: ` +
	`[\p{Lu}\p{L}.'’-]+){0,4})\W*$`)

// dropBehindEnd leaves out text after the words that end the story: advertisements, the printer, the makers' notes.
// What shows none of these signs and is more than a few lines stays.
func (b *book) dropBehindEnd() {
	end := -1
	for i, n := range b.nodes {
		if n.stays() && !n.copied && n.isText() && readHeading(n.sourceLines()[0]).kind == endMark &&
			len(n.sourceLines()) == 1 {
			end = i
		}
	}
	if end < 0 || b.wordsBetween(end+1, len(b.nodes))*2 > b.wordsBetween(0, len(b.nodes)) {
		return
	}
	b.leave(b.nodes[end], partTitlePage)
	all := b.zones(end+1, len(b.nodes))
	signals, words := 0, 0
	for i := range all {
		words += all[i].words
		signals += all[i].signals[partAdvertisements] + all[i].signals[partImprint] + all[i].signals[partMakerNotes]
	}
	shop := signals > 4 && signals*wordsASignal*2 >= words
	for i := range all {
		z := &all[i]
		part, lines := z.kind(), b.nodes[z.from].sourceLines()
		switch {
		case part != "":
		case readLines(lines).labelled() && z.words > maxZone, readHeading(lines[0]).kind == namedHeading:
			return
		case shop:
			part = partAdvertisements
		case z.words <= maxZone:
			part = partImprint
		}
		b.leaveZone(z, part)
	}
}

// noteStart is what a note begins with that its text refers to.
var noteStart = regexp.MustCompile(`^\W*(?:(?i:footnote|note) )?(?:\d{1,4}|[*†‡]+)[\])}:. ]`)

// dropNotes leaves out notes below a heading of their own behind the last chapter. Most of them begin with a mark.
func (b *book) dropNotes(last int) {
	for i := last; i < len(b.nodes); i++ {
		n := b.nodes[i]
		if !n.stays() || !n.isText() || n.copied || !isNotesTitle(n.text) {
			continue
		}
		if areNotes(n.text, b.nodes[i+1:]) {
			b.leaveZone(&zone{from: i, to: len(b.nodes)}, partNotes)
		}
		return
	}
}

func isNotesTitle(text string) bool { return shortText(text, 4) && words().matches(partNotes, text) }

// areNotes reports whether most paragraphs below a title of notes begin with a mark.
func areNotes(title string, below []*node) bool {
	if !isNotesTitle(title) {
		return false
	}
	marked, all := 0, 0
	for _, n := range below {
		if n.hasText() {
			all++
			if noteStart.MatchString(n.text) {
				marked++
			}
		}
	}
	return marked > 0 && marked*2 >= all
}

// endNodes is how many nodes at either end of a book without chapters, or behind the last, are looked at.
const endNodes = 300

// dropTail leaves out makers' notes and the printer's line at the very end of a story without an end mark.
func (b *book) dropTail(last int) {
	all := b.zones(max(last, len(b.nodes)-endNodes), len(b.nodes))
	for i := len(all) - 1; i > 0; i-- {
		part := all[i].kind()
		if part == "" && all[i].words > 0 {
			break
		}
		b.leaveZone(&all[i], part)
	}
}
