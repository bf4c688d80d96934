package ingest

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// headingKind is what the words of a line say that it is the heading of: a label ("chapter", "letter", "part"), or one
// of these.
type headingKind string

const (
	noHeading    headingKind = ""
	numberOnly   headingKind = "number"        // a number, with or without a title behind it
	namedHeading headingKind = "named"         // a prologue, a preface
	contentsList headingKind = "contents"      // the heading of a list of contents
	pictureList  headingKind = "illustrations" // the heading of a list of illustrations
	endMark      headingKind = "end"           // "THE END"

	// What only a series of them shows to be headings.
	countedHeading headingKind = "counted"  // a word that is no label, and a number
	datedHeading   headingKind = "dated"    // a date, as in diaries and letters
	capitalHeading headingKind = "capitals" // a line in capitals
)

// rank orders the labels of headings.
type rank string

const (
	noRank    rank = ""
	container rank = "container" // a part, a book, a volume: it holds chapters
	chapterly rank = "chapter"
	sectional rank = "section" // a scene of an act
)

// wording is a line read as a heading.
type wording struct {
	kind   headingKind
	rank   rank
	number int    // 0 if it has none
	title  string // the text after label and number
}

// labelled reports whether the line has a label with a number, the surest sign of a heading.
func (w wording) labelled() bool { return w.rank != noRank }

// bare reports whether the line is a number with or without a label, and no title.
func (w wording) bare() bool { return w.number != 0 && w.title == "" }

// fold makes a text lower case and takes accents off: capitals often have none.
func fold(text string) string {
	text = strings.ToLower(text)
	if isASCII(text) {
		return text
	}
	return norm.NFC.String(strings.Map(func(r rune) rune {
		switch {
		case unicode.Is(unicode.Mn, r) && r < 0x0700: // of Latin, Greek, Cyrillic, Hebrew and Arabic letters
			return -1
		case r == 'ı': // the capital has two small letters
			return 'i'
		case r == 'ς':
			return 'σ'
		}
		return r
	}, norm.NFD.String(text)))
}

func isASCII(text string) bool {
	for i := range len(text) {
		if text[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// token is a word of a line: a run of letters and digits.
type token struct {
	text       string // folded
	start, end int    // in the line, in bytes
}

func tokenize(line string) []token {
	var tokens []token
	start := -1
	for i, r := range line {
		word := unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r)
		switch {
		case word && start < 0:
			start = i
		case !word && start >= 0:
			tokens, start = append(tokens, token{fold(line[start:i]), start, i}), -1
		}
	}
	if start >= 0 {
		tokens = append(tokens, token{fold(line[start:]), start, len(line)})
	}
	return tokens
}

// maxHeading is how long a heading may be, in characters.
const maxHeading = 220

// readHeading reads a line as a heading. What it is not certain of has no kind.
func readHeading(line string) wording {
	if line = strings.TrimSpace(line); len(line) > 2*maxHeading*utf8.UTFMax {
		return wording{} // a paragraph may be as long as a book
	}
	line = strings.TrimSpace(strings.Map(plainSign, line))
	if strings.ContainsAny(line, "\"״”") {
		line = gershayim.ReplaceAllString(line, "$1$2")
	}
	line = strings.TrimSpace(strings.Trim(line, "*_=#[]【】"))
	if line == "" || utf8.RuneCountInString(line) > maxHeading {
		return wording{}
	}
	v := words()
	if w, ok := v.list(line); ok {
		return w
	}
	if w, ok := v.eastAsian(line); ok {
		return w
	}
	tokens := tokenize(line)
	if len(tokens) == 0 {
		return wording{}
	}
	skip := 0
	for skip < len(tokens)-1 && v.skipped[tokens[skip].text] {
		skip++
	}
	if w, ok := v.labelFirst(line, tokens[skip:]); ok {
		return w
	}
	if w, ok := v.numberFirst(line, tokens[skip:]); ok {
		return w
	}
	return v.numberAlone(line, tokens)
}

// gershayim precede the last letter of a Hebrew number.
var gershayim = regexp.MustCompile(`(\p{Hebrew})["״”](\p{Hebrew})`)

// plainSign makes the digits of any script and the spaces of any width plain ones. The ten digits of a script begin at
// a multiple of sixteen, or six behind one.
func plainSign(r rune) rune {
	switch {
	case r < utf8.RuneSelf:
	case unicode.IsDigit(r):
		value := r & 0xF
		if !unicode.IsDigit(r - value) {
			value -= 6
		}
		if value >= 0 && value <= 9 {
			return '0' + value
		}
	case unicode.Is(unicode.Zs, r):
		return ' '
	}
	return r
}

// list knows headings that are a word or two: "CONTENTS", "Prologue: The Bell", "THE END".
func (v *vocabulary) list(line string) (wording, bool) {
	lower := fold(strings.TrimRight(line, " .:!*"))
	if kind, ok := v.lists[lower]; ok {
		return wording{kind: kind}, true
	}
	if article, rest, ok := strings.Cut(lower, " "); ok && v.skipped[article] && v.lists[rest] == namedHeading {
		return wording{kind: namedHeading}, true
	}
	if name, rest, ok := strings.Cut(lower, " "); ok && v.lists[name] == contentsList &&
		slices.ContainsFunc(tokenize(rest), func(t token) bool { return v.Ranks[v.labels[t.text]] == container }) {
		return wording{kind: contentsList}, true // "CONTENTS OF THE FIRST VOLUME"
	}
	name, title, ok := strings.Cut(line, ":")
	for _, dash := range []string{" - ", " – ", "—", "--", ". "} {
		if !ok {
			name, title, ok = strings.Cut(line, dash)
		}
	}
	if ok && v.lists[fold(strings.TrimSpace(name))] == namedHeading && isTitleStart(line) {
		return wording{kind: namedHeading, title: strings.TrimSpace(title)}, true
	}
	return wording{}, false
}

// openingMarks may precede the first letter of a title.
const openingMarks = " \"'“‘«„(¿¡[_*"

// isTitleStart reports whether a text begins with a letter that is no small one, or with a number.
func isTitleStart(text string) bool {
	r, _ := utf8.DecodeRuneInString(strings.TrimLeft(text, openingMarks))
	return startsTitle(r)
}

func startsTitle(r rune) bool {
	return unicode.IsLetter(r) && !unicode.IsLower(r) || unicode.IsDigit(r) || isWide(r)
}

// labelFirst reads "Chapter 3: The Storm", "Глава первая", "CHAPTER THE LAST".
func (v *vocabulary) labelFirst(line string, tokens []token) (wording, bool) {
	kind := v.labels[tokens[0].text]
	if kind == noHeading {
		return v.labelGlued(line, tokens)
	}
	if len(tokens) < 2 {
		return wording{}, false
	}
	rest := tokens[1:]
	for len(rest) > 1 && v.skipped[rest[0].text] {
		rest = rest[1:]
	}
	n, used := v.number(line, rest, tokens[0].text)
	if used == 0 || !joined(line[tokens[0].end:tokens[1].start]) {
		return wording{}, false
	}
	w, ok := v.labelled(kind, n, line, rest[used-1].end)
	return w, ok && (isTitleStart(line) || rest[used-1].end == len(line))
}

// labelGlued reads "CHAPTERXXVII", "CHAPTERONE" and "Chapter12", as some books have it by mistake, and labels of
// scripts without spaces: "บทที่๓".
func (v *vocabulary) labelGlued(line string, tokens []token) (wording, bool) {
	spelt, folded := line[tokens[0].start:tokens[0].end], tokens[0].text
	for i, r := range spelt {
		if i == 0 || i > len(folded) {
			continue
		}
		kind, n := v.labels[fold(spelt[:i])], 0
		switch rest := spelt[i:]; {
		case v.Ranks[kind] == noRank || !isTitleStart(line):
		case isDigits(rest[:1]):
			digits := len(rest) - len(strings.TrimLeft(rest, "0123456789"))
			if digits > 4 || digits < len(rest) && !isTitleStart(rest[digits:]) {
				continue
			}
			n, _ = strconv.Atoi(rest[:digits])
			if title := line[tokens[0].end-len(rest)+digits:]; digits < len(rest) && n > 0 { // "Chapter1The Storm"
				return wording{kind, v.Ranks[kind], n, title}, isShortTitle(title)
			}
		case isWide(r):
			n = v.numbers[rest]
		case isUpper(spelt) && len(rest) > 2 && v.numbers[fold(rest)] > 0:
			n = v.numbers[fold(rest)]
		case isUpper(spelt) && v.Ranks[kind] == chapterly && kind != "act":
			n = roman(rest)
		}
		if n > 0 {
			return v.labelled(kind, n, line, tokens[0].end)
		}
	}
	return wording{}, false
}

// joined reports whether only space and a mark are between a label and its number.
func joined(between string) bool { return len(strings.Trim(between, " \t.:№#º°-")) == 0 }

// numberFirst reads "THE FIRST ACT", "1. Kapitel", "Erstes Buch".
func (v *vocabulary) numberFirst(line string, tokens []token) (wording, bool) {
	n, used := v.number(line, tokens, "")
	if used == 0 || used == len(tokens) || !isTitleStart(line) {
		return wording{}, false
	}
	label := tokens[used]
	kind := v.labels[label.text]
	if kind == noHeading || !joined(line[tokens[used-1].end:label.start]) {
		return wording{}, false
	}
	w, ok := v.labelled(kind, n, line, label.end)
	if rest := line[label.end:]; w.title != "" && w.title == strings.TrimSpace(rest) && !isUpper(w.title) {
		ok = ok && isShortTitle(w.title) // "One day he took the boat and said:"
	}
	return w, ok
}

// labelled is a heading whose label and number end at a place of the line: "CHAPTER II, in which it rains" as well.
func (v *vocabulary) labelled(kind headingKind, n int, line string, end int) (wording, bool) {
	title, ok := titleBehind(line[end:])
	if rest, behind := strings.CutPrefix(line[end:], ", "); behind && !ok && isUpper(line[:end]) {
		title, ok = rest, true
	}
	return wording{kind, v.Ranks[kind], n, title}, ok
}

// numeralMark follows letters that are a number.
var numeralMark = regexp.MustCompile(`^[΄´ʹ׳′'’]($|\P{L})`)

// titleBehind is the title behind a label and a number. It follows behind a mark or with a capital: "Part I wanted to
// tell" is no heading.
func titleBehind(rest string) (string, bool) {
	rest = numeralMark.ReplaceAllString(rest, "$1")
	trimmed := strings.TrimLeft(rest, " \t")
	title := strings.TrimLeft(trimmed, " \t.:,;)]–—-―|*_")
	switch {
	case title == "":
		return "", true
	case trimmed != title && (trimmed[0] != ',' && trimmed[0] != ';' || isTitleStart(title)):
		return strings.TrimSpace(title), true
	case trimmed == rest: // a letter follows at once
		return "", false
	}
	return strings.TrimSpace(title), isTitleStart(title) && (!isUncased(title) || isShortTitle(title))
}

// isUncased reports whether a text begins with a letter of a script that has words and no capitals.
func isUncased(text string) bool {
	r, _ := utf8.DecodeRuneInString(strings.TrimLeft(text, openingMarks))
	return unicode.Is(unicode.Lo, r) && r < 0x2E80
}

// maxUncased is how many words a title may have that neither a mark nor a capital shows to be one.
const maxUncased = 8

func isShortTitle(text string) bool {
	return shortText(text, maxUncased) && utf8.RuneCountInString(text) <= maxHeadingLine && !endsSentence(text)
}

// isUpper reports whether a text has letters, and none that is lower case.
func isUpper(text string) bool {
	letters := false
	for _, r := range text {
		if unicode.IsLower(r) {
			return false
		}
		letters = letters || unicode.IsUpper(r)
	}
	return letters
}
