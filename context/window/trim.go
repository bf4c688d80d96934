package window

import (
	"fmt"
	"regexp"
	"strings"
	"unicode/utf8"

	"annotator"
	"annotator/context/tokens"
)

var thinking = regexp.MustCompile(`(?s)<(?:think|thinking|analysis)>.*?</(?:think|thinking|analysis)>\s*`)

// marker ends a reply that was cut.
const marker = " [cut]"

// longReply is the length, in characters, above which a reply counts as one that could be cut, where the state does not
// say.
const longReply = 500

// trim returns a reply without its thinking, or cut, if a compaction has said so.
func (h *History) trim(row *annotator.Trace) string {
	text := row.Content
	if row.Turn <= h.state.Strip {
		text = strip(text)
	}
	if row.Turn <= h.state.Cut {
		text = cut(text, h.state.CutAt)
	}
	return text
}

// longAnswer is the length, in characters, above which the answer of a tool leaves the window at a compaction. Those of
// edits are shorter.
const longAnswer = 1000

// bare returns the row of a scene without the entries attached to it, if a compaction has said so. A long answer of a
// tool is omitted in the same way. Both may be out of date. A later scene is shown what it needs.
func (h *History) bare(row *annotator.Trace) *annotator.Trace {
	bare := *row
	bare.Shows = nil
	switch characters := utf8.RuneCountInString(row.Content); {
	case row.Kind == annotator.TraceScene && row.Turn <= h.state.Bare:
		bare.Attached = ""
	case row.Kind == annotator.TraceResult && row.Turn <= h.state.Answers && row.Error == "" && characters > longAnswer:
		bare.Content = fmt.Sprintf(`{"ok":true,"omitted":"this answer of %d characters has left your view"}`,
			characters)
	default:
		return row
	}
	return &bare
}

func strip(text string) string { return thinking.ReplaceAllString(text, "") }

func cut(text string, at int) string {
	if utf8.RuneCountInString(text) <= at+len(marker) {
		return text
	}
	return strings.TrimSpace(annotator.Clip(text, at, "")) + marker
}

// count adds a message to the sizes of a turn. Replies of more than long characters can be cut.
func (t *Turn) count(kind annotator.TraceKind, content string, long int) {
	size := tokens.Measure(content)
	t.Size = t.Size.Plus(size).Framed(tokens.PerMessage)
	if kind == annotator.TraceReply {
		t.Strips = t.Strips.Plus(size.Minus(tokens.Measure(strip(content))))
		t.Cuts = t.Cuts.Plus(size.Minus(tokens.Measure(cut(content, long))))
	}
}
