package model

import (
	"regexp"
	"strings"
)

// Each model family has its own pair of marks around its reasoning.
var (
	opening = regexp.MustCompile(`(?i)<(?:think|thinking|thought|reasoning|analysis|seed:think)>|\[THINK\]|◁think▷|<\|START_THINKING\|>`)
	closing = regexp.MustCompile(`(?i)</(?:think|thinking|thought|reasoning|analysis|seed:think)>|\[/THINK\]|◁/think▷|<\|END_THINKING\|>`)
)

// splitReasoning parts a text from the reasoning in it. Reasoning that is not closed goes on to the end. Where only its end is
// marked, all before it is reasoning: the template of the server's has opened it.
func splitReasoning(text string) (said, reasoning string) {
	var says, thinks []string
	first := find(opening, text)
	if ends := closing.FindAllStringIndex(text[:first[0]], -1); len(ends) > 0 {
		end := ends[len(ends)-1]
		thinks, text = append(thinks, closing.ReplaceAllString(text[:end[0]], "")), text[end[1]:]
	}
	for text != "" {
		begin := find(opening, text)
		says, text = append(says, closing.ReplaceAllString(text[:begin[0]], "")), text[begin[1]:]
		end := find(closing, text)
		thinks, text = append(thinks, strings.TrimSpace(opening.ReplaceAllString(text[:end[0]], ""))), text[end[1]:]
	}
	return strings.Join(says, ""), strings.TrimSpace(strings.Join(thinks, "\n"))
}

// find returns where a mark stands first; the end of the text, where there is none.
func find(mark *regexp.Regexp, text string) []int {
	if at := mark.FindStringIndex(text); at != nil {
		return at
	}
	return []int{len(text), len(text)}
}
