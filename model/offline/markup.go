package offline

import (
	"html"
	"iter"
	"regexp"
	"strings"
)

// element is one <name attr="value">body</name> of a message. The body is still escaped.
type element struct {
	attrs map[string]string
	body  string
	span  // of the whole element, in the text it was found in
}

// elements yields the elements of a name in order. An element without an end tag ends with the text.
func elements(text, name string) iter.Seq[element] {
	closing := "</" + name + ">"
	return func(yield func(element) bool) {
		for start := openTag(text, name, 0); start >= 0; {
			head, rest, whole := strings.Cut(text[start:], ">")
			if !whole {
				return
			}
			e := element{attrs: attributes(head), span: span{start, start + len(head) + 1}}
			if !strings.HasSuffix(head, "/") {
				e.body, rest, _ = strings.Cut(rest, closing)
				e.end = len(text) - len(rest)
			}
			if !yield(e) {
				return
			}
			start = openTag(text, name, e.end)
		}
	}
}

// openTag returns the offset of the next tag of a name, or -1.
func openTag(text, name string, at int) int {
	for {
		i := strings.Index(text[at:], "<"+name)
		if i < 0 {
			return -1
		}
		start := at + i
		at = start + 1 + len(name)
		if at < len(text) && strings.IndexByte(" >/\n\t", text[at]) >= 0 {
			return start
		}
	}
}

var attribute = regexp.MustCompile(`([\w-]+)="([^"]*)"`)

// attributes reads key="value" pairs.
func attributes(head string) map[string]string {
	attrs := map[string]string{}
	for _, found := range attribute.FindAllStringSubmatch(head, -1) {
		attrs[found[1]] = html.UnescapeString(found[2])
	}
	return attrs
}

// without returns the text without the elements of a name.
func without(text, name string) string {
	var rest strings.Builder
	at := 0
	for e := range elements(text, name) {
		rest.WriteString(text[at:e.start])
		at = e.end
	}
	rest.WriteString(text[at:])
	return rest.String()
}
