package codex

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"annotator"
)

// Ground finds a quotation in the body of a post. White space, composed and decomposed letters, and typographic and
// plain forms of quotes, dashes and ellipses count as the same; case and everything else must agree. The evidence holds
// the range in code points and the text as the body has it; its Claim and Post are left to the caller.
func Ground(body, quote string) (annotator.Evidence, bool) {
	quote = strings.TrimSpace(quote)
	if !HasWord(quote) {
		return annotator.Evidence{}, false
	}
	from := strings.Index(body, quote)
	to := from + len(quote)
	if from < 0 {
		needle, hay := strings.TrimSpace(fold(quote).text), fold(body)
		at := strings.Index(hay.text, needle)
		if at < 0 {
			return annotator.Evidence{}, false
		}
		from, to = hay.span(at, at+len(needle))
	}
	return annotator.Evidence{
		Start: utf8.RuneCountInString(body[:from]),
		End:   utf8.RuneCountInString(body[:to]),
		Quote: body[from:to],
	}, true
}

// folded is a text in its comparable form. Piece i of it begins at starts[i] and stands for the source's bytes
// [from[i], from[i+1]).
type folded struct {
	text   string
	starts []int
	from   []int
}

func (f *folded) span(start, end int) (from, to int) {
	return f.from[f.piece(start)], f.from[f.piece(end-1)+1]
}

// piece returns the index of the piece that holds byte at.
func (f *folded) piece(at int) int {
	low, high := 0, len(f.starts)-1
	for low < high {
		mid := (low + high + 1) / 2
		if f.starts[mid] <= at {
			low = mid
		} else {
			high = mid - 1
		}
	}
	return low
}

func fold(source string) folded {
	var f folded
	var text strings.Builder
	var iter norm.Iter
	iter.InitString(norm.NFC, source)
	space := false
	for !iter.Done() {
		from := iter.Pos()
		piece := plainForm(string(iter.Next()))
		if blank := strings.TrimFunc(piece, unicode.IsSpace) == ""; blank && space {
			continue
		} else if space = blank; blank {
			piece = " "
		}
		f.starts = append(f.starts, text.Len())
		f.from = append(f.from, from)
		text.WriteString(piece)
	}
	f.from = append(f.from, len(source))
	f.text = text.String()
	return f
}

// plain gives typographic marks their plain form.
func plainForm(piece string) string {
	switch piece {
	case "‘", "’", "‚", "‛", "ʼ":
		return "'"
	case "“", "”", "„", "‟":
		return `"`
	case "‐", "‑", "‒", "–", "—", "―":
		return "-"
	case "…":
		return "..."
	}
	return piece
}
