package replay

import (
	"encoding/json"
	"fmt"
	"unicode/utf8"
)

// The bytes of a text that are shown before a difference and from there on.
const (
	shownBefore = 40
	shownAfter  = 60
)

// firstDifference describes the first difference of two sequences of parts: where it is, and the text around it.
func firstDifference(recorded, now []json.RawMessage) string {
	before, after := describe(recorded), describe(now)
	for i := range min(len(before), len(after)) {
		if before[i] != after[i] {
			at := common(before[i].text, after[i].text)
			return fmt.Sprintf("%s, at byte %d: recorded %q, now %q", after[i].name, at,
				around(before[i].text, at), around(after[i].text, at))
		}
	}
	if len(before) < len(after) {
		more := after[len(before)]
		return fmt.Sprintf("%s, which the recorded one does not have: %q", more.name, around(more.text, 0))
	}
	if len(before) > len(after) {
		less := before[len(after)]
		return fmt.Sprintf("%s, which it no longer has: %q", less.name, around(less.text, 0))
	}
	return "the grouping of its messages"
}

// item is a text of a request with what it is.
type item struct{ name, text string }

// describe returns the texts of parts. Messages are numbered from 1.
func describe(parts []json.RawMessage) (items []item) {
	n := 0
	for _, raw := range parts {
		var p part
		err := json.Unmarshal(raw, &p)
		switch {
		case err == nil && p.System != nil:
			items = append(items, item{"the system prompt", *p.System})
		case err == nil && p.Tools != nil:
			items = append(items, item{"the tools", string(raw)})
		case err != nil || len(p.Messages) == 0:
			items = append(items, item{"a part of no known kind", string(raw)})
		}
		for i := range p.Messages {
			n++
			items = append(items, item{fmt.Sprintf("message %d (%s)", n, p.Messages[i].Role), p.Messages[i].text()})
		}
	}
	return items
}

// text returns the words of a message that has nothing else, or all of it.
func (m *message) text() string {
	if len(m.ToolCalls) == 0 && m.ToolCallID == "" && m.Reasoning == "" {
		return m.Content
	}
	whole, _ := encode(m) // strings can be encoded
	return string(whole)
}

// common returns how many bytes two texts have in common at their beginning.
func common(a, b string) int {
	n := 0
	for n < min(len(a), len(b)) && a[n] == b[n] {
		n++
	}
	return n
}

// around returns the text around an offset, in whole characters.
func around(text string, at int) string {
	from, to := max(0, at-shownBefore), min(len(text), at+shownAfter)
	for from > 0 && !utf8.RuneStart(text[from]) {
		from--
	}
	for to < len(text) && !utf8.RuneStart(text[to]) {
		to++
	}
	return text[from:to]
}
