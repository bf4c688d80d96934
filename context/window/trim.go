package window

import (
	"regexp"
	"strings"
	"unicode/utf8"

	"annotator"
	"annotator/context/tokens"
)

var thinking = regexp.MustCompile(`(?s)<(?:think|thinking|analysis)>.*?</(?:think|thinking|analysis)>\s*`)

// marker ends a reply that was cut.
const marker = " [cut]"

// longReply is the length, in characters, above which a reply counts as one that could be cut.
const longReply = 500

// trim gives a reply the form that the window has come to: without its thinking, cut.
func (w *Window) trim(row *annotator.Trace) string {
	text := row.Content
	if row.Turn <= w.fold.Strip {
		text = strip(text)
	}
	if row.Turn <= w.fold.Cut {
		text = cut(text, w.fold.CutAt)
	}
	return text
}

func strip(text string) string { return thinking.ReplaceAllString(text, "") }

func cut(text string, at int) string {
	if utf8.RuneCountInString(text) <= at+len(marker) {
		return text
	}
	return strings.TrimSpace(string([]rune(text)[:at])) + marker
}

// count adds a row to what is known of a turn. A reply that is trimmed counts as it stands.
func (t *Turn) count(row *annotator.Trace, content string) {
	if row.Kind != annotator.TraceReply {
		t.Tokens += row.Tokens
		return
	}
	full := tokens.Estimate(content)
	t.Tokens += row.Tokens - tokens.Estimate(row.Content) + full
	t.Strips += full - tokens.Estimate(strip(content))
	t.Cuts += full - tokens.Estimate(cut(content, longReply))
}
