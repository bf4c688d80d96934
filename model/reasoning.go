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

// splitReasoning parts a text from the reasoning in it. Reasoning that is not closed goes on to the end. Where only its
// end is marked, all before it is reasoning: the server's template has opened it.
func splitReasoning(text string) (said, reasoning string) {
	var texts, thoughts []string
	first := find(opening, text)
	if ends := closing.FindAllStringIndex(text[:first[0]], -1); len(ends) > 0 {
		end := ends[len(ends)-1]
		thoughts, text = append(thoughts, closing.ReplaceAllString(text[:end[0]], "")), text[end[1]:]
	}
	for text != "" {
		begin := find(opening, text)
		mark := text[begin[0]:begin[1]]
		texts, text = append(texts, closing.ReplaceAllString(text[:begin[0]], "")), text[begin[1]:]
		end := findClosing(mark, text)
		thoughts, text = append(thoughts, strings.TrimSpace(opening.ReplaceAllString(text[:end[0]], ""))), text[end[1]:]
	}
	return strings.Join(texts, ""), strings.TrimSpace(strings.Join(thoughts, "\n"))
}

// findClosing returns where reasoning ends that a mark has opened: at the closing mark of its kind, otherwise at any.
func findClosing(mark, text string) []int {
	if name, isTag := strings.CutPrefix(mark, "<"); isTag && strings.HasSuffix(name, ">") {
		until := strings.Index(text, mark) // what follows belongs to other reasoning
		if until < 0 {
			until = len(text)
		}
		end := "</" + name
		if at := strings.Index(strings.ToLower(text[:until]), strings.ToLower(end)); at >= 0 && len(strings.ToLower(text[:until])) == until {
			return []int{at, at + len(end)}
		}
	}
	return find(closing, text)
}

// find returns where a mark stands first; the end of the text, where there is none.
func find(mark *regexp.Regexp, text string) []int {
	if at := mark.FindStringIndex(text); at != nil {
		return at
	}
	return []int{len(text), len(text)}
}
