package model

import (
	"regexp"
	"strings"
)

// marks are the pairs of signs between which model families think aloud.
const marks = `<(?:think|thinking|thought|reasoning|analysis|seed:think)>|\[THINK\]|◁think▷|<\|START_THINKING\|>`

// closings end what began with one of marks.
const closings = `</(?:think|thinking|thought|reasoning|analysis|seed:think)>|\[/THINK\]|◁/think▷|<\|END_THINKING\|>`

var (
	opening = regexp.MustCompile(`(?i)` + marks)
	closing = regexp.MustCompile(`(?i)` + closings)
)

// Settle gives a reply the one form that all wires' replies have: what the model thinks aloud in its text, as some servers leave it
// there, goes to its reasoning, from which nothing is ever executed.
func (r *Reply) Settle() {
	if said, thought := divide(r.Text); thought != "" || len(said) < len(r.Text) {
		r.Text = strings.TrimSpace(said)
		r.Reasoning = strings.TrimSpace(r.Reasoning + "\n" + thought)
	}
	// SQLite would end the text there.
	r.Reasoning = strings.ReplaceAll(r.Reasoning, "\x00", "\uFFFD")
	r.Model, r.Finish = clip(r.Model), clip(r.Finish)
}

// divide tells what a text says from what it thinks. A thought that is never closed swallows the rest; where only its end is
// marked, the server has kept the beginning to itself.
func divide(text string) (said, thought string) {
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
