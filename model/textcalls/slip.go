package textcalls

import (
	"errors"
	"regexp"
	"strings"

	"annotator/internal/laxjson"
)

// Slip describes for the model what looks like a call in a text without calls: the name of a tool next to a bracket.
// The description quotes the text and names the error. It is empty if nothing looks like a call. Quotations of the
// shown texts do not count.
func Slip(text string, tools *Tools, shown ...string) string {
	if len(text) > maxText {
		return ""
	}
	for _, at := range names.FindAllStringIndex(text, -1) {
		if !tools.Known(strings.ReplaceAll(text[at[0]:at[1]], `\`, "")) || !nextToBracket(text, at[0], at[1]) {
			continue
		}
		start := callStart(text, at[0])
		if end := strings.IndexAny(text[at[0]:]+"\n", "\n<"); Quoted(text[at[0]:at[0]+end], shown...) {
			continue
		}
		return wrongAt(text, start, slipAt(text[start:], tools))
	}
	return ""
}

var (
	names  = regexp.MustCompile(`[\pL_][\pL\pN_\\]*`)
	before = regexp.MustCompile("(?:[{<]|[\"'“](?:name|function|tool|tool_name)[\"'”]\\s*:)\\s*[\"'“`]?$")
	behind = regexp.MustCompile("^(?::[0-9]+)?(?:[\"'”`]?[({\\[<]|[\"'”]\\s*:|\\s*\\n?\\s*[{<])")
)

// nextToBracket reports whether the name at text[start:end] is next to a bracket or the key of a call.
func nextToBracket(text string, start, end int) bool {
	return behind.MatchString(text[end:min(len(text), end+40)]) || before.MatchString(text[max(0, start-40):start])
}

// callStart returns the start of the call whose name is at a position: the nearest bracket before it in its line, or
// the name.
func callStart(text string, name int) int {
	from := max(0, name-60)
	if bracket := strings.LastIndexAny(text[from:name], "{<"); bracket >= 0 {
		return from + bracket
	}
	return name
}

// slipAt returns why a text that begins with a call cannot be read.
func slipAt(text string, tools *Tools) error {
	s := scanner{text: text, tools: tools}
	switch _, _, err := s.body(text); {
	case err == nil:
		return errors.New("it stands within other text, and a call must stand alone")
	case !errors.Is(err, errNoCall):
		return err
	}
	if strings.HasPrefix(text, "{") {
		if _, _, err := laxjson.Prefix(text); err != nil {
			return err
		}
	}
	return errors.New("it has no form in which calls are read")
}

// Nothing reports whether a text is an empty list of calls. Some models write one instead of no call.
func Nothing(text string) bool {
	strict, err := laxjson.Value(text)
	return err == nil && strict == "[]"
}
