package ingest

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Levels of headings in plain text. Markdown brings its own.
const (
	chapterAlways = iota
	levelPart
	levelChapter
	levelSection
)

const numeral = `(?:\d{1,4}|[IVXLCDM]+|(?i:the )?(?i:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|thirteen|fourteen|` +
	`fifteen|sixteen|seventeen|eighteen|nineteen|(?:twenty|thirty|forty|fifty|sixty)(?:[- ](?:one|two|three|four|five|six|seven|eight|nine))?|` +
	`first|second|third|fourth|fifth|sixth|seventh|eighth|ninth|tenth|last))`

// A title follows its number behind a full stop, a colon or a dash, else with a capital: "Part I wanted to tell" is no heading.
const titleAfter = `(?:\s*[.:—–-]+\s*.*|\s+[\p{Lu}\d"“‘'].*)?$`

var (
	partLine    = regexp.MustCompile(`^(?i:part|book|volume|act)\s+` + numeral + titleAfter)
	chapterLine = regexp.MustCompile(`^(?i:chapter|chap\.?|letter|stave|canto|scene|episode|adventure)\s+` + numeral + titleAfter)
	namedLine   = regexp.MustCompile(`^(?i:prologue|epilogue|preface|foreword|introduction|interlude|afterword|conclusion|postscript)(?:\s*[.:—–-]+.*)?$`)
	listLine    = regexp.MustCompile(`^(?i:(?:table of )?contents|(?:list of )?illustrations|list of characters)\.?:?$`)
	romanLine   = regexp.MustCompile(`^([IVXLCDM]+)\.?$`)
	romanTitle  = regexp.MustCompile(`^([IVXLCDM]+)\.\s+[^\p{Ll}]+$`)
)

// headings recognises headings one after the other: bare numerals count only in their order.
type headings struct {
	markdown        bool
	section, titled int // the newest numerals, alone and with a title
}

// maxHeading is how long a heading's line may be, in bytes.
const maxHeading = 100

// read returns a passage as the heading that it is, if it is one.
func (h *headings) read(lines []string) (node, bool) {
	if h.markdown {
		if match := atx.FindStringSubmatch(strings.TrimSpace(lines[0])); match != nil {
			return node{heading, len(match[1]), match[2]}, match[2] != ""
		}
		if level := setext(lines); level > 0 {
			return node{heading, level, strings.TrimSpace(lines[0])}, true
		}
	}
	if len(lines) > 3 {
		return node{}, false
	}
	title := make([]string, len(lines))
	for i, line := range lines {
		if len(line) > maxHeading {
			return node{}, false
		}
		title[i] = strings.TrimSpace(line)
	}
	level, ok := h.level(title[0], len(lines) == 1)
	return node{heading, level, strings.Join(title, ": ")}, ok
}

// level is that of a line which looks like a heading.
func (h *headings) level(line string, alone bool) (int, bool) {
	if first, _ := utf8.DecodeRuneInString(line); !unicode.IsUpper(first) {
		return 0, false
	}
	switch {
	case partLine.MatchString(line):
		return levelPart, true
	case chapterLine.MatchString(line):
		return levelChapter, true
	case !alone:
		return 0, false
	case namedLine.MatchString(line), listLine.MatchString(line):
		return chapterAlways, true
	}
	if match := romanTitle.FindStringSubmatch(line); match != nil && follows(&h.titled, match[1]) {
		return levelChapter, true
	}
	if match := romanLine.FindStringSubmatch(line); match != nil && follows(&h.section, match[1]) {
		return levelSection, true
	}
	return 0, false
}

// follows reports whether a numeral is the next after the newest, or begins again with one.
func follows(newest *int, numeral string) bool {
	n := roman(numeral)
	if n != 1 && n != *newest+1 {
		return false
	}
	*newest = n
	return true
}

// roman is the value of a numeral; for what is not well formed it is some number or other, and so in no order.
func roman(numeral string) int {
	values := map[byte]int{'I': 1, 'V': 5, 'X': 10, 'L': 50, 'C': 100, 'D': 500, 'M': 1000}
	sum := 0
	for i := range len(numeral) {
		value := values[numeral[i]]
		if i+1 < len(numeral) && value < values[numeral[i+1]] {
			value = -value
		}
		sum += value
	}
	return sum
}

// setext is the level of a line underlined with = or -, or 0.
func setext(lines []string) int {
	if len(lines) != 2 {
		return 0
	}
	switch line := strings.TrimSpace(lines[1]); {
	case len(line) < 3:
		return 0
	case strings.Trim(line, "=") == "":
		return 1
	case strings.Trim(line, "-") == "":
		return 2
	}
	return 0
}
