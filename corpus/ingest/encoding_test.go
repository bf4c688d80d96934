package ingest_test

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"annotator"
	"annotator/corpus/ingest"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/japanese"
	"golang.org/x/text/encoding/unicode"
	"pgregory.net/rapid"
)

func encode(t *testing.T, e encoding.Encoding, text string) string {
	t.Helper()
	encoded, err := e.NewEncoder().String(text)
	if err != nil {
		t.Fatal(err)
	}
	return encoded
}

func TestEncodingsAreDecoded(t *testing.T) {
	t.Parallel()
	const text = "Dant\u00e8s said: \u201cNo.\u201d\n"
	little := unicode.UTF16(unicode.LittleEndian, unicode.IgnoreBOM)
	big := unicode.UTF16(unicode.BigEndian, unicode.IgnoreBOM)
	for name, c := range map[string]struct{ data, encoding, want string }{
		"UTF-8":                 {text, "", text},
		"UTF-8 with a mark":     {"\xef\xbb\xbf" + text, "", text},
		"UTF-8 named wrongly":   {"\xef\xbb\xbf" + text, "windows-1252", text},
		"UTF-16 LE with a mark": {"\xff\xfe" + encode(t, little, text), "", text},
		"UTF-16 BE with a mark": {"\xfe\xff" + encode(t, big, text), "", text},
		"UTF-16 LE without":     {encode(t, little, text), "", text},
		"UTF-16 BE without":     {encode(t, big, text), "", text},
		"UTF-16 LE named":       {encode(t, little, "\u6f22\u5b57"), "utf-16le", "\u6f22\u5b57"},
		"windows-1252":          {encode(t, charmap.Windows1252, text), "windows-1252", text},
		"Shift JIS":             {encode(t, japanese.ShiftJIS, "\u6f22\u5b57"), "shift_jis", "\u6f22\u5b57"},
		"declared in XML": {
			`<?xml version="1.0" encoding="ISO-8859-1"?>` + "\xe8", "",
			`<?xml version="1.0" encoding="ISO-8859-1"?>` + "\u00e8",
		},
		"declared in HTML": {
			`<meta charset=windows-1252>` + "\x93", "",
			`<meta charset=windows-1252>` + "\u201c",
		},
		"declared, but named another": {
			`<meta charset=windows-1252>` + "\xe8", "iso-8859-2",
			`<meta charset=windows-1252>` + "\u010d",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := ingest.Decode([]byte(c.data), c.encoding, true)
			if got != c.want || err != nil {
				t.Errorf("got %q, %v; want %q", got, err, c.want)
			}
		})
	}
}

// Bytes without a character in a named encoding are reported.
func TestUnreadableIsReported(t *testing.T) {
	t.Parallel()
	path := files(t, map[string]string{"a.txt": "One \x9d two \x81."})
	m := mustImport(t, ingest.Options{Sources: path, Encoding: "windows-1253"})
	wantScenes(t, m, "= a", "One \ufffd two \ufffd.")
	wantLeftOut(t, m, "left out: characters that cannot be read, now U+FFFD (2): a.txt")
}

func TestFirstBadByteIsNamed(t *testing.T) {
	t.Parallel()
	for _, offset := range []int{0, 1, 4095, 4096, 65_535, 65_536, 200_001} {
		for _, after := range []string{"", "\xe9", " and on"} {
			data := strings.Repeat("a", offset) + "\xe9" + after
			_, err := ingest.Decode([]byte(data), "", false)
			wantRefused(t, err, annotator.Misused, fmt.Sprintf("first bad byte at offset %d)", offset))
		}
	}
	_, err := tryImport(t, ingest.Options{Sources: files(t, map[string]string{"b.txt": "\xe9\xe1\xff\n"})})
	wantRefused(t, err, annotator.Misused, "first bad byte at offset 0)")
	if refusal := (*annotator.Error)(nil); !errors.As(err, &refusal) ||
		refusal.Reason != annotator.ReasonAmbiguousEncoding {
		t.Errorf("the reason of %v is another", err)
	}
	m := mustImport(t, ingest.Options{Sources: files(t, map[string]string{"b.txt": "caf\xe9\n"}), Encoding: "latin1"})
	wantScenes(t, m, "= b", "caf\u00e9")
}

// UTF-8 passes unchanged, however it falls on the borders of buffers.
func TestUTF8PassesUnchanged(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		part := rapid.StringOf(rapid.RuneFrom([]rune{'a', 'é', '漢', '😀'})).Draw(rt, "part")
		text := "a" + strings.Repeat(part, rapid.IntRange(0, 9000).Draw(rt, "times"))
		got, err := ingest.Decode([]byte(text), "", false)
		if got != text || err != nil {
			rt.Fatalf("%d bytes became %d: %v", len(text), len(got), err)
		}
	})
}

func FuzzDecode(f *testing.F) {
	f.Add([]byte("\xff\xfea\x00"), "")
	f.Add([]byte("<?xml version='1.0' encoding='gbk'?>\xc4\xe3"), "")
	f.Add([]byte("caf\xe9"), "windows-1252")
	f.Fuzz(func(t *testing.T, data []byte, name string) {
		text, err := ingest.Decode(data, name, true)
		if err == nil && !utf8.ValidString(text) {
			t.Errorf("%q became %q", data, text)
		}
		if utf8.Valid(data) && !bytes.ContainsAny(data, "\x00<\uFEFF") && name == "" && text != string(data) {
			t.Errorf("UTF-8 %q became %q", data, text)
		}
	})
}
