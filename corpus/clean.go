package corpus

import (
	"strings"
	"unicode/utf8"
)

// clean returns text as the program can pass it on: SQLite stores bytes that are no UTF-8, and NUL ends a text in half of the
// places it comes to.
func clean(text string) string {
	if !utf8.ValidString(text) {
		text = strings.ToValidUTF8(text, "\uFFFD")
	}
	if strings.IndexByte(text, 0) >= 0 {
		text = strings.ReplaceAll(text, "\x00", "\uFFFD")
	}
	return text
}
