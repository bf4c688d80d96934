package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"strings"
	"testing"
	"unicode/utf8"
)

func FuzzTerminalText(f *testing.F) {
	for _, text := range []string{
		"", "Ysolde", "\x1b[2J", "a\u009b31mb", "left\u202eright", "\x00\a\b\x7f", "\xff\xfe",
		"\x9b31m", "漢字かな", "e\u0301", "line\nline\ttab", strings.Repeat("ü", 50),
	} {
		f.Add(text, 10)
	}
	f.Fuzz(func(t *testing.T, text string, most int) {
		shown := clean(text)
		if strings.ContainsFunc(shown, isUnsafe) || !utf8.ValidString(shown) {
			t.Errorf("clean(%q) = %q", text, shown)
		}
		if line := oneLine(text); strings.ContainsAny(line, "\n\t") {
			t.Errorf("oneLine(%q) = %q", text, line)
		}
		if short := shorten(text, most); most > 3 && columns(short) > most {
			t.Errorf("shorten(%q, %d) = %q", text, most, short)
		}
		encoded, err := json.Marshal(text)
		if err != nil {
			t.Fatal(err)
		}
		var want, got string
		if err := json.Unmarshal(encoded, &want); err != nil {
			t.Fatal(err)
		}
		safe := escapeJSON(string(encoded))
		if err := json.Unmarshal([]byte(safe), &got); err != nil || got != want ||
			strings.ContainsFunc(safe, isUnsafe) {
			t.Errorf("escapeJSON(%s) = %s, which reads %q, %v", encoded, safe, got, err)
		}
	})
}

func TestBidiMarksAreNamed(t *testing.T) {
	t.Parallel()
	if got, want := oneLine("a\u202eb\x1b[31mc\nd"), "a<U+202E>b[31mc d"; got != want {
		t.Errorf("oneLine gives %q, want %q", got, want)
	}
}

// TestQuotedForWindows splits quoted words by the rules of command lines on Windows.
func TestQuotedForWindows(t *testing.T) {
	t.Parallel()
	for word, want := range map[string]string{
		"":                   `""`,
		"Brother Caul":       `"Brother Caul"`,
		`C:\Büche r\x.db`:    `"C:\Büche r\x.db"`,
		`C:\`:                `"C:\\"`,
		`the "Count" it's`:   `"the ""Count"" it's"`,
		"a\x1b[31m\nb\u202e": `"a[31m b<U+202E>"`,
	} {
		if got := quotedForWindows(word); got != want {
			t.Errorf("%q is quoted as %s, want %s", word, got, want)
		}
	}
}

// TestQuotedForUnix reads quoted words back with a shell.
func TestQuotedForUnix(t *testing.T) {
	t.Parallel()
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip(err)
	}
	for _, word := range []string{
		"", "book.db", "a b", "it's", `"$HOME" \n`, "Ä\xf6", "a\x1b[31m\n\"b' \\ Ä",
		"\x7f\u0085", "left\u202eright", "\x9b31m",
	} {
		text := quotedForUnix(word)
		if clean(text) != text || strings.ContainsAny(text, "\n\t") {
			t.Errorf("%q is quoted as %q", word, text)
		}
		cmd := exec.CommandContext(t.Context(), bash, "-c", "printf %s "+text)
		cmd.Env = append(os.Environ(), "LC_ALL=C.UTF-8")
		if out, err := cmd.Output(); err != nil || string(out) != word {
			t.Errorf("%q is quoted as %s, which is read as %q, %v", word, text, out, err)
		}
	}
}

// TestShortTextsEndWithAWord: a text is cut after a word, and inside one only if half of the text would be lost.
func TestShortTextsEndWithAWord(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		text string
		most int
		want string
	}{
		{"the lake of Hallowmere is wide", 24, "the lake of..."},
		{"the lake of Hallowmere is wide", 25, "the lake of Hallowmere..."},
		{"the lake of Hallowmere is wide", 30, "the lake of Hallowmere is wide"},
		{"a Schifffahrtsgesellschaftskapitän", 20, "a Schifffahrtsges..."},
		{"湖は広いです。とても広いです。", 11, "湖は広い..."},
	} {
		if got := shorten(test.text, test.most); got != test.want {
			t.Errorf("%q in %d columns is %q, want %q", test.text, test.most, got, test.want)
		}
	}
}
