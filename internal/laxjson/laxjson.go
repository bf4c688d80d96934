// Package laxjson reads JSON as language models write it: lenient in form, strict in content.
//
// In addition to strict JSON it accepts:
//   - strings in single or curly quotes and in the quotes of Python and Gemma
//   - line breaks, tabs and unknown escapes in strings; an unknown escape is the character after the backslash
//   - True, False and None in any case, and tuples
//   - keys without quotes, trailing commas, and a missing comma between two objects of a list
//   - comments
//
// It adds and guesses nothing. An incomplete value, an expression and a bare word as a value are errors. So are another
// missing comma, an unescaped quote, a duplicate key, and text after a value.
//
// Readings accepts two more errors: an extra closing bracket, and missing commas in objects. There may be several
// readings. The caller selects one that fits a schema.
package laxjson

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"annotator"
)

// MaxDepth is the maximum nesting of arrays and objects.
const MaxDepth = 18

// Prefix reads the value at the beginning of a text. It returns the value as strict JSON, which is the text itself if
// that is strict, and the length of the value. After an error, n is its offset.
func Prefix(text string) (strict string, n int, err error) {
	r := reader{text: text, surplus: -1}
	if strict, err = r.read(); err != nil && r.lineEnd > 0 {
		r.at = min(r.at, r.lineEnd)
	}
	return strict, r.at, err
}

// Reading is a way to read the value at the beginning of a text.
type Reading struct {
	Strict string // JSON
	Size   int    // of what was read, in bytes
}

// Limits of the number of closing brackets that are tried as the extra one.
const (
	maxReadings = 32
	minReadings = 2
	maxReread   = 1 << 18 // bytes in all
)

// Readings returns all readings of the value at the beginning of a text. One closing bracket may be extra, and commas
// may be missing before the keys of an object. A reading never ends before the text does.
func Readings(text string) (all []Reading) {
	first := reader{text: text, surplus: -1, slips: true}
	strict, err := first.read()
	size := first.at
	at := size + Space(text[size:])
	if surplus := at < len(text) && strings.IndexByte("}]", text[at]) >= 0; surplus {
		first.ends = append(first.ends, at)
		size = at + 1
	}
	if err == nil && !goesOn(text[size:]) {
		all = append(all, Reading{strict, size})
	}
	number := min(maxReadings, max(minReadings, maxReread/(1+first.at)), len(first.ends))
	for _, end := range first.ends[len(first.ends)-number:] {
		r := reader{text: text, surplus: end, slips: true}
		if strict, err := r.read(); err == nil && r.at > end && !goesOn(text[r.at:]) {
			all = append(all, Reading{strict, r.at})
		}
	}
	return all
}

// goesOn reports whether the text after a value has more closing brackets.
func goesOn(text string) bool {
	text = text[Space(text):]
	return text != "" && strings.IndexByte("}]", text[0]) >= 0
}

// Value reads a text that is exactly one value. It ignores a fence, a byte order mark, comments and marks of the end of
// a message.
func Value(text string) (strict string, err error) {
	text = strings.TrimPrefix(strings.TrimSpace(text), "\ufeff")
	text = text[len(openingFence.FindString(text)):]
	strict, n, err := Prefix(text)
	if err != nil {
		return "", fmt.Errorf("%w, at byte %d of %d", err, n, len(text))
	}
	if rest := text[n+Space(text[n:]):]; !endMarks.MatchString(rest) {
		return "", fmt.Errorf("something follows the value: %.40s", rest)
	}
	return strict, nil
}

var (
	openingFence = regexp.MustCompile("^```\\w*[ \t]*\n?")
	endMarks     = regexp.MustCompile("^(?:\\s|```|;|</[\\w:]{1,40}>|<[|｜][^<>|｜]{1,40}[|｜]>)*$")
)

// Object reads a text that is exactly one object, like Value. The object may be encoded twice, as a string that
// contains it.
func Object(text string) (strict string, err error) {
	for range 2 {
		if strict, err = Value(text); err != nil {
			return "", err
		}
		if strict[0] == '{' {
			return strict, nil
		}
		if json.Unmarshal([]byte(strict), &text) != nil {
			break
		}
	}
	return "", errors.New("not a JSON object")
}

// Space returns the length of white space and comments at the beginning of a text. Models also write line breaks as
// escapes outside of strings.
func Space(text string) int { return len(space.FindString(text)) }

var space = regexp.MustCompile(`^(?:[\s\x{a0}\x{feff}]|\\[nrt]|//[^\n]*|#[^\n]*|/\*[^*]{0,200}\*/)*`)

// reader reads one value from a text and writes it as strict JSON.
type reader struct {
	text    string
	at      int
	lineEnd int // the first line break in the newest string, where a quote may be missing; 0 for none
	out     strings.Builder

	slips   bool  // commas may be missing before the keys of an object
	surplus int   // the offset of the extra closing bracket; -1 for none
	ends    []int // the offsets of the closing brackets
}

// read reads the value.
func (r *reader) read() (strict string, err error) {
	if err := r.value(0); err != nil {
		return "", err
	}
	if read := r.text[:r.at]; json.Valid([]byte(read)) {
		return strings.TrimLeft(read, " \t\r\n"), nil
	}
	strict = r.out.String()
	if strings.ContainsRune(strict, utf8.RuneError) && !strings.ContainsRune(r.text[:r.at], utf8.RuneError) {
		return "", errors.New("an escape is half of a character")
	}
	return strict, nil
}

func (r *reader) skip() {
	if r.at += Space(r.text[r.at:]); r.at == r.surplus {
		r.at++
		r.at += Space(r.text[r.at:])
	}
}

// errEnd is the error for an incomplete value.
var errEnd = errors.New("the text ends inside the value")

func (r *reader) value(depth int) error {
	r.skip()
	rest := r.text[r.at:]
	switch {
	case rest == "":
		return errEnd
	case depth > MaxDepth:
		return fmt.Errorf("it is more than %d levels deep", MaxDepth)
	case rest[0] == '{':
		keys := map[string]bool{}
		_, err := r.list("}", "{}", func() error { return r.member(keys, depth+1) })
		return err
	case rest[0] == '[':
		_, err := r.list("]", "[]", func() error { return r.value(depth + 1) })
		return err
	case rest[0] == '(':
		commas, err := r.list(")", "[]", func() error { return r.value(depth + 1) })
		if err == nil && commas == 0 && r.text[r.at-2] != '(' {
			err = errors.New("brackets without a comma are an expression, not a value")
		}
		return err
	}
	if text, isString, err := r.quoted(); isString {
		r.out.WriteString(annotator.EncodeJSON(text))
		return err
	}
	return r.word(rest)
}

// list reads elements up to the closing bracket, and writes them between the brackets of strict JSON.
func (r *reader) list(end, brackets string, element func() error) (commas int, err error) {
	r.at++
	r.out.WriteByte(brackets[0])
	before := byte(0) // first of the element before
	for n := 0; ; n++ {
		r.skip()
		rest := r.text[r.at:]
		switch {
		case rest == "":
			return commas, errEnd
		case strings.HasPrefix(rest, end):
			r.ends = append(r.ends, r.at)
			r.at++
			r.out.WriteByte(brackets[1])
			return commas, nil
		case n > commas && (before == '{' && rest[0] == '{' || r.slips && end == "}" && nextKey.MatchString(rest)):
			commas++
			r.out.WriteByte(',')
		case n > commas:
			return commas, errors.New("a comma is missing, or a quote is not escaped")
		case n > 0:
			r.out.WriteByte(',')
		}
		before = rest[0]
		if err := element(); err != nil {
			return commas, err
		}
		if r.skip(); strings.HasPrefix(r.text[r.at:], ",") {
			r.at++
			commas++
		}
	}
}

// nextKey matches a key in quotes, with its colon.
var nextKey = regexp.MustCompile(`^(?:"[^"\\\n]{1,60}"|'[^'\\\n]{1,60}')\s*:`)

var bareKey = regexp.MustCompile(`^[\pL_$][\pL\pN_$.-]*`)

// member reads a key and its value.
func (r *reader) member(keys map[string]bool, depth int) error {
	key, isString, err := r.quoted()
	if err != nil {
		return err
	}
	if !isString {
		key = bareKey.FindString(r.text[r.at:])
		r.at += len(key)
	}
	if r.skip(); !strings.HasPrefix(r.text[r.at:], ":") {
		if r.at == len(r.text) {
			return errEnd
		}
		return errors.New("a key with a colon behind it was expected; a quote before it may not be escaped")
	}
	r.at++
	if keys[key] {
		return fmt.Errorf("the key %.100q stands twice in it", key)
	}
	keys[key] = true
	r.out.WriteString(annotator.EncodeJSON(key) + ":")
	return r.value(depth)
}

// quotes are the pairs of quotes around strings. A longer one precedes its prefixes.
var quotes = [][2]string{
	{`"""`, `"""`},
	{"'''", "'''"},
	{`"`, `"`},
	{"'", "'"},
	{"“", "”"},
	{"‘", "’"},
	{`<|"|>`, `<|"|>`},
	{"<escape>", "<escape>"}, // Gemma
}

// quoted reads a string with its quotes, if one begins here.
func (r *reader) quoted() (text string, isString bool, err error) {
	for _, pair := range quotes {
		body, found := strings.CutPrefix(r.text[r.at:], pair[0])
		if !found {
			continue
		}
		text, n, err := unquote(body, pair[1])
		r.lineEnd = 0
		if size := strings.IndexByte(body[:n], '\n'); size >= 0 {
			r.lineEnd = r.at + len(pair[0]) + size
		}
		r.at += len(pair[0]) + n
		return text, true, err
	}
	return "", false, nil
}

// unquote reads the characters of a string up to its closing quote. It returns their length in bytes, including the
// quote.
func unquote(body, end string) (text string, n int, err error) {
	var b strings.Builder
	for n < len(body) {
		switch {
		case strings.HasPrefix(body[n:], end):
			return b.String(), n + len(end), nil
		case body[n] == '\\':
			size, err := unescape(&b, body[n:])
			if err != nil {
				return "", n, err
			}
			n += size
		default:
			size := 1
			if body[n] >= utf8.RuneSelf {
				_, size = utf8.DecodeRuneInString(body[n:])
			}
			b.WriteString(body[n : n+size])
			n += size
		}
	}
	return "", n, errEnd
}

// unescape reads the escape at the beginning of a text.
func unescape(b *strings.Builder, text string) (n int, err error) {
	if len(text) < 2 {
		return len(text), errEnd
	}
	digits := map[byte]int{'u': 4, 'x': 2}[text[1]]
	if digits > 0 {
		return unescapeCode(b, text, digits)
	}
	if at := strings.IndexByte("bfnrt", text[1]); at >= 0 {
		b.WriteByte("\b\f\n\r\t"[at])
		return 2, nil
	}
	r, size := utf8.DecodeRuneInString(text[1:])
	b.WriteRune(r)
	return 1 + size, nil
}

// unescapeCode reads the escape of a code point, or two for a surrogate pair.
func unescapeCode(b *strings.Builder, text string, digits int) (n int, err error) {
	code := func(text string) (rune, error) {
		if len(text) < 2+digits || text[0] != '\\' || text[1] != 'u' && digits == 4 {
			return 0, errors.New("an escape is not whole")
		}
		c, err := strconv.ParseUint(text[2:2+digits], 16, 32)
		return rune(c), err
	}
	r, err := code(text)
	if err != nil {
		return 0, err
	}
	n = 2 + digits
	if utf16.IsSurrogate(r) {
		low, err := code(text[n:])
		if r = utf16.DecodeRune(r, low); err == nil && r != utf8.RuneError {
			n += 2 + digits
		} else {
			r = utf8.RuneError // strict JSON may have halves of characters
		}
	}
	b.WriteRune(r)
	return n, nil
}

var (
	number  = regexp.MustCompile(`^-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?`)
	literal = regexp.MustCompile(`^(?i:true|false|null|none)`)
	more    = regexp.MustCompile(`^[\pL\pN_.+*/%"'(\[{-]`) // behind a value: it is part of an expression
	comment = regexp.MustCompile(`^/[/*]`)
)

// word reads a number or a literal.
func (r *reader) word(rest string) error {
	word := number.FindString(rest)
	if name := strings.ToLower(literal.FindString(rest)); name != "" {
		word = name
	}
	behind := rest[len(word):]
	switch {
	case word == "":
		return errors.New("a value was expected; words need quotes")
	case behind != "" && more.MatchString(behind) && !comment.MatchString(behind):
		return errors.New("an expression is no value")
	}
	if word == "none" {
		word = "null"
	}
	r.out.WriteString(word)
	r.at += len(rest) - len(behind)
	return nil
}
