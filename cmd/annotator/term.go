package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// What corpus and model wrote may hold anything, and so may the name of a file; a terminal obeys some of it. Text that goes to people
// passes through here: control characters are taken out, the marks that reorder text are written by name, and bytes that are no
// characters become U+FFFD.

// clean makes text fit to be shown, line feeds and tabs kept.
func clean(text string) string {
	if !strings.ContainsFunc(text, unprintable) && utf8.ValidString(text) {
		return text
	}
	var b strings.Builder
	for _, r := range text {
		switch {
		case isBidi(r):
			fmt.Fprintf(&b, "<U+%04X>", r)
		case !unprintable(r):
			b.WriteRune(r)
		}
	}
	return b.String()
}

// oneLine makes text fit to be shown within a line.
func oneLine(text string) string { return strings.Join(strings.Fields(clean(text)), " ") }

// shortened is oneLine, cut to a number of columns.
func shortened(text string, most int) string {
	text = oneLine(text)
	if columns(text) <= most {
		return text
	}
	return strings.TrimRight(beginning(text, max(most-3, 0)), " ,;:") + "..."
}

func unprintable(r rune) bool {
	return unicode.IsControl(r) && r != '\n' && r != '\t' || isBidi(r)
}

func isBidi(r rune) bool {
	return r == 0x061C || r == 0x200E || r == 0x200F || r >= 0x202A && r <= 0x202E || r >= 0x2066 && r <= 0x2069
}

// printJSON prints a value for a program to read. Nothing is taken out of it: what a terminal might obey is escaped, which
// JSON has a form for.
func (a *app) printJSON(value any) error {
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	if err := encoder.Encode(value); err != nil {
		return err
	}
	_, err := fmt.Fprint(a.out, escaped(text.String()))
	return err
}

// escaped writes the characters of a JSON text that clean would not let through in their escaped form. Outside of
// strings there are none.
func escaped(text string) string {
	if !strings.ContainsFunc(text, unprintable) {
		return text
	}
	var b strings.Builder
	for _, r := range text {
		if unprintable(r) {
			fmt.Fprintf(&b, `\u%04x`, r)
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}
