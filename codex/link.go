package codex

import "strings"

// Links returns the names by which a text refers to entries, as [[Name]] or [[Name|words]], in its order.
func Links(text string) (names []string) {
	for _, part := range strings.Split(text, "[[")[1:] {
		if inside, _, closed := strings.Cut(part, "]]"); closed {
			name, _, _ := strings.Cut(inside, "|")
			names = append(names, strings.TrimSpace(name))
		}
	}
	return names
}
