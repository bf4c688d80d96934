package main

import (
	"fmt"
	"runtime"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"annotator"

	"golang.org/x/text/width"
)

// clean makes text safe for a terminal: corpora, models and file names may contain control sequences. It removes
// control characters except line feeds and tabs. It writes the codes of characters that reorder text, and replaces
// invalid UTF-8 with U+FFFD. All text for people passes through it.
func clean(text string) string {
	return replaceUnsafe(strings.ToValidUTF8(text, "\uFFFD"), func(r rune) string {
		if unicode.Is(unicode.Bidi_Control, r) {
			return fmt.Sprintf("<U+%04X>", r)
		}
		return ""
	})
}

// escapeJSON escapes the characters of a JSON text that clean would change. They occur in strings only.
func escapeJSON(text string) string {
	return replaceUnsafe(text, func(r rune) string { return fmt.Sprintf(`\u%04x`, r) })
}

func replaceUnsafe(text string, replacement func(rune) string) string {
	if !strings.ContainsFunc(text, isUnsafe) {
		return text
	}
	var b strings.Builder
	for _, r := range text {
		if isUnsafe(r) {
			b.WriteString(replacement(r))
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}

func isUnsafe(r rune) bool {
	return unicode.IsControl(r) && r != '\n' && r != '\t' || unicode.Is(unicode.Bidi_Control, r)
}

// oneLine is clean, with white space replaced by single spaces.
func oneLine(text string) string { return strings.Join(strings.Fields(clean(text)), " ") }

// shorten is oneLine, cut to a number of columns.
func shorten(text string, most int) string {
	text = oneLine(text)
	if columns(text) <= most {
		return text
	}
	return strings.TrimRight(wholeWords(text, truncate(text, max(most-3, 0))), " ,;:") + "..."
}

// wholeWords cuts a prefix of a text after its last whole word, if that leaves half of it.
func wholeWords(text, prefix string) string {
	if end := strings.LastIndexByte(prefix, ' '); !strings.HasPrefix(text[len(prefix):], " ") && end > len(prefix)/2 {
		return prefix[:end]
	}
	return prefix
}

// truncate returns the longest prefix of a text that takes no more than most columns.
func truncate(text string, most int) string {
	for i, r := range text {
		if most -= columnsOf(r); most < 0 {
			return text[:i]
		}
	}
	return text
}

// pad appends spaces up to a number of columns.
func pad(text string, wide int) string { return text + strings.Repeat(" ", max(wide-columns(text), 0)) }

// columns returns the width of a text in columns of a terminal.
func columns(text string) (sum int) {
	for _, r := range text {
		sum += columnsOf(r)
	}
	return sum
}

// columnsOf returns 0 for combining marks, 2 for East Asian characters and most emoji, and 1 for all others.
func columnsOf(r rune) int {
	switch {
	case r <= unicode.MaxLatin1: // includes the soft hyphen, which terminals draw
		return 1
	case unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf):
		return 0
	}
	switch width.LookupRune(r).Kind() {
	case width.EastAsianWide, width.EastAsianFullwidth:
		return 2
	}
	return 1
}

// wrap breaks a text between words into lines of at most a number of columns. A longer word is on a separate line,
// since it may be a path. Text of wide characters is written without spaces, so it is broken anywhere.
func wrap(text string, most int) (lines []string) {
	line := ""
	for _, word := range strings.Fields(text) {
		if line != "" && columns(line)+1+columns(word) > most {
			lines = append(lines, line)
			line = ""
		}
		if line != "" {
			line += " "
		}
		line += word
		for columns(line) > most && columns(line) > utf8.RuneCountInString(line) {
			full := truncate(line, max(most, 2)) // at least one character
			lines = append(lines, full)
			line = line[len(full):]
		}
	}
	return append(lines, line)
}

// shortNumber writes a large number in few digits: 950, 12.3k, 4.5M.
func shortNumber(n int) string {
	switch {
	case n < 1000:
		return fmt.Sprint(n)
	case n < 999_950:
		return fmt.Sprintf("%.1fk", float64(n)/1e3)
	}
	return fmt.Sprintf("%.1fM", float64(n)/1e6)
}

// duration formats a duration with two or three digits.
func duration(d time.Duration) string {
	switch {
	case d < time.Second:
		return fmt.Sprintf("%dms", max(d, 0).Milliseconds())
	case d < 10*time.Second:
		return fmt.Sprintf("%.1fs", d.Seconds())
	case d < time.Minute:
		return fmt.Sprintf("%ds", int(d.Seconds()))
	case d < time.Hour:
		return fmt.Sprintf("%dm%02ds", int(d.Minutes()), int(d.Seconds())%60)
	}
	return fmt.Sprintf("%dh%02dm", int(d.Hours()), int(d.Minutes())%60)
}

// tokens writes the token counts of calls.
func tokens(u annotator.Usage) string {
	return fmt.Sprintf("%s tokens in (%s), %s out", shortNumber(u.Prompt), cached(&u), shortNumber(u.Completion))
}

// cached formats the share of prompts that the server had in its cache, if it reports that.
func cached(u *annotator.Usage) string {
	if u.Told == 0 {
		return "cached: not told"
	}
	return fmt.Sprintf("%d %% cached", annotator.Percent(u.Cached, u.Told))
}

// localTime writes a time given in Unix milliseconds, with its zone.
func localTime(millis int64) string {
	return time.UnixMilli(millis).Local().Format("2006-01-02 15:04:05 MST")
}

// quoted quotes a word for the shells of this system.
func quoted(word string) string {
	const plain = "./-_:0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
	switch {
	case word != "" && strings.Trim(word, plain) == "":
		return word
	case runtime.GOOS == "windows":
		return quotedForWindows(word)
	}
	return quotedForUnix(word)
}

// quotedForWindows quotes for the command prompt, which has no single quotes, and for PowerShell. It doubles quotation
// marks and backslashes at the end. Unsafe characters cannot be escaped.
func quotedForWindows(word string) string {
	word = strings.ReplaceAll(oneLine(word), `"`, `""`)
	return `"` + word + strings.Repeat(`\`, len(word)-len(strings.TrimRight(word, `\`))) + `"`
}

// quotedForUnix quotes for any shell. Unsafe characters are escaped in the syntax of bash and zsh.
func quotedForUnix(word string) string {
	if clean(word) != word || strings.ContainsAny(word, "\n\t") {
		escaped := strconv.Quote(word)
		escaped = strings.ReplaceAll(escaped[1:len(escaped)-1], `\"`, `"`)
		return "$'" + strings.ReplaceAll(escaped, "'", `\'`) + "'"
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}
