package textcalls

import (
	"errors"
	"regexp"
	"strings"

	"annotator/internal/laxjson"
)

// Slip says what looks like a call in a text from which none was read: the name of a tool beside a bracket. The text is
// quoted as it was written, with what is wrong with it, in words for the model. It is empty where there is none, and
// what is in the shown texts does not count.
func Slip(text string, tools *Tools, shown ...string) string {
	if len(text) > maxText {
		return ""
	}
	for _, at := range names.FindAllStringIndex(text, -1) {
		if !tools.Known(strings.ReplaceAll(text[at[0]:at[1]], `\`, "")) || !beside(text, at[0], at[1]) {
			continue
		}
		start := begin(text, at[0])
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

// beside reports whether the name at text[start:end] has a bracket or the key of a call beside it.
func beside(text string, start, end int) bool {
	return behind.MatchString(text[end:min(len(text), end+40)]) || before.MatchString(text[max(0, start-40):start])
}

// begin returns where the call begins that has a name at a position: at the nearest bracket before it in its line, or
// at the name.
func begin(text string, name int) int {
	from := max(0, name-60)
	if bracket := strings.LastIndexAny(text[from:name], "{<"); bracket >= 0 {
		return from + bracket
	}
	return name
}

// slipAt says why the text from the beginning of a call on cannot be read.
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

// Nothing reports whether a text is an empty list of calls, which some models write where they make none.
func Nothing(text string) bool {
	strict, err := laxjson.Value(text)
	return err == nil && strict == "[]"
}
