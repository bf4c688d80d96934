package annotator

import (
	"encoding/json"
	"strings"
)

// CountWords counts the words of a text, separated by white space.
func CountWords(text string) int {
	n := 0
	for range strings.FieldsSeq(text) {
		n++
	}
	return n
}

// EncodeJSON returns a value as compact JSON without a final line feed. It does not escape <, > and &, which would
// lengthen prompts and stored text. It panics for a value that JSON cannot represent.
func EncodeJSON(value any) string {
	var b strings.Builder
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value); err != nil {
		panic(err)
	}
	return strings.TrimSuffix(b.String(), "\n")
}
