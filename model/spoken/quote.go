package spoken

import (
	"html"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// quotable is how much of a piece that is wrong is compared with what the model was shown, in bytes.
const quotable = 160

// Spare takes what the model was shown for what it is: a piece that stands there, too, is a quotation, and no call. Texts are
// compared by their letters and digits, with entities and escapes read, so that it makes no difference how either of the two is
// wrapped, indented, quoted or escaped.
func (f *Found) Spare(shown ...string) {
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
			beginning := f.text[p.start:min(len(f.text), p.start+quotable)]
			return stands(plain, p.mark) && (p.mentions(f.text) || stands(signs, signsOf(unescape(beginning))))
		}
		return slices.ContainsFunc(p.calls, func(c said) bool { return stands(signs, signsOf(unescape(c.source))) })
	})
}

// mentions reports whether the mark of a piece that is wrong is spoken of, rather than followed by what might be a call.
func (p *piece) mentions(text string) bool {
	next := strings.TrimLeft(text[p.start+len(p.mark):], space)
	return p.mark != "" && !strings.ContainsAny(next[:min(1, len(next))], "{[<")
}

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
