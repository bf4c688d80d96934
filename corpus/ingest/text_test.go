package ingest_test

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"annotator/corpus/ingest"

	"pgregory.net/rapid"
)

func TestPlainText(t *testing.T) {
	t.Parallel()
	const wrapped = "The old house stood at the end of the lane, and nobody had\n" +
		"lived in it for as long as anybody in the village could well-\n" +
		"remember, which was a long time.\n"
	const joined = "The old house stood at the end of the lane, and nobody had lived in it for as long as anybody " +
		"in the village " +
		"could well-remember, which was a long time."
	for name, c := range map[string]struct{ text, want string }{
		"no headings": {"One.\n\nTwo.\n", "= book|One.\n\nTwo."},
		"chapters": {
			"CHAPTER I\n\nA.\n\nChapter 2: The Storm\n\nB.\n\nPROLOGUE\n\nC.\n",
			"= CHAPTER I|A.|= Chapter 2: The Storm|B.|= PROLOGUE|C.",
		},
		"heading of two":    {"CHAPTER I\nIn the Garden\n\nA.\n", "= CHAPTER I: In the Garden|A."},
		"numerals alone":    {"I\n\nA.\n\nII\n\nB.\n", "= I|A.|= II|B."},
		"numerals in order": {"I\n\nA.\n\nIV\n\nB.\n", "= I|A.\n\nIV\n\nB."},
		"numerals with title": {
			"I. A SCANDAL\n\nI.\n\nA.\n\nII.\n\nB.\n\nII. THE LEAGUE\n\nC.\n\nIII. THE END\n\nD.\n",
			"= I. A SCANDAL|I.\n\nA.\n\n* * *\n\nII.\n\nB.|= II. THE LEAGUE|C.|= III. THE END|D.",
		},
		"parts": {
			"BOOK ONE\n\nCHAPTER I\n\nA.\n\nCHAPTER II\n\nB.\n\nBOOK TWO\n\nCHAPTER I\n\nC.\n",
			"= BOOK ONE, CHAPTER I|A.|= BOOK ONE, CHAPTER II|B.|= BOOK TWO, CHAPTER I|C.",
		},
		"no heading": {
			"Part I wanted to see was closed.\n\nChapter and verse.\n\nMIX\n",
			"= book|Part I wanted to see was closed.\n\nChapter and verse.\n\nMIX",
		},
		"contents": {
			"CONTENTS\n\nI. HERE\nII. THERE\n\nCHAPTER I\n\nA.\n\nCHAPTER II\n\nB.\n",
			"= CHAPTER I|A.|= CHAPTER II|B.",
		},
		"breaks": {
			"A.\n\n* * *\n\nB.\n\n---\n\nC.\n\n⁂\n\nD.\n",
			"= book|A.\n\n* * *\n\nB.\n\n* * *\n\nC.\n\n* * *\n\nD.",
		},
		"wrapped lines": {wrapped + "\n" + wrapped, "= book|" + joined + "\n\n" + joined},
		"verse": {
			wrapped + "\n  Tyger Tyger, burning bright,\n  In the forests of the night;\n",
			"= book|" + joined + "\n\nTyger Tyger, burning bright,\nIn the forests of the night;",
		},
		"indented paragraphs": {"  " + wrapped + "  " + wrapped, "= book|" + joined + "\n\n" + joined},
		"a line a paragraph": {
			strings.Repeat("long ", 30) + "\n" + strings.Repeat("words ", 30) + "\nEnd.\n",
			"= book|" + strings.TrimSpace(strings.Repeat("long ", 30)) + "\n\n" +
				strings.TrimSpace(strings.Repeat("words ", 30)) + "\n\nEnd.",
		},
		"no spaces": {strings.Repeat("昨", 35) + "\n" + strings.Repeat("日", 35) + "\n" +
			strings.Repeat("今", 10) + "\n", "= book|" + strings.Repeat("昨", 35) + strings.Repeat("日", 35) +
			strings.Repeat("今", 10)},
		"underscores": {
			"The _Nautilus_ and the _Jane_ _Roe_ of snake_case_name.\n",
			"= book|The Nautilus and the Jane Roe of snake_case_name.",
		},
		"line ends": {"A.\r\n\r\nB.\rC.\r\r\nD.\x00\x07\n", "= book|A.\n\nB. C.\n\nD."},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			wantScenes(t, importFile(t, "book.txt", c.text), strings.Split(c.want, "|")...)
		})
	}
}

// TestTextBetweenFencesIsText: everything between fences is literal text. A fence without an end is none.
func TestTextBetweenFencesIsText(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ text, want string }{
		"backticks": {
			"# One\nA.\n```sh\n# none\n  *x*\n\n## nor this\n```\nB.",
			"= One|A.\n\n# none\n  *x*\n\n## nor this\n\nB.",
		},
		"tildes": {
			"# One\nA.\n~~~\n# none\n  *x*\n\n## nor this\n~~~\nB.",
			"= One|A.\n\n# none\n  *x*\n\n## nor this\n\nB.",
		},
		"tildes with a word": {"# One\n~~~ letter\n\n# none\n~~~~  \nB.", "= One|# none\n\nB."},
		"in each other":      {"# One\n~~~~\n```\n~~~\n# none\n~~~~\nB.", "= One|```\n~~~\n# none\n\nB."},
		"a shorter one":      {"# One\n````\n# none\n```\n````\nB.", "= One|# none\n```\n\nB."},
		"one that is open":   {"# One\n```\n# Two\nB.", "= One|```|= Two|B."},
		"tildes for a break": {"# One\nA.\n\n~~~\n\nB.\n\n~~~\n\nC.", "= One|A.\n\n* * *\n\nB.\n\n* * *\n\nC."},
		"nothing in it":      {"# One\nA.\n```\n```\nB.", "= One|A.\n\nB."},
		"code within a line": {"# One\n```x``` and\n# Two\nB.", "= One|x and|= Two|B."},
		"at the end":         {"# One\nA.\n```\n# none\n```", "= One|A.\n\n# none"},
		"only in Markdown":   {"One.\n```\n\nTwo.\n```\n", "= book|One. ```\n\nTwo. ```"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			file := "book.md"
			if name == "only in Markdown" {
				file = "book.txt"
			}
			wantScenes(t, importFile(t, file, c.text), strings.Split(c.want, "|")...)
		})
	}
}

func TestMarkdown(t *testing.T) {
	t.Parallel()
	m := importFile(t, "book.md", `---
title: "The Book"
author: A. Writer
---
<!-- draft -->
# The Book

## One
*Once* there was **a** [link](http://example.com "x") and `+"`code`"+`,
an ![image](i.png) and a \*star\*.

> quoted
> text

Two
---

Text of ***two***.

### Later

More.
`)
	wantScenes(t, m,
		"= One", "Once there was a link and code, an image and a *star*.\n\nquoted text",
		"= Two", "Text of two.\n\n* * *\n\nLater\n\nMore.")
	if m.report.Title != "The Book" || m.report.Author != "A. Writer" {
		t.Errorf("%q by %q", m.report.Title, m.report.Author)
	}
	wantParts(t, m, "front-matter: 6 words, title: \"The Book\" author: A. Writer", "hidden: 3 words, <!-- draft -->",
		"title-page: 2 words, The Book")
}

func TestGutenberg(t *testing.T) {
	t.Parallel()
	m := importFile(t, "pg1.txt", `The Project Gutenberg eBook of A Book

Title: A Book
Author: Some One

*** START OF THE PROJECT GUTENBERG EBOOK A BOOK ***

A Book

by Some One

CHAPTER I

It was.

*** END OF THE PROJECT GUTENBERG EBOOK A BOOK ***

Licence.
`)
	wantScenes(t, m, "= CHAPTER I", "It was.")
	if m.report.Title != "A Book" || m.report.Author != "Some One" {
		t.Errorf("%q by %q", m.report.Title, m.report.Author)
	}
	wantParts(t, m, "licence: 34 words, The Project Gutenberg eBook of A Book", "title-page: 5 words, A Book")
}

func TestHTML(t *testing.T) {
	t.Parallel()
	m := importFile(t, "book.html", `<!DOCTYPE html><html><head><title>A Page</title></head><body>
		<h1>A Page</h1><h2>One</h2><p>First&nbsp;text.<p>Second.<h2>Two</h2><p>Third.</body></html>`)
	wantScenes(t, m, "= One", "First text.\n\nSecond.", "= Two", "Third.")
	if m.report.Title != "A Page" || m.report.Format != ingest.HTML {
		t.Errorf("%+v", m.report)
	}
}

// squeeze drops what joining and cutting may change: white space, break lines, and the colon between the lines of a
// title.
func squeeze(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) || r == '*' || r == ':' {
			return -1
		}
		return r
	}, text)
}

// No text is lost between a source and its posts if every part is kept: titles and bodies contain the text of the
// source.
func TestNoTextIsLost(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		word := rapid.StringMatching(`[a-z]{1,9}|[A-Z][a-z]{0,6}[,.!]?|[「一二三四。]{1,12}|é|"[a-z]+"|well-`)
		var lines []string
		for range rapid.IntRange(1, 60).Draw(rt, "lines") {
			switch rapid.IntRange(0, 9).Draw(rt, "kind") {
			case 0, 1, 2:
				lines = append(lines, "")
			case 3:
				lines = append(lines, "", "* * *", "")
			case 4:
				lines = append(lines, "", "CHAPTER "+rapid.SampledFrom([]string{"I", "II", "3. Here"}).Draw(rt, "n"),
					"", "text")
			default:
				indent := rapid.SampledFrom([]string{"", "", "  "}).Draw(rt, "indent")
				lines = append(lines, indent+strings.Join(rapid.SliceOfN(word, 1, 15).Draw(rt, "words"), " "))
			}
		}
		source := strings.Join(append(lines, "end"), "\n")
		var got strings.Builder
		title := ""
		for _, text := range ingest.TextScenes(source, false, rapid.IntRange(1, 60).Draw(rt, "tokens"),
			ingest.Parts()...) {
			if title != "" && strings.HasPrefix(squeeze(text), squeeze(title)) {
				title = "" // a heading in doubt is in the text, too
			}
			got.WriteString(title)
			title = ""
			if heading, ok := strings.CutPrefix(text, "= "); ok {
				title = heading
				continue
			}
			got.WriteString(text)
		}
		got.WriteString(title)
		if want := squeeze(source); squeeze(got.String()) != want {
			rt.Fatalf("source %q\ngot %q\nwant %q", source, squeeze(got.String()), want)
		}
	})
}

// wantClean checks what holds of every text that any importer gives.
func wantClean(t *testing.T, texts []string) {
	t.Helper()
	for _, text := range texts {
		if !utf8.ValidString(text) {
			t.Errorf("no UTF-8: %q", text)
		}
		if i := strings.IndexFunc(text, func(r rune) bool { return r < ' ' && r != '\n' && r != '\t' }); i >= 0 {
			t.Errorf("a control character: %q", text)
		}
	}
}

func FuzzText(f *testing.F) {
	f.Add("CHAPTER I\n\nA _b_ c.\n\n* * *\n\nD\nE", false)
	f.Add("---\ntitle: x\n---\n# A\n\n> b *c* [d](e) \\*\n\n- f\n", true)
	f.Fuzz(func(t *testing.T, text string, markdown bool) {
		wantClean(t, ingest.TextScenes(ingest.CleanPage(text), markdown, 50))
	})
}
