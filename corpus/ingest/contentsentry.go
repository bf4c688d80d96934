package ingest

import (
	"fmt"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// contentsEntry is a line of a book's own list of contents.
type contentsEntry struct {
	wording
	key  string // its title, for comparison
	node int    // that contains it
}

// pageNumber is what shows an entry of a list: dots or much space before a number at the end.
var pageNumber = regexp.MustCompile(`(?i)(?:[.…·_]\s*[.…·_]\s*[.…·_\s]*|\s{2,}|\t\s*)(?:\d{1,4}|[ivxlc]{1,7})\s*$`)

var trailingNumber = regexp.MustCompile(`(?i)[\s.…·_]+(?:\d{1,4}|[ivxlc]{1,7})\s*$`)

// hasPageNumber reports whether a line ends with the number of a page as in a list.
func hasPageNumber(line string) bool {
	line = strings.TrimRight(line, " \t")
	if line == "" || !strings.ContainsRune("0123456789ivxlcIVXLC", rune(line[len(line)-1])) {
		return false
	}
	return pageNumber.MatchString(line[max(0, len(line)-maxHeading):])
}

// makeEntry reads a line as an entry of a list of contents.
func makeEntry(line string) contentsEntry {
	if line = strings.TrimSpace(line); hasPageNumber(line) {
		line = pageNumber.ReplaceAllString(line, "")
	}
	w := readHeading(line)
	title := w.title
	if w.kind == noHeading || w.kind == namedHeading {
		title = trailingNumber.ReplaceAllString(line, "")
	}
	return contentsEntry{wording: w, key: titleKey(title)}
}

// titleKey is a title as it is compared: letters and digits in lower case.
func titleKey(title string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return unicode.ToLower(r)
		}
		return -1
	}, title)
}

// repeats reports whether a line is the heading that an entry names. A bare number is not much to go by.
func (e contentsEntry) repeats(other contentsEntry, numbers bool) bool {
	switch {
	case e.key != "" && other.key != "" && sameTitle(e.key, other.key):
		return e.number == 0 || other.number == 0 || e.number == other.number
	case e.labelled() && other.labelled():
		return e.kind == other.kind && e.number == other.number && (e.key == "" || other.key == "")
	}
	return numbers && e.number != 0 && e.number == other.number && (e.key == "" || other.key == "")
}

// sameTitle allows for one title being cut short.
func sameTitle(a, b string) bool {
	const enough = 12
	return a == b || len(a) >= enough && strings.HasPrefix(b, a) || len(b) >= enough && strings.HasPrefix(a, b)
}

// nearlySame allows for a letter that is missing, added or wrong in a title of some length.
func nearlySame(a, b string) bool {
	const enough = 8
	if len(a) > len(b) {
		a, b = b, a
	}
	if len(a) < enough || len(b)-len(a) > utf8.UTFMax || a[0] != b[0] && a[len(a)-1] != b[len(b)-1] {
		return false
	}
	x, y := []rune(a), []rune(b)
	from, to := 0, 0
	for from < min(len(x), len(y)) && x[from] == y[from] {
		from++
	}
	for to < min(len(x), len(y))-from && x[len(x)-1-to] == y[len(y)-1-to] {
		to++
	}
	return from+to >= max(len(x), len(y))-1
}

// entryLines are the lines that may be entries: those of the source, unless they are the lines of a paragraph.
func (n *node) entryLines() []string {
	lines := n.sourceLines()
	if len(lines) < 2 || strings.Contains(n.text, "\n") {
		return lines
	}
	entries := 0
	for _, line := range lines {
		if w := readHeading(line); hasPageNumber(line) || w.labelled() || w.kind == numberOnly {
			entries++
		}
	}
	if entries*2 > len(lines) {
		return lines
	}
	return []string{n.text}
}

// labelKey is a heading's label and number for comparison; "" if it has none.
func (e contentsEntry) labelKey() string {
	if !e.labelled() {
		return ""
	}
	return fmt.Sprintf("%s %d", e.kind, e.number)
}

// headingsIn reads a node of which every line is the heading of a chapter; nil if it is another.
func headingsIn(n *node) []contentsEntry {
	if n.copied || len(n.text) > 20_000 {
		return nil
	}
	var all []contentsEntry
	for _, line := range n.sourceLines() {
		e := makeEntry(line)
		if !e.labelled() && (e.kind != numberOnly || e.key == "") {
			return nil
		}
		all = append(all, e)
	}
	return all
}
