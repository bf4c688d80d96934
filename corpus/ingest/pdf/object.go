package pdf

import (
	"bytes"
	"encoding/hex"
	"strconv"
	"strings"
)

// The objects of PDF are nil, bool, float64, []byte for a string, and these.
type (
	name     string
	operator string
	array    []any
	dict     map[name]any
	ref      int
	// stream is a dictionary with the bytes behind it, as they are packed.
	stream struct {
		dict
		packed []byte
	}
)

// maxDepth is how deep arrays and dictionaries, pages, outlines and forms may lie in each other.
const maxDepth = 64

// lexer reads objects one by one.
type lexer struct {
	data []byte
	at   int
}

func isSpace(c byte) bool {
	return c == 0 || c == '\t' || c == '\n' || c == '\f' || c == '\r' || c == ' '
}

func isDelimiter(c byte) bool { return strings.IndexByte("()<>[]{}/%", c) >= 0 }

func (l *lexer) skipSpace() {
	for ; l.at < len(l.data); l.at++ {
		if c := l.data[l.at]; c == '%' {
			for l.at < len(l.data) && l.data[l.at] != '\n' && l.data[l.at] != '\r' {
				l.at++
			}
			l.at--
		} else if !isSpace(c) {
			return
		}
	}
}

// word reads up to a space or a delimiter.
func (l *lexer) word() string {
	start := l.at
	for l.at < len(l.data) && !isSpace(l.data[l.at]) && !isDelimiter(l.data[l.at]) {
		l.at++
	}
	return string(l.data[start:l.at])
}

// next reads an object or an operator; false at the end. Ends of arrays and dictionaries are operators.
func (l *lexer) next(depth int) (any, bool) {
	l.skipSpace()
	if l.at >= len(l.data) || depth > maxDepth {
		l.at = len(l.data)
		return nil, false
	}
	c := l.data[l.at]
	l.at++
	switch c {
	case '/':
		return name(unescape(l.word())), true
	case '(':
		return l.literal(), true
	case '[':
		return l.array(depth), true
	case '<':
		if l.at < len(l.data) && l.data[l.at] == '<' {
			l.at++
			return l.dict(depth), true
		}
		return l.hex(), true
	case '>':
		if l.at < len(l.data) && l.data[l.at] == '>' {
			l.at++
			return operator(">>"), true
		}
		return operator(">"), true
	case ']', ')', '{', '}':
		return operator(c), true
	}
	l.at--
	w := l.word()
	switch w {
	case "true", "false":
		return w == "true", true
	case "null":
		return nil, true
	}
	if c := w[0]; c >= '0' && c <= '9' || c == '-' || c == '+' || c == '.' {
		if n, err := strconv.ParseFloat(w, 64); err == nil && n > -1e9 && n < 1e9 {
			return n, true
		}
	}
	return operator(w), true
}

func (l *lexer) array(depth int) array {
	var a array
	for {
		v, ok := l.next(depth + 1)
		if !ok || v == operator("]") {
			return a
		}
		if v == operator("R") && len(a) >= 2 {
			if n, ok := a[len(a)-2].(float64); ok {
				a = append(a[:len(a)-2], ref(n))
			}
			continue
		}
		if v == operator(">>") || v == operator("endobj") {
			l.at -= len(v.(operator)) //nolint:forcetypeassert // compared above
			return a
		}
		a = append(a, v)
	}
}

func (l *lexer) dict(depth int) dict {
	d := dict{}
	var a array
	for {
		v, ok := l.next(depth + 1)
		if v == operator("endobj") {
			l.at -= len("endobj")
		}
		if !ok || v == operator(">>") || v == operator("endobj") {
			break
		}
		if n, isNumber := at(a, len(a)-2).(float64); v == operator("R") && isNumber {
			a = append(a[:len(a)-2], ref(n))
			continue
		}
		a = append(a, v)
	}
	for i := 0; i+1 < len(a); i++ {
		if key, ok := a[i].(name); ok {
			d[key] = a[i+1]
			i++
		}
	}
	return d
}

func at(a array, i int) any {
	if i < 0 || i >= len(a) {
		return nil
	}
	return a[i]
}

func (l *lexer) literal() []byte {
	var s []byte
	for depth := 1; l.at < len(l.data); l.at++ {
		c := l.data[l.at]
		switch c {
		case '(':
			depth++
		case ')':
			if depth--; depth == 0 {
				l.at++
				return s
			}
		case '\\':
			l.at++
			s = l.escape(s)
			continue
		}
		s = append(s, c)
	}
	return s
}

// escape reads what is behind a backslash, and leaves the position at its last byte.
func (l *lexer) escape(s []byte) []byte {
	if l.at >= len(l.data) {
		return s
	}
	c := l.data[l.at]
	switch {
	case c >= '0' && c <= '7':
		n, end := 0, min(l.at+3, len(l.data))
		for ; l.at < end && l.data[l.at] >= '0' && l.data[l.at] <= '7'; l.at++ {
			n = n*8 + int(l.data[l.at]-'0')
		}
		l.at--
		return append(s, byte(n)) //nolint:gosec // a high digit is ignored
	case c == '\r':
		if l.at+1 < len(l.data) && l.data[l.at+1] == '\n' {
			l.at++
		}
		return s
	case c == '\n':
		return s
	}
	if i := strings.IndexByte("nrtbf", c); i >= 0 {
		c = "\n\r\t\b\f"[i]
	}
	return append(s, c)
}

func (l *lexer) hex() []byte {
	end := bytes.IndexByte(l.data[l.at:], '>')
	if end < 0 {
		end = len(l.data) - l.at
	}
	s := unhex(l.data[l.at : l.at+end])
	l.at = min(l.at+end+1, len(l.data))
	return s
}

// unhex reads digits; others are passed over.
func unhex(text []byte) []byte {
	digits := bytes.Map(func(r rune) rune {
		if r < 0x80 && strings.ContainsRune("0123456789abcdefABCDEF", r) {
			return r
		}
		return -1
	}, text)
	if len(digits)%2 == 1 {
		digits = append(digits, '0')
	}
	s := make([]byte, len(digits)/2)
	_, _ = hex.Decode(s, digits)
	return s
}

// unescape reads the codes in a name.
func unescape(s string) string {
	before, after, ok := strings.Cut(s, "#")
	if !ok {
		return s
	}
	if len(after) >= 2 {
		if b, err := hex.DecodeString(after[:2]); err == nil {
			return before + string(b) + unescape(after[2:])
		}
	}
	return before + "#" + unescape(after)
}
