package offline

import (
	"fmt"
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

// asksPresent reports whether a message asks what entries are now.
func asksPresent(s string) bool {
	return strings.Contains(s, "\n<outdated>\n") && strings.Contains(s, "<present id=")
}
