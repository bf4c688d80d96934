package offline

import (
	"fmt"
	"html"
	"strings"
)

// names answers of each phrase in the last message that it is nobody's name: its rules cannot tell. The result is empty
// if nothing is asked.
func (m *Model) names(w *window) string {
	var b strings.Builder
	for asked := range elements(w.last, "phrases") {
		for phrase := range elements(asked.body, "phrase") {
			fmt.Fprintf(&b, "<name of=\"nobody\">%s</name>\n", html.EscapeString(phrase.attrs["text"]))
		}
	}
	return b.String()
}

// asksNames reports whether a message asks whose names phrases are.
func asksNames(s string) bool {
	return strings.Contains(s, "\n<phrases>\n") && strings.Contains(s, "<name of=")
}
