package textcalls

import (
	"html"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// RemoveQuotations takes what the model was shown for what it is: a piece that stands there, too, is a quotation, and no call. Texts are
// compared by their letters and digits, with entities and escapes read, so that it makes no difference how either of the two is
// wrapped, indented, quoted or escaped. Of a piece that is not sound, what of it could be read must stand there, mark included.
func (f *Found) RemoveQuotations(shown ...string) {
	if f.Empty() {
		return
	}
	plain := make([]string, len(shown))
	signs := make([]string, len(shown))
	for i, text := range shown {
		plain[i] = unescape(text)
		signs[i] = signsOf(plain[i])
	}
	stands := func(texts []string, part string) bool {
		return slices.ContainsFunc(texts, func(text string) bool { return strings.Contains(text, part) })
	}
	f.pieces = slices.DeleteFunc(f.pieces, func(p piece) bool {
		if p.wrong != "" {
			return stands(plain, p.mark) && stands(signs, signsOf(unescape(f.text[p.start:p.end])))
		}
		return slices.ContainsFunc(p.calls, func(c said) bool { return stands(signs, signsOf(unescape(c.source))) })
	})
}

// Quoted reports whether a piece of text stands in what the model was shown, compared as RemoveQuotations does. One without a letter or a
// digit is nobody's.
func Quoted(piece string, shown ...string) bool {
	signs, words := signsOf(unescape(piece)), wordsOf(piece)
	return signs != "" && slices.ContainsFunc(shown, func(text string) bool {
		missing := func(word string) bool { return !strings.Contains(text, word) }
		return !slices.ContainsFunc(words, missing) && strings.Contains(signsOf(unescape(text)), signs)
	})
}

// wordsOf returns the longer words of a text that are the same in whatever way it is escaped: where one is missing, nothing has to
// be compared sign by sign.
func wordsOf(text string) []string {
	return word.FindAllString(escaping.ReplaceAllString(text, " "), -1)
}

var (
	word     = regexp.MustCompile(`[0-9A-Za-z]{4,}`)
	escaping = regexp.MustCompile(`\\+(?:u[0-9a-fA-F]{4}|[nrtbf])?|&#?\w+;`)
)

// unescape reads the escapes of HTML and JSON, and those of what is escaped in turn.
func unescape(text string) string {
	for range 4 {
		text = html.UnescapeString(escapes.ReplaceAllStringFunc(text, escaped))
	}
	return text
}

// escapes are those of JSON, in JSON that may be quoted in JSON again.
var escapes = regexp.MustCompile(`\\+(?:u[0-9a-fA-F]{4}|[nrtbf])?`)

// escaped returns what an escape stands for, and nothing where that is no letter or digit: backslashes count for nothing.
func escaped(escape string) string {
	escape = strings.TrimLeft(escape, `\`)
	if len(escape) < 5 {
		return ""
	}
	code, _ := strconv.ParseUint(escape[1:], 16, 16)
	return string(rune(code))
}

// signsOf returns the letters and digits of a text.
func signsOf(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return unicode.ToLower(r)
		}
		return -1
	}, text)
}
