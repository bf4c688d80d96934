package offline

import (
	"fmt"
	"html"
	"slices"
	"strings"
)

// present states what each entry is now that the last message asks about: its first and its last fact. Claims of
// characters and inferences are omitted. The result is empty if nothing is asked.
func (m *Model) present(w *window) string {
	var b strings.Builder
	for asked := range elements(w.last, "outdated") {
		for e := range elements(asked.body, "entry") {
			var facts []string
			for _, fact := range factLine.FindAllStringSubmatch(e.body, -1) {
				if fact[1] == "" || fact[1] == "state" {
					facts = append(facts, fact[2])
				}
			}
			if n := len(facts); n > 3 {
				facts = slices.Concat(facts[:1], facts[n-2:])
			}
			if len(facts) > 0 {
				fmt.Fprintf(&b, "<present id=\"%s\">%s</present>\n", e.attrs["id"], strings.Join(facts, " "))
			}
		}
	}
	return b.String()
}

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

// asksPresent reports whether a message asks what entries are now.
func asksPresent(s string) bool {
	return strings.Contains(s, "\n<outdated>\n") && strings.Contains(s, "<present id=")
}
