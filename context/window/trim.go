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

// bare returns the row of a scene without the entries attached to it, if a compaction has said so. They may be out of
// date, and are shown again where a later scene needs them.
func (h *History) bare(row *annotator.Trace) *annotator.Trace {
	if row.Kind != annotator.TraceScene || row.Turn > h.state.Bare {
		return row
	}
	scene := *row
	scene.Attached, scene.Shows = "", nil
	return &scene
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
