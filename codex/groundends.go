package codex

import (
	"strings"
	"unicode/utf8"

	"annotator"
)

// Limits of the search for a passage: the bytes of a folded passage, and the places of its first words.
const (
	maxPassage = 2 * utf8.UTFMax * MaxQuote
	maxHeads   = 1000
)

// ellipses separate the first words of a quotation from its last.
var ellipses = []string{"[…]", "[...]", "(…)", "(...)", "…", "..."}

// GroundEnds finds a quotation that is given by its first and last words, with an ellipsis between them: "She came … no
// more." Between two ellipses there may be words from in between. It returns the passage from the first to the last
// word. It also returns how many passages of at most MaxQuote code points the words fit: 0, 1, or 2 for several. The
// evidence is meaningful for 1 only. All of these are whole words of the body. Differences are ignored as by Ground.
func GroundEnds(body, quote string) (evidence annotator.Evidence, passages int) {
	pieces := splitEnds(quote)
	if pieces == nil {
		return evidence, 0
	}
	hay := fold(body)
	for i := range pieces {
		pieces[i] = strings.TrimSpace(fold(pieces[i]).text)
	}
	head, between, tail := pieces[0], pieces[1:len(pieces)-1], pieces[len(pieces)-1]
	for from, tries := 0, 0; passages < 2 && tries < maxHeads; tries++ {
		begin := indexWords(hay.text, head, from)
		if begin < 0 {
			break
		}
		from = begin + 1
		reach := hay.text[:min(len(hay.text), begin+maxPassage)]
		for end := begin + len(head); ; {
			at := indexWords(reach, tail, end)
			if at < 0 || passages == 2 {
				break
			}
			inner := reach[begin+len(head) : at]
			end = at + len(tail)
			if !inOrder(inner, between) {
				continue
			}
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

// endsApart reports whether a body has the pieces of a quotation one after another, at any distance.
func endsApart(body, quote string) bool {
	pieces := splitEnds(quote)
	for i := range pieces {
		pieces[i] = strings.TrimSpace(fold(pieces[i]).text)
	}
	return pieces != nil && inOrder(fold(body).text, pieces)
}

// splitEnds splits a quotation at its ellipses, which are all of one form. Each piece must hold a word; nil if one does
// not.
func splitEnds(quote string) []string {
	for _, ellipsis := range ellipses {
		pieces := strings.Split(quote, ellipsis)
		if len(pieces) == 1 {
			continue
		}
		for i := range pieces {
			if i > 0 {
				pieces[i] = strings.TrimLeft(pieces[i], ".…")
			}
			if !HasWord(pieces[i]) {
				return nil
			}
		}
		return pieces
	}
	return nil
}

// inOrder reports whether a text holds some pieces one after another.
func inOrder(text string, pieces []string) bool {
	for _, piece := range pieces {
		at := indexWords(text, piece, 0)
		if at < 0 {
			return false
		}
		text = text[at+len(piece):]
	}
	return true
}
