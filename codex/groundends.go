package codex

import (
	"strings"
	"unicode/utf8"

	"annotator"
)

// Limits of the search for a passage: of the bytes of a folded passage, and of the places where its first words stand.
const (
	maxPassage = 2 * utf8.UTFMax * MaxQuote
	maxHeads   = 1000
)

// ellipses separate the first words of a quotation from its last.
var ellipses = []string{"[…]", "[...]", "(…)", "(...)", "…", "..."}

// GroundEnds finds a quotation that is given by its first and last words, with an ellipsis between them: "She came …
// no more." It returns the passage from the first to the last word, and how many passages of at most MaxQuote code
// points the two fit: none, one, to which the evidence belongs, or 2 for several. Differences are ignored as by Ground.
func GroundEnds(body, quote string) (evidence annotator.Evidence, passages int) {
	head, tail, ok := splitEnds(quote)
	if !ok {
		return evidence, 0
	}
	hay := fold(body)
	head, tail = strings.TrimSpace(fold(head).text), strings.TrimSpace(fold(tail).text)
	for from, tries := 0, 0; passages < 2 && tries < maxHeads; tries++ {
		at := strings.Index(hay.text[from:], head)
		if at < 0 {
			break
		}
		begin := from + at
		from = begin + 1
		for end := begin + len(head); ; {
			at := strings.Index(hay.text[end:min(len(hay.text), begin+maxPassage)], tail)
			if at < 0 || passages == 2 {
				break
			}
			end += at + len(tail)
			first, last := hay.span(begin, end)
			passage := body[first:last]
			if utf8.RuneCountInString(passage) > MaxQuote {
				break
			}
			start := utf8.RuneCountInString(body[:first])
			evidence = annotator.Evidence{Start: start, End: start + utf8.RuneCountInString(passage), Quote: passage}
			passages++
		}
	}
	return evidence, passages
}

// splitEnds splits a quotation at its only ellipsis. Both sides must hold a word.
func splitEnds(quote string) (head, tail string, ok bool) {
	for _, ellipsis := range ellipses {
		head, tail, ok = strings.Cut(quote, ellipsis)
		if !ok {
			continue
		}
		tail = strings.TrimLeft(tail, ".…")
		return head, tail, HasWord(head) && HasWord(tail) && !strings.Contains(tail, ellipsis)
	}
	return "", "", false
}
