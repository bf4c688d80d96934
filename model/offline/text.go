package offline

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"annotator/model/chatwire"

	"golang.org/x/text/unicode/norm"
)

// span is a range of bytes of a text.
type span struct{ start, end int }

// word is a run of letters and digits with apostrophes and hyphens inside. Of "Marrow's" it is "Marrow".
type word struct {
	span
	full     int    // the end with that ending
	lower    string // the word in lower case
	capital  bool   // begins with a capital
	shouted  bool   // two or more letters, all capitals
	initial  bool   // first of a sentence, a quotation or a line of verse: its capital is not significant
	sentence int    // index of its sentence
}

// text is a text, split into words and sentences. Lines that are not prose (dice, headings) have no words.
type text struct {
	body      string
	words     []word
	sentences []span
}

// readText splits a body into words and sentences.
func readText(body string, lex *lexicon) *text {
	t := &text{body: body}
	start := 0
	for line := range strings.SplitAfterSeq(body, "\n") {
		if !noProse(line) {
			t.scan(start, start+len(line))
		}
		start += len(line)
	}
	t.divide(lex)
	return t
}

func (t *text) in(s span) string { return t.body[s.start:s.end] }

var dice = regexp.MustCompile(`(?i)\b\d+d\d+\b|^\W*rolled\b`)

// noProse reports whether a line is a dice roll or is written in capitals throughout.
func noProse(line string) bool {
	upper, lower := 0, 0
	for _, r := range line {
		switch {
		case unicode.IsUpper(r):
			upper++
		case unicode.IsLower(r):
			lower++
		}
	}
	return upper > 1 && lower == 0 || dice.MatchString(line)
}

// scan appends the words of body[start:end].
func (t *text) scan(start, end int) {
	for i := start; i < end; {
		r, size := utf8.DecodeRuneInString(t.body[i:end])
		if !isWordRune(r) {
			i += size
			continue
		}
		full := wordEnd(t.body[:end], i)
		t.words = append(t.words, newWord(t.body, i, full))
		i = full
	}
}

func isWordRune(r rune) bool {
	return unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r)
}

// wordEnd returns the end of the word that begins at i. An apostrophe or a hyphen belongs to it between two letters.
func wordEnd(body string, i int) int {
	for i < len(body) {
		r, size := utf8.DecodeRuneInString(body[i:])
		if !isWordRune(r) {
			next, _ := utf8.DecodeRuneInString(body[i+size:])
			if !strings.ContainsRune("'’-‑", r) || !isWordRune(next) {
				break
			}
		}
		i += size
	}
	return i
}

func newWord(body string, start, full int) word {
	end := start + len(trimEnding(body[start:full]))
	s := body[start:end]
	first, size := utf8.DecodeRuneInString(s)
	w := word{
		span: span{start, end}, full: full, lower: strings.ToLower(s),
		capital: unicode.IsUpper(first) || unicode.IsTitle(first),
	}
	w.shouted = len(s) > size && w.capital && strings.ToUpper(s) == s
	if !w.capital {
		w.capital = fusedCapital(s)
	}
	return w
}

// trimEnding removes the possessive and contracted endings of English.
func trimEnding(s string) string {
	cut := strings.LastIndexAny(s, "'’")
	if cut <= 0 {
		return s
	}
	switch _, size := utf8.DecodeRuneInString(s[cut:]); strings.ToLower(s[cut+size:]) {
	case "s", "ll", "d", "m", "ve", "re":
		return s[:cut]
	}
	return s
}

// fusedCapital reports whether a lower-case particle is joined with a capital: d'Artagnan, al-Rashid.
func fusedCapital(s string) bool {
	cut := strings.IndexAny(s, "'’-")
	if cut <= 0 || cut > 4 {
		return false
	}
	switch s[:cut] {
	case "d", "l", "al", "el", "ad", "as", "dell", "dall", "ibn":
		_, size := utf8.DecodeRuneInString(s[cut:])
		r, _ := utf8.DecodeRuneInString(s[cut+size:])
		return unicode.IsUpper(r)
	}
	return false
}

// divide finds the sentences and marks the words whose capital is not significant.
func (t *text) divide(lex *lexicon) {
	for i := range t.words {
		w := &t.words[i]
		if i == 0 {
			t.sentences = append(t.sentences, span{openingStart(t.body, 0, w.start), 0})
			w.initial = true
			continue
		}
		prev := &t.words[i-1]
		w.sentence = prev.sentence
		if end, ok := t.breakBetween(prev, w, lex); ok {
			t.sentences[w.sentence].end = end
			t.sentences = append(t.sentences, span{openingStart(t.body, end, w.start), 0})
			w.sentence++
			w.initial = true
			continue
		}
		w.initial = t.opensInside(prev, w)
	}
	if n := len(t.words); n > 0 {
		t.sentences[len(t.sentences)-1].end = closingEnd(t.body, t.words[n-1].full)
	}
}

// breakBetween reports whether a sentence ends between two neighbouring words, and where.
func (t *text) breakBetween(prev, next *word, lex *lexicon) (int, bool) {
	gap := t.body[prev.full:next.start]
	if strings.Count(gap, "\n") > 1 || strings.IndexFunc(gap, isWordRune) >= 0 {
		return closingEnd(t.body, prev.full), true
	}
	stop := strings.IndexAny(gap, ".!?…")
	if stop < 0 || !next.capital && !unicode.IsDigit(rune(t.body[next.start])) {
		return 0, false
	}
	if gap[stop] == '.' && stop == 0 && abbreviated(prev, lex) {
		return 0, false
	}
	end := closingEnd(t.body, prev.full)
	return end, end < next.start
}

// abbreviated reports whether the point after a word most likely belongs to it: an initial or a title.
func abbreviated(w *word, lex *lexicon) bool {
	if !w.capital {
		return false
	}
	if utf8.RuneCountInString(w.lower) == 1 {
		return w.lower != "i"
	}
	return lex.shortened[w.lower]
}

// opensInside reports whether a word begins a quotation, a clause after a colon, or a line of verse.
func (t *text) opensInside(prev, next *word) bool {
	gap := t.body[prev.full:next.start]
	last, _ := utf8.DecodeLastRuneInString(gap)
	switch {
	case strings.ContainsRune("“«„‘", last), strings.ContainsAny(gap, ":;*"):
		return true
	case last == '"' || last == '\'':
		return len(gap) > 1
	case strings.Contains(gap, "\n"):
		return prev.full-strings.LastIndexByte(t.body[:prev.full], '\n') < verseWidth
	}
	return strings.ContainsAny(gap, "!?…—") || strings.Contains(gap, "--")
}

// verseWidth distinguishes a line of verse or of a list, which opens with a capital, from a wrapped line of prose.
const verseWidth = 50

// collapse replaces each run of white space with one blank.
func collapse(s string) string { return strings.Join(strings.Fields(s), " ") }

// normal returns the form in which written names are compared.
func normal(s string) string {
	s = strings.ToLower(norm.NFC.String(collapse(strings.ReplaceAll(s, "’", "'"))))
	return strings.TrimPrefix(s, "the ")
}

// runeStart returns the start of the character at an offset.
func runeStart(s string, at int) int { return chatwire.RuneStart(s, at) }

// closingEnd returns the end of the punctuation that follows the word ending at i without a blank.
func closingEnd(body string, i int) int {
	rest := strings.TrimLeftFunc(body[i:], func(r rune) bool {
		return !unicode.IsSpace(r) && !isWordRune(r) && r != '<'
	})
	return len(body) - len(rest)
}

// openingStart returns where the sentence of the word at start begins: after the blanks that follow from.
func openingStart(body string, from, start int) int {
	if cut := strings.LastIndexFunc(body[from:start], unicode.IsSpace); cut >= 0 {
		_, size := utf8.DecodeRuneInString(body[from+cut:])
		return from + cut + size
	}
	return from
}
