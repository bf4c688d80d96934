package textcalls

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// marks matches the beginnings and ends of calls, and the tags of codex updates.
var marks = regexp.MustCompile(`(?i:</?codex_updates?[^<>]{0,60}>)|</(?:tool_call|function)>|` +
	marksOf(func(f *form) bool { return f.reader != named }))

// namedMark matches the mark of the last form. It may contain other marks, so it is searched separately.
var namedMark = regexp.MustCompile(marksOf(func(f *form) bool { return f.reader == named }))

// begins are the marks of the forms, in the same order.
var begins = func() (all []*regexp.Regexp) {
	for i := range forms {
		all = append(all, regexp.MustCompile(`^(?:`+forms[i].mark+`)`))
	}
	return all
}()

// piece is a part of the text that has the shape of one or more calls.
type piece struct {
	start, end int    // with an error, where reading stopped
	mark       string // at its beginning
	sure       bool   // the mark has no other meaning
	calls      []writtenCall
	wrong      string // the problem, described for the model
	empty      bool   // words follow the mark
}

// maxWork limits how many bytes are read again after marks without a call, as a multiple of the text's length.
const maxWork = 4

// scanner scans a text from mark to mark.
type scanner struct {
	text       string
	tools      *Tools
	list       bool // the text is a list and nothing else
	at         int  // the offset up to which the text is scanned
	updated    int  // the end of the last block of updates: an earlier end tag may be in a string
	inside     bool // in a block of updates
	incomplete bool // incomplete JSON has begun
	work       int  // bytes read in vain
	pieces     []piece
	correcting bool // a text is read with corrections of slips
}

// scan finds the pieces of the text, in order.
func (s *scanner) scan() {
	s.list = wholeList.MatchString(s.text)
	all := append(marks.FindAllStringIndex(s.text, -1), namedMark.FindAllStringIndex(s.text, -1)...)
	slices.SortStableFunc(all, func(a, b []int) int { return a[0] - b[0] })
	for _, found := range all {
		if isUpdates, isEnd := updatesMark(s.text[found[0]:found[1]]); isUpdates && isEnd {
			s.updated = found[0]
		}
	}
	for _, found := range all {
		if found[0] < s.at {
			continue
		}
		s.handleMark(found[0], found[1])
		if len(s.pieces) > maxCalls || s.work > maxWork*len(s.text) {
			return
		}
	}
}

// updatesMark reports whether a mark is a tag of codex updates, in which there are no calls written as text.
func updatesMark(mark string) (isUpdates, isEnd bool) {
	found := updatesTag.FindStringSubmatch(mark)
	return found != nil, found != nil && found[1] != ""
}

// handleMark handles the mark at text[start:end].
func (s *scanner) handleMark(start, end int) {
	mark := s.text[start:end]
	switch isUpdates, isEnd := updatesMark(mark); {
	case s.inside:
		s.inside = !isUpdates || !isEnd || start != s.updated
	case isUpdates:
		s.inside = !isEnd
	case !strings.HasPrefix(mark, "</"):
		for i := range forms {
			if size := len(begins[i].FindString(mark)); size > 0 {
				s.read(&forms[i], start, start+size)
				return
			}
		}
	}
}

// begun matches the beginning of JSON that is probably a call.
var begun = regexp.MustCompile("^\\s*`*\\w*\\s*\\[?\\s*\\{\\s*" +
	"[\"'](?:name|arguments|parameters|id|type|function|tool_calls)[\"']\\s*:")

// words matches text without brackets, up to a mark or the end.
var words = regexp.MustCompile(`^[^{}()\[\]<>]*(?:$|</?tool_call>|<\|)`)

// read reads the piece that begins with a mark.
func (s *scanner) read(f *form, start, end int) {
	p := piece{start: start, mark: strings.TrimSpace(s.text[start:end]), sure: f.sure}
	whole := f.reader == tagged || f.reader == plain || f.reader == named
	if whole {
		end = start
	}
	calls, n, err := s.readForm(f, s.text[end:])
	p.end, p.calls = end+n, calls
	if err != nil {
		s.work += n
	}
	isJSON := strings.HasPrefix(strings.TrimLeft(s.text[end:], space+"`"), "{") ||
		strings.HasPrefix(strings.TrimLeft(s.text[end:], space+"`"), "[")
	switch {
	case err == nil && (!s.incomplete || f.sure):
		s.at = p.end
		if len(calls) == 0 {
			return // an empty list
		}
	case err == nil:
		err = errors.New("it stands in JSON that is not whole")
	case !f.sure && errors.Is(err, errNoCall): // of another kind
		if n > 0 && isJSON {
			s.at = p.end
		}
		return
	case !f.sure && isJSON && !begun.MatchString(s.text[start:]):
		s.incomplete = s.incomplete || whole
		return
	}
	if err != nil {
		p.wrong = wrongAt(s.text, start, err)
		p.empty = errors.Is(err, errNoCall) && words.MatchString(s.text[end:])
	}
	s.pieces = append(s.pieces, p)
}

// maxQuoted limits how many bytes of an invalid call are quoted to the model.
const maxQuoted = 120

// wrongAt describes the error at a position and quotes the text there.
func wrongAt(text string, start int, err error) string {
	return fmt.Sprintf("%s\nIt cannot be read: %s", quote(text[start:]), err)
}

// quote returns the beginning of a text.
func quote(text string) string {
	if text = strings.TrimSpace(text); len(text) > maxQuoted {
		text = strings.ToValidUTF8(text[:maxQuoted], "") + "…"
	}
	return text
}
