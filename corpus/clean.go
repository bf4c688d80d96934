package corpus

import (
	"strings"
	"unicode/utf8"
)

// clean replaces invalid UTF-8 and NUL by U+FFFD. SQLite stores both, and NUL ends a text in many programs.
func clean(text string) string {
	if !utf8.ValidString(text) {
		text = strings.ToValidUTF8(text, "\uFFFD")
	}
	if strings.IndexByte(text, 0) >= 0 {
		text = strings.ReplaceAll(text, "\x00", "\uFFFD")
	}
	return text
}
