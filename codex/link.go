package codex

import (
	"regexp"
	"strings"
)

// links matches [[Name]] and [[Name|words]], by which a text refers to entries.
var links = regexp.MustCompile(`\[\[([^\[\]|]+)(?:\|([^\[\]|]+))?\]\]`)

// Links returns the names by which a text refers to entries, as [[Name]] or [[Name|words]], in its order.
func Links(text string) (names []string) {
	ReplaceLinks(text, func(string) {}, func(name, _ string) { names = append(names, strings.TrimSpace(name)) })
	return names
}

// WithoutLinks returns a text with the words of its links in their place.
func WithoutLinks(text string) string {
	var b strings.Builder
	ReplaceLinks(text, func(plain string) { b.WriteString(plain) }, func(_, shown string) { b.WriteString(shown) })
	return b.String()
}

// LinkNames returns a text with the names to which its links refer in their place.
func LinkNames(text string) string {
	var b strings.Builder
	ReplaceLinks(text, func(plain string) { b.WriteString(plain) }, func(name, _ string) { b.WriteString(name) })
	return b.String()
}

// ReplaceLinks calls plain for each piece of a text outside of links, and link for each link, in order.
func ReplaceLinks(text string, plain func(string), link func(name, shown string)) {
	at := 0
	for _, match := range links.FindAllStringSubmatchIndex(text, -1) {
		plain(text[at:match[0]])
		name := text[match[2]:match[3]]
		shown := name
		if match[4] >= 0 {
			shown = text[match[4]:match[5]]
		}
		link(name, shown)
		at = match[1]
	}
	plain(text[at:])
}
