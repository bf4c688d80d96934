package codex

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"annotator"
)

// maxSentence is the most code points of a sentence that is not divided.
const maxSentence = 250

// Range is a part of a text, in bytes.
type Range struct{ Start, End int }

// Clauses returns the sentences of a text that have a word, without the white space around them. A line feed ends a
// sentence. A long one is divided after its semicolons, colons and dashes.
func Clauses(text string) (clauses []Range) {
	at := 0
	for line := range strings.SplitAfterSeq(text, "\n") {
		for rest := line; rest != ""; {
			end := sentenceEnd(rest)
			for _, n := range divided(rest[:end]) {
				part := rest[:n]
				if HasWord(part) {
					start := at + n - len(strings.TrimLeftFunc(part, unicode.IsSpace))
					clauses = append(clauses, Range{start, at + len(strings.TrimRightFunc(part, unicode.IsSpace))})
				}
				at, rest = at+n, rest[n:]
			}
		}
	}
	return clauses
}

// divided returns the lengths of the parts of a sentence, in bytes.
func divided(sentence string) (lengths []int) {
	from := 0
	if utf8.RuneCountInString(sentence) > maxSentence {
		for at, r := range sentence {
			if strings.ContainsRune(";:；：—–", r) {
				end := at + utf8.RuneLen(r)
				lengths, from = append(lengths, end-from), end
			}
		}
	}
	if from < len(sentence) {
		lengths = append(lengths, len(sentence)-from)
	}
	return lengths
}

// maxPlaces is how many places of a quotation are returned.
const maxPlaces = 10

// Places returns where a body has the words of a quotation, the place of the quotation first.
func Places(body string, q annotator.Evidence) []Range {
	start := len(string([]rune(body)[:q.Start]))
	places := []Range{{start, start + len(q.Quote)}}
	for at := indexWords(body, q.Quote, 0); at >= 0 && len(places) < maxPlaces; at = indexWords(body, q.Quote, at+1) {
		if at != start {
			places = append(places, Range{at, at + len(q.Quote)})
		}
	}
	return places
}

// quotationMarks are marks that open and close a quotation.
var quotationMarks = [][2]string{{`"`, `"`}, {"“", "”"}, {"«", "»"}, {"「", "」"}, {"『", "』"}}

// Paired returns a range of a text without a quotation mark at its end that closes none, and without a single one at
// its beginning.
func Paired(text string, r Range) Range {
	for _, marks := range quotationMarks {
		quote := text[r.Start:r.End]
		opened, closed := strings.Count(quote, marks[0]), strings.Count(quote, marks[1])
		if marks[0] == marks[1] { // which of them opens is not to be seen
			opened, closed = opened-opened/2, opened/2
			if opened > closed && strings.HasSuffix(quote, marks[1]) {
				opened, closed = closed, opened
			}
		}
		switch {
		case closed > opened && strings.HasSuffix(quote, marks[1]):
			r.End -= len(marks[1])
		case opened == 1 && closed == 0 && strings.HasPrefix(quote, marks[0]):
			r.Start += len(marks[0])
		}
	}
	return r
}
