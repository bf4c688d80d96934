package textcalls

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// marks match where a call may begin, and ends of calls without a beginning.
var marks = regexp.MustCompile(strings.Join([]string{
	`(?i:</?codex_updates>)`,
	`</?tool_call>`, `</?function[=>]`, `<\|python_tag\|>`, `\[(?:TOOL_CALLS|CALL_ID|ARGS)\]`,
	"(?m:^[ \t]*(?:```|\\{|\\[\\s*\\{))", // a fence or plain JSON
	// Forms that are not read: Python, the tags of DeepSeek and others, OpenAI's own.
	`\A\s*\[?(?:print\()?\w+\(\w+\s*=`, `</?tool_code>`, `</?function_calls?>`, `<invoke `, `<[|｜]tool[_▁]calls?`, `\bto=functions\.`,
}, "|"))

// The tags of a block of codex updates, in which there are no calls written as text.
const (
	updatesMark = "<codex_updates>"
	updatesEnd  = "</codex_updates>"
)

// piece is a part of the text that has the shape of one or more calls.
type piece struct {
	start, end int    // with an error, where reading stopped
	mark       string // at its beginning; empty for plain JSON
	calls      []writtenCall
	wrong      string // what is wrong with it, in words for the model
}

// bare reports whether a piece has no mark that only calls have.
func (p *piece) bare() bool { return p.mark == "" || p.mark == fence }

// scan returns the pieces of a text, in order.
func scan(text string) []piece {
	s := scanner{text: text}
	all := marks.FindAllStringIndex(text, -1)
	for _, found := range all {
		if strings.EqualFold(text[found[0]:found[1]], updatesEnd) {
			s.updated = found[0]
		}
	}
	for _, found := range all {
		if found[0] < s.at {
			continue
		}
		if s.meet(found[0], found[1]); len(s.pieces) > maxCalls {
			break
		}
	}
	if !slices.ContainsFunc(s.pieces, func(p piece) bool { return !strings.HasPrefix(p.mark, "</") }) {
		return nil // the server has parsed the call and left its end tag
	}
	return s.pieces
}

// scanner goes through a text from mark to mark.
type scanner struct {
	text    string
	at      int  // the text before it is done
	updated int  // where the last block of updates ends: an earlier end tag may be in a string
	inside  bool // in a block of updates
	torn    bool // incomplete JSON has begun
	pieces  []piece
}

// meet handles the mark at text[start:end].
func (s *scanner) meet(start, end int) {
	mark := strings.TrimSpace(s.text[start:end])
	switch tag := strings.ToLower(mark); {
	case s.inside:
		s.inside = tag != updatesEnd || start != s.updated
	case tag == updatesMark:
		s.inside = true
	case tag != updatesEnd:
		s.read(mark, start, end)
	}
}

// begun matches JSON that is meant to be a call, whether or not it is complete.
var begun = regexp.MustCompile("^[ \t]*(?:```[\\w-]*)?\\s*\\[?\\s*\\{\\s*\"(?:name|arguments|parameters|id|type|function)\"\\s*:")

// read reads the piece that begins with a mark.
func (s *scanner) read(mark string, start, end int) {
	p := piece{start: start, mark: mark}
	if mark[0] == '{' || mark[0] == '[' && strings.HasSuffix(mark, "{") {
		p.mark, end = "", start+strings.Index(s.text[start:], mark[:1])
	}
	calls, n, err := formOf(p.mark)(s.text[end:])
	p.end, p.calls = end+n, calls
	switch {
	case err == nil && (!s.torn || !p.bare()):
		s.at = p.end
	case err == nil:
		err = errors.New("it stands in JSON that is not whole")
	case p.bare() && errors.Is(err, errNoCall): // JSON of another kind
		s.at = p.end
		return
	case p.bare() && !errors.Is(err, errForm) && !begun.MatchString(s.text[start:]):
		s.torn = true
		return
	}
	if err != nil {
		p.wrong = fmt.Sprintf("%.60q: %s", s.text[start:], err)
	}
	s.pieces = append(s.pieces, p)
}
