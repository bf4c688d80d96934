package codex

import (
	"fmt"
	"slices"
	"sort"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"annotator"
)

// Ground finds a quotation in the body of a post. It begins and ends with whole words of the body, and has more than
// one unless that is a whole sentence, line or utterance. Differences in white space, Unicode composition, and
// typographic or plain quotes, dashes and ellipses do not matter. Nor does the case of the first letter, which a
// quotation from within a sentence often has as at a beginning. All else must match. The evidence holds the range in
// code points and the body's own text. The caller sets Claim and Post.
func Ground(body, quote string) (annotator.Evidence, bool) {
	quote = strings.TrimSpace(quote)
	if !HasWord(quote) || !utf8.ValidString(quote) { // whose bytes may be a part of a character
		return annotator.Evidence{}, false
	}
	from, to, found := locate(body, body, quote, func(from, to int) (int, int) { return from, to })
	if !found {
		hay := fold(body)
		for _, form := range []string{quote, otherCase(quote)} {
			if !found {
				from, to, found = locate(body, hay.text, strings.TrimSpace(fold(form).text), hay.span)
			}
		}
	}
	if !found {
		return annotator.Evidence{}, false
	}
	return annotator.Evidence{
		Start: utf8.RuneCountInString(body[:from]),
		End:   utf8.RuneCountInString(body[:to]),
		Quote: body[from:to],
	}, true
}

// otherCase returns a text with its first letter in the other case.
func otherCase(text string) string {
	at := strings.IndexFunc(text, unicode.IsLetter)
	if at < 0 {
		return text
	}
	first, size := utf8.DecodeRuneInString(text[at:])
	other := unicode.ToUpper(first)
	if other == first {
		other = unicode.ToLower(first)
	}
	return text[:at] + string(other) + text[at+size:]
}

// locate returns the first range of a body that is a quotation. The quotation is looked for in a form of the body, and
// span returns the range of the body that one of this form represents.
func locate(body, form, quote string, span func(from, to int) (int, int)) (from, to int, found bool) {
	several := severalWords(quote)
	for at := indexWords(form, quote, 0); at >= 0; at = indexWords(form, quote, at+1) {
		if from, to = span(at, at+len(quote)); several || isWhole(body, from, to) {
			return from, to, true
		}
	}
	return 0, 0, false
}

// MaxPassage is the most code points of a passage that is quoted by its first and last words, as one quotation.
const MaxPassage = 120

// FindQuotes returns the evidence for a quotation in the first of some posts that holds it, as Ground or GroundEnds
// finds it. If none does, it returns nil, with the reason where it is known. The posts follow each other in the story.
// A quotation may be escaped as the posts are shown. It may have quotation marks or other punctuation at its ends that
// the post does not have there. Of one that runs from a post into the next, the longer part counts, since evidence is
// in one post. Words with an ellipsis between them that are far apart, or in several posts, are several quotations. The
// caller sets Claim.
func FindQuotes(posts []annotator.Post, quote string) (found []annotator.Evidence, why string) {
	quotes := []string{quote}
	if plain := annotator.Unescape(quote); plain != quote {
		quotes = append(quotes, plain)
	}
	if bare := strings.TrimFunc(annotator.Unescape(quote), outsideWords); bare != quote {
		quotes = append(quotes, bare)
	}
	for _, quote := range quotes {
		if evidence, ok := GroundIn(posts, quote); ok {
			return []annotator.Evidence{evidence}, ""
		}
	}
	for _, quote := range quotes {
		if found := groundAcross(posts, quote); found != nil {
			return []annotator.Evidence{*found}, ""
		}
	}
	for _, quote := range quotes {
		passage, fit := groundEndsIn(posts, quote)
		if fit == 1 && passage.End-passage.Start <= MaxPassage {
			return []annotator.Evidence{passage}, ""
		}
		if found = groundPieces(posts, quote); found != nil {
			return found, ""
		}
		if fit == 1 {
			return []annotator.Evidence{passage}, ""
		}
		if fit > 1 {
			return nil, fmt.Sprintf("these first and last words fit several passages of post %d; give more of them",
				passage.Post)
		}
	}
	return nil, whyNotFound(posts, quotes)
}

// GroundIn is Ground in the first of some posts that holds a quotation. It sets Post.
func GroundIn(posts []annotator.Post, quote string) (annotator.Evidence, bool) {
	for i := range posts {
		if evidence, ok := Ground(posts[i].Body, quote); ok {
			evidence.Post = posts[i].ID
			return evidence, true
		}
	}
	return annotator.Evidence{}, false
}

// groundEndsIn is GroundEnds in the first of some posts that holds a passage.
func groundEndsIn(posts []annotator.Post, quote string) (annotator.Evidence, int) {
	for i := range posts {
		if evidence, passages := GroundEnds(posts[i].Body, quote); passages > 0 {
			evidence.Post = posts[i].ID
			return evidence, passages
		}
	}
	return annotator.Evidence{}, 0
}

// groundPieces finds each piece of a quotation that is divided by ellipses; nil if one is not found. A name of a single
// word only has to be in one of the posts. It says who is meant, and is too short to be evidence of its own.
func groundPieces(posts []annotator.Post, quote string) (found []annotator.Evidence) {
	for _, piece := range splitEnds(quote) {
		evidence, ok := GroundIn(posts, piece)
		switch {
		case ok:
			found = append(found, evidence)
		case !isNameIn(posts, strings.TrimSpace(piece)):
			return nil
		}
	}
	return found
}

// isNameIn reports whether a text is a single word of one of some posts and has a capital letter.
func isNameIn(posts []annotator.Post, text string) bool {
	return !severalWords(text) && strings.ContainsFunc(text, unicode.IsUpper) &&
		slices.ContainsFunc(posts, func(p annotator.Post) bool {
			return indexWords(fold(p.Body).text, fold(text).text, 0) >= 0
		})
}

// whyNotFound returns why no post holds a quotation, in any of its forms; "" where that is not known.
func whyNotFound(posts []annotator.Post, quotes []string) string {
	for _, quote := range quotes {
		for i := range posts {
			if endsApart(posts[i].Body, quote) {
				return fmt.Sprintf("post %d has these words, but the passage from the first to the last "+
					"has more than %d characters; quote a part of it", posts[i].ID, MaxQuote)
			}
		}
	}
	bare := fold(quotes[len(quotes)-1]).text
	if HasWord(bare) && slices.ContainsFunc(posts, func(p annotator.Post) bool {
		return strings.Contains(fold(p.Body).text, bare)
	}) {
		return "a quote begins and ends with whole words, and has more than one unless that is a whole sentence or " +
			"utterance"
	}
	return ""
}

// groundAcross finds a quotation that runs from the end of a post into the next one.
func groundAcross(posts []annotator.Post, quote string) *annotator.Evidence {
	for i := 1; i < len(posts); i++ {
		first, second := strings.TrimSpace(posts[i-1].Body), strings.TrimSpace(posts[i].Body)
		whole, ok := Ground(first+"\n"+second, quote)
		seam := utf8.RuneCountInString(first)
		if !ok || whole.Start >= seam || whole.End <= seam+1 {
			continue
		}
		part, post, body := whole, &posts[i-1], first
		if part.End = seam; whole.End-seam > seam-whole.Start {
			part.Start, part.End, post, body = 0, whole.End-seam-1, &posts[i], second
		}
		part.Quote = string([]rune(body)[part.Start:part.End])
		lead := utf8.RuneCountInString(post.Body[:strings.Index(post.Body, body)])
		part.Start, part.End, part.Post = part.Start+lead, part.End+lead, post.ID
		if severalWords(part.Quote) {
			return &part
		}
	}
	return nil
}

func outsideWords(r rune) bool {
	return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.IsMark(r)
}

// folded is a text in comparable form. Its piece i begins at starts[i] and represents bytes [from[i], from[i+1]) of the
// source.
type folded struct {
	text   string
	starts []int
	from   []int
}

func (f *folded) span(start, end int) (from, to int) {
	return f.from[f.piece(start)], f.from[f.piece(end-1)+1]
}

// piece returns the index of the piece that contains byte at.
func (f *folded) piece(at int) int {
	return sort.Search(len(f.starts), func(i int) bool { return f.starts[i] > at }) - 1
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

// plainForm returns the plain form of a typographic mark.
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
