package model

import (
	"regexp"
	"strings"

	"annotator/model/textcalls"
)

// Each model family has its own pair of marks around its reasoning.
var (
	opening = regexp.MustCompile(`(?i)<(?:think|thinking|thought|reasoning|analysis|seed:think)>|\[THINK\]|◁think▷|` +
		`<\|START_THINKING\|>`)
	closing = regexp.MustCompile(`(?i)</(?:think|thinking|thought|reasoning|analysis|seed:think)>|\[/THINK\]|` +
		`◁/think▷|<\|END_THINKING\|>`)
)

// splitReasoning separates a text from the reasoning in it. Reasoning without an end mark extends to the end of the
// text. If only its end is marked, all text before it is reasoning: the server's template has opened it.
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

// maxWithin is the maximum number of closing marks for which a surrounding call is searched.
const maxWithin = 4

// splitReasoning separates a text from the reasoning in it, as the function does. A closing mark inside a call does not
// end reasoning. It is in an argument, or is removed if the text without it is a call. A call that begins in reasoning
// is none.
func (q *Request) splitReasoning(text string) (said, reasoning string) {
	var texts, thoughts []string
	for range maxWithin {
		before, call, behind := q.callAroundMark(text)
		if call == "" {
			break
		}
		said, reasoning = splitReasoning(before)
		texts, thoughts, text = append(texts, said, call), append(thoughts, reasoning), behind
	}
	said, reasoning = splitReasoning(text)
	return strings.Join(append(texts, said), ""), strings.TrimSpace(strings.Join(append(thoughts, reasoning), "\n"))
}

// callAroundMark splits a text around the first call that contains a closing mark of reasoning; call is empty if there
// is none.
func (q *Request) callAroundMark(text string) (before, call, behind string) {
	if q.Rules == nil {
		return text, "", ""
	}
	for from := 0; from < len(text); { // the text up to the next reasoning with both marks
		begin := find(opening, text[from:])
		for _, end := range closing.FindAllStringIndex(text[from:from+begin[0]], maxWithin) {
			at, behind := from+end[0], from+end[1]
			for _, whole := range []string{text, text[:at] + text[behind:]} {
				if start, end, ok := textcalls.Around(whole, at, &q.Rules.Tools); ok && start >= from {
					return whole[:start], whole[start:end], whole[end:]
				}
			}
		}
		from += begin[1]
		from += findClosing(text[from-(begin[1]-begin[0]):from], text[from:])[1]
	}
	return text, "", ""
}

// findClosing returns the end of the reasoning that a mark has opened: the closing mark of its kind, otherwise any.
func findClosing(mark, text string) []int {
	if name, isTag := strings.CutPrefix(mark, "<"); isTag && strings.HasSuffix(name, ">") {
		until := strings.Index(text, mark) // the rest belongs to other reasoning
		if until < 0 {
			until = len(text)
		}
		end := "</" + name
		if at := strings.Index(strings.ToLower(text[:until]), strings.ToLower(end)); at >= 0 &&
			len(strings.ToLower(text[:until])) == until {
			return []int{at, at + len(end)}
		}
	}
	return find(closing, text)
}

// find returns the location of the first mark; the end of the text if there is none.
func find(mark *regexp.Regexp, text string) []int {
	if at := mark.FindStringIndex(text); at != nil {
		return at
	}
	return []int{len(text), len(text)}
}
