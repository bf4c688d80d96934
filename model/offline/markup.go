package offline

import (
	"html"
	"iter"
	"strings"
)

// element is one <name attr="value">body</name> of a message. The body is as it stands, still escaped.
type element struct {
	attrs map[string]string
	body  string
	span  // of the whole element, in the text it was found in
}

// elements yields the elements of a name in order. What is malformed is read as far as it goes: an element that is never
// closed ends with the text.
func elements(text, name string) iter.Seq[element] {
	return func(yield func(element) bool) {
		for at := 0; ; {
			e, ok := nextElement(text, name, at)
			if !ok || !yield(e) {
				return
			}
			at = e.end
		}
	}
}

func nextElement(text, name string, at int) (element, bool) {
	start := openTag(text, name, at)
	if start < 0 {
		return element{}, false
	}
	head, _, closed := strings.Cut(text[start:], ">")
	if !closed {
		return element{}, false
	}
	e := element{attrs: attributes(head), span: span{start - len("<"+name), start + len(head) + 1}}
	if strings.HasSuffix(head, "/") {
		return e, true
	}
	e.body = text[e.end:]
	if end := strings.Index(e.body, "</"+name+">"); end >= 0 {
		e.body = e.body[:end]
		e.end += len("</" + name + ">")
	}
	e.end += len(e.body)
	return e, true
}

// openTag returns the offset just after "<name" of the next such tag, or -1.
func openTag(text, name string, at int) int {
	for {
		i := strings.Index(text[at:], "<"+name)
		if i < 0 {
			return -1
		}
		at += i + 1 + len(name)
		if at < len(text) && strings.IndexByte(" >/\n\t", text[at]) >= 0 {
			return at
		}
	}
}

// attributes reads key="value" pairs.
func attributes(head string) map[string]string {
	attrs := map[string]string{}
	for {
		key, rest, ok := strings.Cut(head, `="`)
		if !ok {
			return attrs
		}
		value, rest, ok := strings.Cut(rest, `"`)
		if !ok {
			return attrs
		}
		attrs[strings.TrimSpace(key)] = html.UnescapeString(value)
		head = rest
	}
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
