package ingest

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/net/html/atom"
)

// lineMarkup is a markup that its lines show.
type lineMarkup struct {
	format foreignFormat
	line   *regexp.Regexp
}

// The commands and steps that make text or an EPUB of a markup.
const (
	fromWiki    = "pandoc -f mediawiki %s -o book.epub"
	fromTextile = "pandoc -f textile %s -o book.epub"
)

var lineMarkups = [...]lineMarkup{
	{
		foreignFormat{name: "a file of subtitles"},
		regexp.MustCompile(`^(?:\d+:)?\d\d:\d\d[.,]\d{2,3} +--> |^Dialogue: +\d|^\{\d+\}\{\d+\}`),
	},
	{
		foreignFormat{name: "a story in ink, which branches"},
		regexp.MustCompile(`->\s*[A-Za-z_]?[\w.]*\s*$|` +
			`^\s*[*+][*+\s]*\[[^\]]*\](?:[^(]|$)|^\s*(?:VAR|CONST|LIST)\s+\w+ *=`),
	},
	{
		foreignFormat{name: "wikitext", command: fromWiki},
		regexp.MustCompile(`^\{\{[^<%{]|^[^{]*\}\}\s*$|\[\[\w+:|'''[^']+'''|^={2,6}[^=].*[^=]={2,6}\s*$|` +
			`</?(?:ref|poem|nowiki|pages)\b|^\{\||^\|[-}]|^__[A-Z]+__`),
	},
	{
		foreignFormat{name: "text with tags of a forum (BBCode)"},
		regexp.MustCompile(`\[/[A-Za-z]{1,12}\]`),
	},
	{
		foreignFormat{name: "Textile", command: fromTextile},
		regexp.MustCompile(`^(?:h[1-6]|bq|fn\d+|p)(?:[<>=]|\([^)]*\))?\. \S`),
	},
}

// What a text must have of a markup to be taken for it: this many lines, and one of this many.
const (
	markupLines = 3
	markupShare = 20
)

var (
	mailHead  = regexp.MustCompile(`(?im)\A(?:[\w-]+:.*\n(?:[ \t].*\n)*)*?MIME-Version:.*\n`)
	namedTag  = regexp.MustCompile(`</?([A-Za-z][\w:.-]*)(?:\s[^<>]*)?/?>`)
	jsonStart = regexp.MustCompile(`\A[\s\[]*\{\s*"[^"\n]*"\s*:`)
	savedPage = foreignFormat{name: "a web page saved as a mail (MHTML), or a mail"}
	otherXML  = foreignFormat{name: "XML that is no format of books that is known"}
	program   = foreignFormat{name: "a program, data, or text in a markup that is not known"}
)

// markupOf recognises a text that is written in a markup that is not read, by how much of it is markup. A few
// brackets, colons or tags in prose are none. The zero value: it is read as text.
func markupOf(text string) foreignFormat {
	if mailHead.MatchString(text) {
		return savedPage
	}
	if isOtherXML(text) {
		return otherXML
	}
	lines, found := 0, [len(lineMarkups)]int{}
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\r\n")
		if strings.TrimSpace(line) == "" {
			continue
		}
		lines++
		for i := range lineMarkups {
			if lineMarkups[i].line.MatchString(line) {
				found[i]++
			}
		}
	}
	most := 0
	for i := range found {
		if found[i] > found[most] {
			most = i
		}
	}
	if found[most] >= markupLines && found[most]*markupShare >= lines {
		return lineMarkups[most].format
	}
	// Of text in an encoding that is found by trial later, the head shows other signs than it has.
	if !strings.ContainsRune(text[:max(0, len(text)-utf8.UTFMax)], utf8.RuneError) && isProgram(text) {
		return program
	}
	return foreignFormat{}
}

// isOtherXML reports whether a text begins with a tag, and most of its tags are not of HTML.
func isOtherXML(text string) bool {
	start := strings.TrimLeftFunc(text, unicode.IsSpace)
	tag := namedTag.FindStringIndex(start)
	if !strings.HasPrefix(start, "<?xml") && !strings.HasPrefix(start, "<!") && (tag == nil || tag[0] > 0) {
		return false
	}
	all, other := 0, 0
	for _, tag := range namedTag.FindAllStringSubmatch(start, -1) {
		all++
		if atom.Lookup([]byte(strings.ToLower(tag[1]))) == 0 {
			other++
		}
	}
	return strings.HasPrefix(start, "<?xml") && all > 0 || all > 2 && 2*other > all
}

// isProgram reports whether a text is no prose, by signs that prose hardly has.
func isProgram(text string) bool {
	const enough, share = 500, 12 // letters, and letters to a sign
	letters, signs := 0, 0
	for _, r := range anyTag.ReplaceAllString(text, "") {
		switch {
		case unicode.IsLetter(r):
			letters++
		case strings.ContainsRune(`{}<>=\^~@;`, r):
			signs++
		}
	}
	return letters >= enough && signs*share >= letters
}
