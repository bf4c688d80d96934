package ingest_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"annotator/corpus/ingest"

	"pgregory.net/rapid"
)

// told draws prose of unique words, so that each can be looked for.
func told(t *rapid.T, next *int) string {
	words := make([]string, rapid.SampledFrom([]int{3, 9, 20, 150}).Draw(t, "words"))
	for i := range words {
		*next++
		words[i] = fmt.Sprintf("w%dw", *next)
	}
	words[0] = "W" + words[0][1:]
	return strings.Join(words, " ") + rapid.SampledFrom([]string{".", "?", ",", ":--", ""}).Draw(t, "end")
}

var toldWord = regexp.MustCompile(`[Ww]\d+w`)

// damage changes lines as bad copies do: lines are joined, parted, repeated, moved, indented or linked.
func damage(t *rapid.T, lines []string, next *int) []string {
	for range rapid.IntRange(0, 8).Draw(t, "damages") {
		if len(lines) < 3 {
			break
		}
		i := rapid.IntRange(1, len(lines)-2).Draw(t, "at")
		switch rapid.IntRange(0, 6).Draw(t, "damage") {
		case 0:
			lines[i] += " " + lines[i+1]
			lines = append(lines[:i+1], lines[i+2:]...)
		case 1:
			lines = append(lines[:i], lines[i+1:]...)
		case 2:
			lines[i] = strings.Replace(lines[i], " ", "\n", 1)
		case 3:
			lines[i], lines[i-1] = lines[i-1], lines[i]
		case 4:
			lines[i] = "    " + lines[i]
		case 5:
			lines[i] = rapid.SampledFrom([]string{
				"[Anna]: ", "<Anna> ", "CHAPTER I--", "One day ", "Schluss. ", "7 ",
				"Part ", "\x1a", "> ", "1. ", "| ", "[^1]: ", "{# ", "=", "&", "<!-- ", "``` ", "$$",
			}).Draw(t, "before") + lines[i]
		case 6:
			lines[i] = rapid.SampledFrom([]string{
				"VOLUME II", "BOOK I", "CHAPTER I", "CHAPTER II", "Contents", "7 A Visitor", "THE LAMP", "第一回 风尘",
			}).Draw(t, "heading") + "\n" + lines[i]
		}
	}
	return lines
}

// TestNothingVanishes: every word of a damaged text is in the corpus, or counted in the account under a name. So is
// every character of a plain text. No text becomes a title.
func TestNothingVanishes(t *testing.T) {
	t.Parallel()
	for _, format := range []string{"text", "markdown", "html"} {
		t.Run(format, func(t *testing.T) {
			t.Parallel()
			rapid.Check(t, func(rt *rapid.T) {
				var lines []string
				next := 0
				for range rapid.IntRange(0, 40).Draw(rt, "lines") {
					if rapid.Bool().Draw(rt, "told") {
						lines = append(lines, told(rt, &next), "")
					} else {
						lines = append(lines, lineOf(rt, ""), "")
					}
				}
				lines = damage(rt, lines, &next)
				source := ""
				for _, line := range lines {
					if format == "html" {
						line = dress(rt, format, strings.ReplaceAll(strings.ReplaceAll(line, "<", ""), "&", ""))
					}
					source += line + "\n"
				}
				wantWords(rt, format, source)
				wantWords(rt, format, source, ingest.Parts()...)
			})
		})
	}
}

// wantWords compares the words of a source with those of its chapters. What is missing is no more than what the account
// says was left out.
func wantWords(t *rapid.T, format, source string, keep ...string) {
	chapters, account, err := ingest.Read(format, source, keep...)
	if err != nil {
		t.Fatal(err)
	}
	there := map[string]bool{}
	for _, c := range chapters {
		if format == "text" && utf8.RuneCountInString(c.Title) > 4*220 {
			t.Fatalf("a text became the title %q", c.Title)
		}
		for _, word := range toldWord.FindAllString(c.Title+"\n"+strings.Join(c.Paragraphs, "\n"), -1) {
			there[word] = true
		}
	}
	missing, lost := 0, ""
	for _, word := range toldWord.FindAllString(source, -1) {
		if !there[word] {
			there[word] = true
			missing += utf8.RuneCountInString(word)
			lost += word + " "
		}
	}
	left := 0
	for _, part := range account.Parts {
		left += part.Characters
	}
	if format == "text" {
		if n := missingCharacters(source, chapters); n > left {
			t.Fatalf("%d characters are nowhere, and %d are left out: %+v\n%s", n, left, account.Parts, source)
		}
	}
	if missing > left || len(keep) > 0 && missing > 0 {
		t.Fatalf("%s is nowhere, and %d characters are left out: %+v\n%s", lost, left, account.Parts, source)
	}
}

// missingCharacters counts how often each character but white space is in a text more often than in its chapters.
func missingCharacters(source string, chapters []ingest.Chapter) int {
	count := map[rune]int{}
	for _, r := range source {
		count[r]++
	}
	for _, c := range chapters {
		for _, r := range c.Title + strings.Join(c.Paragraphs, "") {
			count[r]--
		}
	}
	missing := 0
	for r, n := range count {
		if !unicode.IsSpace(r) {
			missing += max(0, n)
		}
	}
	return missing
}
