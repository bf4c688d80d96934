package ingest_test

import (
	"strings"
	"testing"

	"annotator/corpus/ingest"

	"pgregory.net/rapid"
)

// wantAccount checks that what was kept and what was left out are the source, and that what was kept is in the
// chapters.
func wantAccount(t *rapid.T, format, source string, keep ...string) {
	chapters, account, err := ingest.Read(format, source, keep...)
	if err != nil {
		t.Fatal(err)
	}
	left := 0
	for _, p := range account.Parts {
		left += p.Characters
	}
	if account.Kept+left != account.Source {
		t.Fatalf("%d kept and %d left out are not the source's %d: %+v\n%s", account.Kept, left, account.Source,
			account.Parts, source)
	}
	var text strings.Builder
	for _, c := range chapters {
		text.WriteString(c.Title + "\n" + strings.Join(c.Paragraphs, "\n"))
	}
	if got := ingest.CountCharacters(text.String()); got < account.Kept {
		t.Fatalf("%d characters are said to be kept, the chapters have %d\n%q\n%q", account.Kept, got, source,
			text.String())
	}
}

// lineOf draws a line of a text: prose, headings of all sorts, what archives and makers write, breaks.
func lineOf(t *rapid.T, mark string) string {
	prose := "the lamp leaned to the east although every shutter was closed, and nobody in the house knew why it " +
		"did so."
	return rapid.SampledFrom([]string{
		"", "", "", mark + prose, mark + prose, mark + "\u201cWho?\u201d said I.", "* * *", "CONTENTS",
		"Table of Contents", "I", "II.", "1", "2. Pell", "III. THE HOUSE",
		"CHAPTER I", "CHAPTER II: Down", "CHAPTER THE LAST", "PART ONE", "BOOK II. The Sea", "PROLOGUE", "EPILOGUE",
		"THE END", "THE LAMP", "Pell", "DOWN",
		"Pell . . . . . . 12", "The Lamp   3", "Produced by Somebody", "Copyright 1901",
		"*** START OF THIS PROJECT GUTENBERG EBOOK X ***",
		"*** END OF THIS PROJECT GUTENBERG EBOOK X ***", "End of Project Gutenberg's X", "word[Pg 8] and {12} more",
		"_Italic_ words", "第一回 风尘", "三", "ЧАСТЬ ПЕРВАЯ",
		"Transcriber's Note: none.", "The Book, by Ann Onymous", "First Act:", "[Illustration]", "   indented line",
		"$1.00 each, cloth",
		"3 May. Bistritz.", "Monday, June 3rd", "Luku 1", "Luku 2", "פרק ג", "FIRE!",
	}).Draw(t, "line")
}

func TestAccountAddsUp(t *testing.T) {
	t.Parallel()
	for _, format := range []string{"text", "markdown", "aozora", "html", "fb2"} {
		t.Run(format, func(t *testing.T) {
			t.Parallel()
			rapid.Check(t, func(rt *rapid.T) {
				var b strings.Builder
				for range rapid.IntRange(0, 60).Draw(rt, "lines") {
					b.WriteString(dress(rt, format, lineOf(rt, "")))
				}
				source := b.String()
				if format == "html" {
					source = "<html><head><style>.gone{display:none}</style></head><body>" + source + "</body></html>"
				}
				wantAccount(rt, format, source)
				wantAccount(rt, format, source, ingest.Parts()...)
			})
		})
	}
}

// dress makes a line what it may be in a format.
func dress(t *rapid.T, format, line string) string {
	switch format {
	case "markdown":
		return fill(line, rapid.SampledFrom([]string{
			"%\n", "%\n\n", "# %\n", "## %\n\n", "> %\n", "- %\n", "1. %\n", "**%**\n\n", "%\n===\n", "%\n---\n",
			"<div class=\"x\">%</div>\n\n",
			"{{< note >}}\n", "::: aside\n", "```\n%\n", "    %\n", "[%](#x)\n\n",
			"| % | b |\n|---|---|\n| c | % |\n\n", "<!-- % -->\n", "~~~\n",
		}).Draw(t, "dress"))
	case "aozora":
		return fill(line,
			rapid.SampledFrom([]string{
				"%\n", "%\n\n", "［＃５字下げ］%［＃「%」は中見出し］\n", "　%《るび》の\n", "-------\n", "底本：%\n",
				"［＃改ページ］\n", "｜%《よみ》\n",
			}).Draw(t, "dress"))
	case "html":
		return fill(line, rapid.SampledFrom([]string{
			"<p>%</p>", "<p>%<br>%</p>", "<h1>%</h1>", "<h2>%<br><br>%</h2>", "<h3><img alt=\"%\"></h3>",
			"<div>%</div>", "<p class=gone>%</p>", "<span class=pagenum>[%]</span>",
			"<p><a href=\"#a\">%</a></p>", "<table><tr><td>%</td><td>%</td></tr></table>", "<hr>", "<p><b>%</b></p>",
			"<nav>%</nav>", "<p>a<a href=\"#n1\"><sup>1</sup></a>%</p>", "<ruby>%<rt>x</rt></ruby>",
			"<pre>%\n\n%</pre>", "<div class=\"pg-boilerplate\">%</div>", "<blockquote>%", "</div>",
			"<section epub:type=\"dedication\"><p>%</p></section>",
		}).Draw(t, "dress"))
	case "fb2":
		return fill(line, rapid.SampledFrom([]string{
			"<p>%</p>", "<section><title><p>%</p></title>", "</section>", "<poem><stanza><v>%</v></stanza></poem>",
			"<subtitle>%</subtitle>", "<empty-line/>",
			"<p>a<a type=\"note\">[1]</a>%</p>", "<body name=\"notes\"><title><p>%</p></title>", "<binary>%</binary>",
			"<epigraph><p>%</p></epigraph>",
		}).Draw(t, "dress"))
	}
	return line + "\n"
}

func fill(line, form string) string { return strings.ReplaceAll(form, "%", line) }
