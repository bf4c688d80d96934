package textcalls

import (
	"html"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// RemoveQuotations removes the pieces that are also in a text that the model was shown: they are quotations. Texts are
// compared by letters and digits, with entities and escapes decoded. So wrapping, indentation, quoting and escaping
// make no difference. Of an invalid piece, the part that could be read is compared, including its mark.
func (f *Found) RemoveQuotations(shown ...string) {
	if f.Empty() {
		return
	}
	plain := make([]string, len(shown))
	characters := make([]string, len(shown))
	for i, text := range shown {
		plain[i] = unescape(text)
		characters[i] = charactersOf(plain[i])
	}
	stands := func(texts []string, part string) bool {
		return slices.ContainsFunc(texts, func(text string) bool { return strings.Contains(text, part) })
	}
	f.pieces = slices.DeleteFunc(f.pieces, func(p piece) bool {
		if p.wrong != "" {
			return stands(plain, p.mark) && stands(characters, charactersOf(unescape(f.text[p.start:p.end])))
		}
		return slices.ContainsFunc(p.calls, func(c writtenCall) bool {
			return stands(characters, charactersOf(unescape(c.source)))
		})
	})
}

// Quoted reports whether a piece of text is in one of the shown texts, compared as by RemoveQuotations. A piece without
// a letter or digit is in none.
func Quoted(piece string, shown ...string) bool {
	characters, words := charactersOf(unescape(piece)), wordsOf(piece)
	return characters != "" && slices.ContainsFunc(shown, func(text string) bool {
		missing := func(word string) bool { return !strings.Contains(text, word) }
		return !slices.ContainsFunc(words, missing) && strings.Contains(charactersOf(unescape(text)), characters)
	})
}

// wordsOf returns the longer words of a text, which no escaping changes. A text that lacks one of them need not be
// compared.
func wordsOf(text string) []string {
	return word.FindAllString(escaping.ReplaceAllString(text, " "), -1)
}

var (
	word     = regexp.MustCompile(`[0-9A-Za-z]{4,}`)
	escaping = regexp.MustCompile(`\\+(?:u[0-9a-fA-F]{4}|[nrtbf])?|&#?\w+;`)
)

// unescape decodes the escapes of HTML and JSON, repeatedly.
func unescape(text string) string {
	for range 4 {
		text = html.UnescapeString(escapes.ReplaceAllStringFunc(text, escaped))
	}
	return text
}

// escapes are those of JSON, also of JSON in JSON.
var escapes = regexp.MustCompile(`\\+(?:u[0-9a-fA-F]{4}|[nrtbf])?`)

// escaped returns the character of an escape if it is a letter or digit, else an empty string.
func escaped(escape string) string {
	escape = strings.TrimLeft(escape, `\`)
	if len(escape) < 5 {
		return ""
	}
	code, _ := strconv.ParseUint(escape[1:], 16, 16)
	return string(rune(code))
}

// charactersOf returns the letters and digits of a text in lower case.
func charactersOf(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return unicode.ToLower(r)
		}
		return -1
	}, text)
}
