package ingest

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"regexp"

	"annotator"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/htmlindex"
	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/transform"
)

func checkEncoding(name string) error {
	if _, err := htmlindex.Get(name); err != nil && name != "" {
		return annotator.Errorf(annotator.Misused, "there is no encoding %q", name).
			WithAdvice("name it as the web does: windows-1252, iso-8859-2, shift_jis, gb18030, utf-16le")
	}
	return nil
}

// decodeReader converts a source to UTF-8. The encoding is the one named, else that of the first bytes: a byte order
// mark, the zeros of UTF-16, or a declaration in markup. Else it must be UTF-8, and a byte that is not fails the
// reading with annotator.Misused. The path is for the error.
func decodeReader(r io.Reader, path, name string, markup bool) io.Reader {
	buffered := bufio.NewReaderSize(r, 64<<10)
	head, _ := buffered.Peek(4096)
	decoder := encodingOf(head, name, markup)
	if decoder == nil {
		if bytes.HasPrefix(head, []byte(utf8Mark)) {
			_, _ = buffered.Discard(len(utf8Mark))
		}
		return &validator{r: transform.NewReader(buffered, encoding.UTF8Validator), path: path}
	}
	return transform.NewReader(buffered, unicode.BOMOverride(decoder.NewDecoder()))
}

// decodeHead decodes the beginning of a file as well as it goes: it may end within a character.
func decodeHead(head []byte, name string) string {
	decoder := encodingOf(head, name, true)
	if decoder == nil {
		return string(bytes.ToValidUTF8(bytes.TrimPrefix(head, []byte(utf8Mark)), []byte("\uFFFD")))
	}
	decoded, _, _ := transform.Bytes(unicode.BOMOverride(decoder.NewDecoder()), head)
	return string(decoded)
}

// The byte order marks.
const (
	utf8Mark = "\xef\xbb\xbf"
	markLE   = "\xff\xfe"
	markBE   = "\xfe\xff"
)

var (
	declared = regexp.MustCompile(`(?i)^\s*<\?xml[^>]*?\sencoding\s*=\s*["']([\w.:-]+)["']|` +
		`<meta[^>]*?charset\s*=\s*["']?([\w.:-]+)`)
	littleEnd = unicode.UTF16(unicode.LittleEndian, unicode.IgnoreBOM)
	bigEnd    = unicode.UTF16(unicode.BigEndian, unicode.IgnoreBOM)
)

// encodingOf returns nil for UTF-8.
func encodingOf(head []byte, name string, markup bool) encoding.Encoding {
	switch {
	case bytes.HasPrefix(head, []byte(utf8Mark)):
		return nil
	case bytes.HasPrefix(head, []byte(markLE)):
		return littleEnd
	case bytes.HasPrefix(head, []byte(markBE)):
		return bigEnd
	case name != "":
		return named(name)
	}
	if e := byZeros(head); e != nil {
		return e
	}
	if match := declared.FindSubmatch(head); markup && match != nil {
		return named(string(match[1]) + string(match[2]))
	}
	return nil
}

func named(name string) encoding.Encoding {
	e, err := htmlindex.Get(name)
	if err != nil || e == unicode.UTF8 {
		return nil
	}
	return e
}

// byZeros knows UTF-16 without a mark by its zeros: text in a Latin script has one in most units, always in the same
// half.
func byZeros(head []byte) encoding.Encoding {
	var even, odd int
	for i, b := range head {
		if b != 0 {
			continue
		}
		if i%2 == 0 {
			even++
		} else {
			odd++
		}
	}
	switch units := len(head) / 2; {
	case odd*5 > units*2 && even*20 < units:
		return littleEnd
	case even*5 > units*2 && odd*20 < units:
		return bigEnd
	}
	return nil
}

// validator fails with annotator.Misused at the first byte that is no UTF-8.
type validator struct {
	r      io.Reader
	path   string
	offset int64
}

// Read implements io.Reader.
func (v *validator) Read(p []byte) (int, error) {
	n, err := v.r.Read(p)
	v.offset += int64(n)
	if errors.Is(err, encoding.ErrInvalidUTF8) {
		err = annotator.Errorf(annotator.Misused, "%s is neither UTF-8 nor UTF-16 (first bad byte at offset %d)",
			v.path, v.offset).
			WithReason(annotator.ReasonUnknownEncoding)
	}
	return n, err
}
